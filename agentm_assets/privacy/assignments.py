"""Secrets that only their name gives away: what is assigned to a password or key, and the password
inside an address."""

import re
from collections.abc import Iterator
from typing import Final

from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString

from agentm_assets.privacy.found import Found

_PASSWORD_NAMES: Final = r"pass(?:word|wd|phrase|code)|pwd|passwort|kennwort"
_SHORT_NAME = re.compile(
    r"(?<![A-Za-z0-9_-])(?:pass|pw)[\"'`*]{0,2}[ \t]{0,2}[:=][ \t]{0,2}", re.IGNORECASE
)
_PHRASE_NAME = re.compile(
    r"(?<![A-Za-z0-9])pass[ -]?phrase[\"'`*]{0,2}[ \t]{0,2}[:=]", re.IGNORECASE
)
_PHRASE = re.compile(r"[ \t]*(?P<value>[^\r\n\u27e6\u27e7]{6,200})")
_KEY_NAMES: Final = (
    r"(?:api|access|secret|account|shared[_-]?access|auth|encryption|signing|master|private|license)"
    r"[_ -]?key(?![_-]?id)|secret|token|credentials?|bearer|client[_-]?secret|authorization"
    r"|x-api-key|cookie|session[_-]?id"
)
_NAME = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAMES})|(?P<key>{_KEY_NAMES}))"
    r"(?![A-Za-z0-9_])[\"'`*\]]{0,3}"
    r"(?P<joint>[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}"
    r"|[ \t]{1,2}(?:is|was|lautet)[ \t]{1,2}|[ \t]{1,2})"
    r"(?:(?:bearer|basic|token)[ \t]{1,2})?",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?P<quote>[\"'`]{0,3})(?P<value>[^\s\"'`<>,;&(){}\[\]|\u27e6\u27e7]{6,200})")
_PASSWORD = re.compile(
    r"(?P<quote>[\"'`]{0,3})(?P<value>[^\s;&,\u27e6\u27e7](?:(?!</)[^\s\u27e6\u27e7]){2}"
    r"(?:(?![;&,][ \t]?[\w-]{1,30}[ \t]?[=:]|</)[^\s\u27e6\u27e7]){1,200})"
)
"""A password has any sign in it; another assignment may follow behind `;`, `&` or `,`."""
_WHOLE = re.compile(
    r"(?P<quote>[\"'`]{0,3})(?P<value>[^\s;,\u27e6\u27e7](?:(?!</)[^\s\u27e6\u27e7]){3,200})"
)
"""Behind a name that begins its line, as in a file of variables and in "Password: ab9&c=d", what
follows `&` is the password's as well."""
_LINE_BEFORE = re.compile(r"(?:\A|[\r\n])[ \t>*+#-]{0,12}(?:export[ \t])?[\w.-]{0,60}\Z")
_CALL = re.compile(r"[A-Za-z_][A-Za-z_.]*\(")
_QUOTED = re.compile(
    r"(?P<quote>[\"'`])(?P<value>(?:\\[^\r\n]|(?!(?P=quote))[^\r\n\\\u27e6\u27e7]){4,120})(?P=quote)"
)
_QUOTED_BEHIND = re.compile(
    rf"(?:{_PASSWORD_NAMES})[ \t]{{1,2}}(?:(?:is|was)[ \t]{{1,2}})?"
    r"(?P<quote>[`\"'])(?P<value>[^\s\"'`\u27e6\u27e7]{3,120})(?P=quote)",
    re.IGNORECASE,
)
_FLAG = re.compile(r"--[a-z-]{0,20}\Z", re.IGNORECASE)
_STAND_IN = re.compile(
    r"[$%{<].*|.*\.\.\..*|.*\u2026.*|(?:x{3,}|\*{3,}|\.{3,}|-{3,}|_{3,}).*|your[-_ ].*|my[-_ ].*"
    r"|.*example.*|change[-_]?me.*|redacted.*|null|none|true|false|required|optional|undefined"
    r"|string|process\.env.*|os\.environ.*|env\..*|https?://.*|[~./]*/.*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:[-_.:/][^\W\d_]+)*")
_CODE_NAME = re.compile(
    r"[A-Za-z_][\w.]*\.[a-z_]\w*|[a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z0-9]+)+|v?\d[\d.]*"
)
_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_QUERY = re.compile(
    r"[?&](?:code|key|sig|signature|x-amz-(?:signature|security-token))=([\w%+/=.~-]{16,400})",
    re.IGNORECASE,
)
_NUMBERED_NAME = re.compile(r"[a-z]+(?:[_.-][a-z]+)*[_.-]?v?\d{1,2}", re.IGNORECASE)
_LEAST_ENTROPY: Final = 2.8
"""Bits a character. Of 200 random strings of 16 letters and digits all are above 3.2."""

_AUTHORITY = re.compile(r"://([^\s/\"'`<>?#\u27e6]{1,300})")
_ADDRESS_STAND_IN = re.compile(r"[$%{<\[*].*|x{3,}|\*+", re.IGNORECASE)
_entropy = Base64HighEntropyString(limit=_LEAST_ENTROPY)


