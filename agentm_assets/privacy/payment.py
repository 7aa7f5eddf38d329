"""Numbers of payment cards and bank accounts, told from other digits by their check digits."""

import re
from collections.abc import Iterator
from typing import Final

from agentm_assets.privacy.found import Found

_CARD = re.compile(
    r"(?<![\w.,/-])"
    r"(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -]?)\d{6}\2\d{4,5}|\d{13})"
    r"(?![\w/-]|[.,]\d)"
)
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15})"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners Club
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|62\d{14}"  # UnionPay
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12}"  # Maestro
)
"""First digits and lengths by issuer (ISO/IEC 7812)."""

_IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
"""Characters of an account number by country (the registry of ISO 13616)."""

_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}(?=[ \u00a0-]?[A-Za-z0-9])")


def find_cards(text: str) -> Iterator[Found]:
    for match in _CARD.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        if _ISSUERS.fullmatch(digits) and _passes_luhn(digits):
            yield Found("card", *match.span())


def find_ibans(text: str) -> Iterator[Found]:
    """Whole account numbers, with or without blanks, of the length that their country has."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[1].upper())
        if length is None:
            continue
        end = _end_of(text, match.start(), length)
        if end is not None and _passes_mod_97(text[match.start() : end]):
            yield Found("iban", match.start(), end)


def _end_of(text: str, start: int, length: int) -> int | None:
    """Where `length` letters and digits end that have at most single blanks between them."""
    at, left = start, length
    while left:
        character = text[at : at + 1]
        if character.isascii() and character.isalnum():
            left -= 1
        elif character not in (" ", "\u00a0", "-") or text[at - 1] in " \u00a0-":
            return None
        at += 1
    return None if text[at : at + 1].isalnum() else at


def _passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _passes_mod_97(written: str) -> bool:
    account = "".join(character for character in written if character.isalnum()).upper()
    turned = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1
