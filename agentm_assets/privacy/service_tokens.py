"""Keys and tokens that show by their form which service they open.

The forms are those that the services document for secret scanners; for many of them
detect-secrets keeps the list.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Final

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from agentm_assets.privacy.found import Found, Kind

_LISTED: Final[tuple[tuple[Kind, type[RegexBasedDetector]], ...]] = (
    ("aws-key", AWSKeyDetector),
    ("github-token", GitHubTokenDetector),
    ("slack-token", SlackDetector),
    ("token", ArtifactoryDetector),
    ("token", AzureStorageKeyDetector),
    ("token", DiscordBotTokenDetector),
    ("token", GitLabTokenDetector),
    ("token", MailchimpDetector),
    ("token", PypiTokenDetector),
    ("token", SendGridDetector),
    ("token", SquareOAuthDetector),
    ("token", StripeDetector),
    ("token", TelegramBotTokenDetector),
    ("token", TwilioKeyDetector),
)
"""Its detectors of JSON web tokens and of OpenAI's keys are left out: they take square time on runs
such as `eyJeyJ…`."""

_OWN: Final[tuple[tuple[Kind, str], ...]] = (
    ("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA|ASCA|APKA)[A-Z0-9]{16}"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}"),
    ("slack-token", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    ("google-key", r"AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{20,}"),
    ("google-key", r"1//0[0-9A-Za-z_-]{30,}"),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai-key", r"sk-(?!ant-)(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}"),
    ("token", r"(?:[sr]k|pk)_(?:live|test)_[0-9A-Za-z]{10,}|whsec_[0-9A-Za-z+/=]{20,}"),
    ("token", r"gl(?:pat|dt|ft|soat|rt|ptt|cbt|agent)-[A-Za-z0-9_-]{20,}"),
    ("token", r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}"),
    ("token", r"do[opr]_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dckr_pat_[\w-]{20,}"),
    ("token", r"lin_api_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,}"),
    ("token", r"SK[0-9a-f]{32}|key-[0-9a-f]{32}|glsa_[A-Za-z0-9_]{32,}|xkeysib-[0-9a-f-]{60,}"),
)
_FORMS: Final = tuple(
    (kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{form})(?![A-Za-z0-9])")) for kind, form in _OWN
)
_AWS_ID = re.compile(r"(?<![A-Za-z0-9_])A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_BESIDE_ID = re.compile(
    r"(?<![A-Za-z0-9_])A[A-Z]{3}[A-Z0-9]{16}[^A-Za-z0-9+]{1,8}?([A-Za-z0-9/+]{40})"
    r"(?![A-Za-z0-9/+=])"
)
_SECRET_NEAR = re.compile(r"secret|(?<![A-Za-z])key(?![A-Za-z])|schl\u00fcssel", re.IGNORECASE)
_NEAR: Final = 80
_HASH = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_PATH = re.compile(r"/?[A-Za-z]+(?:/[A-Za-z]+)+/?(?:[A-Za-z]*\d{0,4})")
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/+-]{20,})")
_JWT = re.compile(r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{6,})((?:\.[A-Za-z0-9_-]*){1,4})")
_DIGIT = re.compile(r"[0-9]")


def find_service_tokens(text: str) -> Iterator[Found]:
    """Linear."""
    for kind, detector in _LISTED:
        for form in detector().denylist:
            for match in form.finditer(text):
                start, end = _without_edges(text, match)
                if _stands_alone(text, start, end):
                    yield Found(kind, start, end)
    for kind, form in _FORMS:
        for match in form.finditer(text):
            # `sk-learn-some-long-package-name` is a name; a key has digits.
            if kind not in ("openai-key", "anthropic-key") or _DIGIT.search(match[0]):
                yield Found(kind, *match.span())
    yield from _aws_secrets(text)
    for match in _SLACK_HOOK.finditer(text):
        yield Found("slack-token", *match.span(1))
    for match in _JWT.finditer(text):
        if _is_jose_header(match[1]) and len(match[2]) > 8:
            yield Found("jwt", *match.span())


def _aws_secrets(text: str) -> Iterator[Found]:
    """A secret has no form but its 40 signs. It counts in a text that has an id of AWS, and where a
    word such as "secret" or "key" is near."""
    for match in _BESIDE_ID.finditer(text):
        if not _HASH.fullmatch(match[1]):
            yield Found("aws-key", *match.span(1))
    has_id = _AWS_ID.search(text) is not None
    for match in _AWS_SECRET.finditer(text):
        start, end = match.span()
        if _is_mixed(match[0]) and (
            has_id
            or _SECRET_NEAR.search(text, max(0, start - _NEAR), start)
            or _SECRET_NEAR.search(text, end, end + _NEAR)
        ):
            yield Found("aws-key", start, end)


def _is_mixed(value: str) -> bool:
    """Small and capital letters and digits, as 39,953 of 40,000 random secrets have them; no
    hash, which has small letters alone, and no path of words."""
    return (
        any(c.islower() for c in value)
        and any(c.isupper() for c in value)
        and any(c.isdigit() for c in value)
        and not _PATH.fullmatch(value)
    )


def _without_edges(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Some forms take in the blank or quote beside a token, or the name before it."""
    start, end = match.span()
    while start < end and text[start] in " \t\r\n=:\"'":
        start += 1
    while end > start and text[end - 1] in " \t\r\n\"'":
        end -= 1
    if text.startswith("AccountKey=", start):
        start += len("AccountKey=")
    return start, end


def _stands_alone(text: str, start: int, end: int) -> bool:
    """A token within a longer run of letters and digits is a piece of data."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum())


def _is_jose_header(segment: str) -> bool:
    """Whether it is base64url of a JSON object that names an algorithm (RFC 7515, 4.1.1)."""
    try:
        header = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header