def find_assigned(text: str) -> Iterator[Found]:
    """Values of names such as `DB_PASSWORD` and `api_key`. Linear."""
    for name in _NAME.finditer(text):
        joint = name["joint"]
        spoken = not joint.strip(" \t")  # nothing but a blank: an option of a command, or prose
        if spoken and not _is_option_or_header(text, name):
            continue
        assigned = "=" in joint or ":" in joint
        whole = _QUOTED.match(text, name.end()) if name["password"] and not spoken else None
        bare = _VALUE
        if name["password"]:
            begins = _LINE_BEFORE.search(text, max(0, name.start() - 80), name.start())
            bare = _WHOLE if begins and assigned else _PASSWORD
        value = whole or bare.match(text, name.end())
        if value is None:
            continue
        start, end = value.span("value")
        if whole is None:
            end = _without_closing(text, start, end)
        is_quoted = bool(value["quote"])
        if text.startswith("(", value.end("value")) or _CALL.match(text, start):
            continue  # a call
        found = text[start:end]
        if name["password"]:
            certain = (assigned and is_quoted) or "=" in joint
            if _is_password(found, certain=certain) or (whole is not None and _is_phrase(found)):
                yield Found("password", start, end)
        elif _is_key(found):
            yield Found("secret", start, end)


def find_spoken_passwords(text: str) -> Iterator[Found]:
    """Behind `pw:` and `pass:`, behind a `passphrase:` to the end of the line, and in the quotes
    that follow the word itself: "password `ab9&c`". Linear."""
    for name in _SHORT_NAME.finditer(text):
        value = _PASSWORD.match(text, name.end())
        if value is not None:
            start, end = value.span("value")
            end = _without_closing(text, start, end)
            if not _CALL.match(text, start) and _is_password(text[start:end], certain=False):
                yield Found("password", start, end)
    for name in _PHRASE_NAME.finditer(text):
        value = _PHRASE.match(text, name.end())
        if value is not None and not _STAND_IN.fullmatch(value["value"].strip()):
            start, end = value.span("value")
            yield Found("password", start, start + len(text[start:end].rstrip()))
    for name in _QUOTED_BEHIND.finditer(text):
        quoted = name["value"]
        names_one = any(form.fullmatch(quoted) for form in (_CODE_NAME, _VARIABLE, _STAND_IN))
        if _kinds_of(quoted) >= 2 and not names_one:
            yield Found("password", *name.span("value"))


def find_in_queries(text: str) -> Iterator[Found]:
    """Values of a URL's parameters that let in whoever has the URL: `?code=`, `&sig=`."""
    for query in _QUERY.finditer(text):
        if _is_key(query[1]):
            yield Found("secret", *query.span(1))


def find_in_addresses(text: str) -> Iterator[Found]:
    """The password of `scheme://user:password@host`; host and user stay."""
    for start, end in passwords_in_addresses(text):
        password = text[start:end]
        if not _ADDRESS_STAND_IN.fullmatch(password) and not _VARIABLE.fullmatch(password):
            yield Found("password", start, end)


def passwords_in_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where something stands in the place of a password, from behind the colon to the `@`."""
    for authority in _AUTHORITY.finditer(text):
        userinfo, at, _ = authority[1].rpartition("@")
        user, colon, password = userinfo.partition(":")
        if at and colon and password:
            start = authority.start(1) + len(user) + 1
            yield start, start + len(password)


def _without_closing(text: str, start: int, end: int) -> int:
    """Where a value ends that prose or code closes behind it."""
    value = text[start:end].rstrip(".:;,!?*|\"'>")
    for opened, closed in ("()", "[]", "{}"):
        while value.endswith(closed) and value.count(closed) > value.count(opened):
            value = value[:-1].rstrip(".:;,!?*|\"'>")
    return start + len(value)


def _is_option_or_header(text: str, name: re.Match[str]) -> bool:
    """`--token abc` or `Bearer abc`: nothing but a blank joins name and value."""
    if _FLAG.search(text, max(0, name.start() - 24), name.start()):
        return True
    return name["key"] is not None and name["key"].lower() in ("bearer", "authorization")


def _is_password(value: str, *, certain: bool) -> bool:
    """`certain`: an assignment, in which a plain word is a password too."""
    if _STAND_IN.fullmatch(value) or _VARIABLE.fullmatch(value):
        return False
    if len(value) < 6:
        is_name = _CODE_NAME.fullmatch(value) or (not certain and _NUMBERED_NAME.fullmatch(value))
        return len(value) >= 4 and _kinds_of(value) >= 3 and not is_name
    if " " in value:
        return certain
    if _WORD.fullmatch(value):
        return certain and len(value) >= 8
    if certain:
        return not _CODE_NAME.fullmatch(value) or any(c.isdigit() for c in value)
    return _kinds_of(value) >= 2 and not _CODE_NAME.fullmatch(value)


def _is_phrase(value: str) -> bool:
    """Of what stands in quotes behind "the password is": no remark such as "too short"."""
    return value.count(" ") >= 3 or (" " in value and any(c.isdigit() for c in value))


def _kinds_of(value: str) -> int:
    """Of small and capital letters, digits and other signs: how many it has."""
    return sum(
        (
            any(c.islower() for c in value),
            any(c.isupper() for c in value),
            any(c.isdigit() for c in value),
            any(not c.isalnum() for c in value),
        )
    )


def _is_key(value: str) -> bool:
    """Letters and digits mixed without a pattern, 16 or more."""
    if len(value) < 16 or _STAND_IN.fullmatch(value) or _WORD.fullmatch(value):
        return False
    if _NUMBERED_NAME.fullmatch(value):
        return False
    if not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    return _entropy.calculate_shannon_entropy(value) >= _LEAST_ENTROPY
