"""E-mail addresses and phone numbers."""

import re
from collections.abc import Iterator
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException

from agentm_assets.privacy.found import Found

_LOCAL = re.compile(r"[^\W_][\w.!#$%&'*+/=?^{|}~-]{0,63}\Z")
_DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}")
_LONGEST_LOCAL: Final = 64  # RFC 5321, 4.5.3.1.1
_NO_TOP_LEVEL: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "svg", "js", "css", "json", "html"}
    | {"yaml", "yml", "toml", "txt", "tgz", "gz", "tar", "lock"}
)
"""Endings of files that are no top-level domain: `logo@2x.png`, `next@next.js`."""

_PHONE = re.compile(
    r"(?<![\w.,/#=@+-])(?:\+|00)?\(?\d"
    r"(?:(?![ \u00a0]/[ \u00a0])[\d ().\u00a0/\u2010-\u2013-]){5,22}\d(?![\w@])"
)
_GROUPED = re.compile(
    r"\(?([2-9]\d{2})\)?(?:[ .\u00a0-]|(?<=\)))([2-9]\d{2})[ .\u00a0-](\d{4})(?!\d)"
)
_CUE = re.compile(
    r"\b(?:tel|(?:tele)?phones?|mobile|cell|call|fax|whatsapp|signal|sms|text(?: me| him| her)?"
    r"|telefon|handy|mobil|ruf|anruf|t\u00e9l|reach (?:me|him|her|them|us) (?:at|on)|ring|dial"
    r"|number is|contact)\b[^\d+(\r\n]{0,14}\Z",
    re.IGNORECASE,
)
_CUE_WINDOW: Final = 40
_LISTED_AFTER = re.compile(
    r"[ \t]{0,2}(?:\([^()\d\r\n]{1,20}\))?"
    r"(?:[ \t]{0,2}|[ \t]{1,2}(?:or|and|oder|und|also)[ \t]{1,2}"
    r"|(?:[ \t]{1,2}[^\W\d_]{1,12})?[ \t]{0,2}(?:[,;/|&]|\r?\n[ \t]{0,8}[-*+])[ \t]{0,2}"
    r"(?:[^\W\d_]{1,12}[.:]{0,2}[ \t]{1,2})?)",
    re.IGNORECASE,
)
"""What stands between the numbers of a list: "030 901820 (office), 0151 23456789"."""
_NOT_A_NUMBER = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,3}(?:\.\d{1,3}){3}"
)
_DIGITS = re.compile(r"\D+")


def find_emails(text: str) -> Iterator[Found]:
    """Addresses such as `ines@kettle.example`; not `git@host:path`, which names a repository."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - _LONGEST_LOCAL), at)
        domain = _DOMAIN.match(text, at + 1) if local else None
        if local and domain and not _is_no_address(text, local[0], domain):
            yield Found("email", local.start(), domain.end())
        at = text.find("@", at + 1)


def _is_no_address(text: str, local: str, domain: re.Match[str]) -> bool:
    if domain[0].rpartition(".")[2].lower() in _NO_TOP_LEVEL:
        return True
    return local == "git" and text[domain.end() : domain.end() + 1] in (":", "/")


def find_phones(text: str) -> Iterator[Found]:
    """Numbers with a country code, numbers in North America's grouping, and any number that a word
    such as "call" or another number right before it introduces. Any other run of digits may be
    anything."""
    known: dict[tuple[str, bool], bool] = {}
    last: int | None = None
    for match in _PHONE.finditer(text):
        number, start = match[0], match.start()
        if _NOT_A_NUMBER.match(number):
            continue
        cued = _is_cued(text, start) or (
            last is not None
            and start - last <= _CUE_WINDOW
            and _LISTED_AFTER.fullmatch(text, last, start) is not None
        )
        if (number, cued) not in known:
            known[number, cued] = _is_phone(number, cued=cued)
        if known[number, cued]:
            yield Found("phone", start, match.end())
            last = match.end()


def _is_cued(text: str, start: int) -> bool:
    return _CUE.search(text, max(0, start - _CUE_WINDOW), start) is not None


def _is_phone(number: str, *, cued: bool) -> bool:
    digits = _DIGITS.sub("", number)
    if number.startswith("+"):
        return _is_number(f"+{digits}", strictly=False)
    if number.startswith("00") and _is_number(f"+{digits[2:]}", strictly=not cued):
        return cued or not number.isdigit()
    if _GROUPED.fullmatch(number) and _is_number(f"+1{digits}", strictly=True):
        return True
    return cued and len(digits) >= 7 and (len(digits) <= 15 or not number.isdigit())


def _is_number(number: str, *, strictly: bool) -> bool:
    """`strictly`: it is given out by its country, not only of a length that the country has."""
    try:
        parsed = phonenumbers.parse(number, None)
    except NumberParseException:
        return False
    valid = phonenumbers.is_valid_number if strictly else phonenumbers.is_possible_number
    return valid(parsed)
