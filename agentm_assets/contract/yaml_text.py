"""Writing one value as YAML so that every reader gets the same text back."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from agentm_assets.contract.dates import parse_date
from agentm_assets.contract.vocabulary import DATE_KEYS

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
# Texts that YAML 1.1 or YAML 1.2 readers turn into something else, beyond what PyYAML itself does.
_TYPED = re.compile(
    r"[yYnN]|[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|0[oxb][0-9A-Fa-f_]+)"
)
_ESCAPES: Final[dict[str, str]] = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# A text that starts with a letter is something else than text only when it is one of these, and one
# with a blank inside only when it is a moment (YAML 1.1, language-independent types).
_TYPED_WORDS: Final = frozenset("y yes n no on off true false null".split())  # noqa: SIM905
_MOMENT = re.compile(r"[0-9]{4}-")
_STRING_TAG: Final = "tag:yaml.org,2002:str"


def write_key(key: str) -> str:
    """A property's name as YAML."""
    if _PLAIN_KEY.fullmatch(key) and not _is_typed(key):
        return key
    return _quoted(key)


def write_text(key: str, text: str, *, in_flow: bool = False, like: str | None = None) -> str:
    """`text` as the YAML of a scalar under `key`, on one line: plain where that is safe.

    `in_flow` for an item of a bracketed list. An ISO date is left plain under a key that holds
    dates and quoted anywhere else. Line ends and control characters become escapes. `like` is the
    plain value that `text` replaces: a number stays a number, a boolean a boolean.
    """
    if not in_flow and key in DATE_KEYS and parse_date(text) is not None:
        return text
    if like and _is_typed(like) and _is_typed(text) and _type(like) == _type(text):
        return text
    return text if _is_plain(text, in_flow=in_flow) else _quoted(text)


def write_flow_list(key: str, items: Sequence[str]) -> str:
    """`items` as a bracketed list on one line."""
    return "[" + ", ".join(write_text(key, item, in_flow=True) for item in items) + "]"


def _is_plain(text: str, *, in_flow: bool) -> bool:
    """Whether `text` can stand without quotes. It errs on the side of quotes."""
    if not text or text != text.strip() or _needs_escape(text):
        return False
    if not (text[0].isalnum() or text[0] in "_/("):
        return False
    if ": " in text or " #" in text or text.endswith(":") or "[[" in text or "{{" in text:
        return False
    if in_flow and any(mark in text for mark in ",[]{}:"):
        return False
    return not _is_typed(text)


def _is_typed(text: str) -> bool:
    """Whether some YAML reader takes `text` for a number, a boolean, a date or a null."""
    if text[:1].isalpha():
        return text.casefold() in _TYPED_WORDS
    if " " in text.strip() and not _MOMENT.match(text.strip()):
        return False
    if _TYPED.fullmatch(text) or parse_date(text) is not None:
        return True
    return _type(text) != _STRING_TAG


def _type(text: str) -> str:
    """The tag that YAML 1.1 gives to `text` when it stands without quotes."""
    return _resolver()(text)


@cache
def _resolver() -> Callable[[str], str]:
    # Its import costs a quarter of a capture, and few texts need it.
    import yaml
    from yaml.resolver import Resolver

    resolver = Resolver()

    def resolve(text: str) -> str:
        tag: str = resolver.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        return tag

    return resolve


def _needs_escape(text: str) -> bool:
    if text.isascii():
        return not text.isprintable()
    return _unsafe().search(text) is not None


@cache
def _unsafe() -> re.Pattern[str]:
    """Characters that YAML does not hold as they are. Compiled when a text is not plain ASCII."""
    return re.compile(
        "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    )


def _quoted(text: str) -> str:
    if not _needs_escape(text) and ("\\" in text or '"' in text):
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _unsafe().sub(_escape, escaped) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
