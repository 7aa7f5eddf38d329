"""Identities of what the world hands to the vault: a namespace and an id that stays.

`email:<message-id>`, `claude-session:<id>`, `url:<canonical url>` and so on. A bare http(s) URL is
a `url:`. Two spellings of one source give one identity.
"""

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from agentm_assets.privacy.found import CONTACTS
from agentm_assets.privacy.scrub import scrub

NAMESPACES: Final = (
    "email",
    "claude-session",
    "codex-session",
    "gemini-session",
    "antigravity-session",
    "url",
)

MOST_ID_CHARACTERS: Final = 1_000

_SPELLINGS: Final = {"claude-code-session": "claude-session"}
"""What the hooks write into traces, and the namespace it belongs to."""

_TRACKING: Final = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|"
    r"mc_[ce]id|_hs(?:enc|mi)|vero_id|oly_(?:anon|enc)_id|wickedid|ref_src|s_cid|mkt_tok|_ga|_gl)",
    re.IGNORECASE,
)
_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\u2028\u2029]+")


class NoSource(ValueError):
    """The text names no source that the registry knows."""


def source_id(written: str) -> str:
    """The identity that a text names, in its one spelling. Raises NoSource."""
    text = written.strip()
    if text[:7].lower() == "http://" or text[:8].lower() == "https://":
        return f"url:{canonical_url(text)}"
    namespace, colon, rest = text.partition(":")
    namespace = namespace.lower()
    namespace = _SPELLINGS.get(namespace, namespace)
    if not colon or namespace not in NAMESPACES:
        raise NoSource(f"no source: it begins with none of {', '.join(NAMESPACES)}")
    if namespace == "url":
        return f"url:{canonical_url(rest)}" if "://" in rest else _identity("url", rest)
    if namespace == "email":
        rest = rest.strip().removeprefix("<").removesuffix(">")
    return _identity(namespace, rest)


def namespace_of(source: str) -> str:
    return source.partition(":")[0]


def canonical_url(written: str) -> str:
    """One spelling of a page's address: scheme and host in lower case, no default port, user name,
    fragment, tracking parameter or secret; the query sorted, escapes in one form (RFC 3986, 6.2).

    Raises NoSource for what is no http(s) address.
    """
    try:
        parts = urlsplit(_UNSAFE.sub("", written))
        port = parts.port
        host = (parts.hostname or "").rstrip(".").encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError) as error:
        raise NoSource("no address of a page: its host or port can't be read") from error
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host:
        raise NoSource("no address of a page: it must begin with http:// or https:// and a host")
    if ":" in host:
        host = f"[{host}]"
    place = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    kept = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name) and not _is_secret(name, value)
    )
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in kept)
    return f"{scheme}://{place}{_path(parts.path)}{'?' + query if query else ''}"


def _path(path: str) -> str:
    steps: list[str] = []
    for step in (path or "/").split("/")[1:]:
        if step == "..":
            steps[-1:] = []
        elif step != ".":
            steps.append(quote(_plain(step), safe="%!$&'()*+,;=:@-._~"))
    if path.endswith(("/.", "/..")):
        steps.append("")
    return "/" + "/".join(steps)


def _plain(step: str) -> str:
    """Escapes of what needs none are undone, the others written in capitals."""

    def one(match: re.Match[str]) -> str:
        character = unquote(match[0], errors="replace")
        plain = character.isascii() and (character.isalnum() or character in "-._~")
        return character if plain else match[0].upper()

    return _ESCAPE.sub(one, step)


def _is_secret(name: str, value: str) -> bool:
    found = scrub(f"https://page.example/?{name}={value}").kinds
    return any(kind not in CONTACTS and kind != "bracket" for kind in found)


def _identity(namespace: str, rest: str) -> str:
    name = _UNSAFE.sub(" ", rest).strip()
    if not name or len(name) > MOST_ID_CHARACTERS:
        raise NoSource(f"no source: its id must have 1 to {MOST_ID_CHARACTERS} characters")
    return f"{namespace}:{name}"
