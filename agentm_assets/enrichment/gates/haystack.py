"""A text in which distinctive tokens are looked for."""

import re

from agentm_assets.enrichment.gates.dates import find_dates, month_of
from agentm_assets.enrichment.gates.distinctive import NUMBER, URL, WORD, Distinctive, trimmed_url

_SPELLED = {"10": "ten", "11": "eleven", "12": "twelve", "15": "fifteen", "20": "twenty"} | {
    "30": "thirty",
    "50": "fifty",
    "60": "sixty",
    "90": "ninety",
    "100": "hundred",
}
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")


class Haystack:
    """Whether tokens are in a text: code, identifiers and URLs in their exact case and whole, names
    in any case, dates in any notation, numbers as they are written."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._numbers = set(NUMBER.findall(text))
        self._words = {_POSSESSIVE.sub("", word).casefold() for word in WORD.findall(text)}
        self._words |= {part for word in self._words for part in re.split("['\u2019]", word)}
        self._urls = {trimmed_url(url) for url in URL.findall(text)}
        self._dates = {date.iso for date in find_dates(text)}

    def holds(self, token: Distinctive) -> bool:
        if token.kind == "url":
            return token.text in self._urls
        if token.kind == "number":
            return token.text in self._numbers or _SPELLED.get(token.text) in self._words
        if token.kind == "date":
            return self._holds_date(token.text)
        if token.kind == "name":
            return self._holds_name(token.text.casefold())
        return self.holds_whole(token.text, emphasised=token.kind == "identifier")

    def holds_whole(self, text: str, *, emphasised: bool = False) -> bool:
        """Whether it stands there with no letter, digit or underscore beside it. `emphasised`:
        underscores around it are taken for emphasis, as they are where tokens are found."""
        starts_in_word, ends_in_word = _is_word(text[:1]), _is_word(text[-1:])
        at = self._text.find(text)
        while at >= 0:
            first, last = at, at + len(text)
            while emphasised and self._text[first - 1 : first] == "_":
                first -= 1
            while emphasised and self._text[last : last + 1] == "_":
                last += 1
            before, after = self._text[first - 1 : first] if first else "", self._text[last:][:1]
            if not (starts_in_word and _is_word(before)) and not (ends_in_word and _is_word(after)):
                return True
            at = self._text.find(text, at + 1)
        return False

    def _holds_date(self, written: str) -> bool:
        isos = [date.iso for date in find_dates(written)]
        return self.holds_whole(written) or any(
            any(known.startswith(iso) for known in self._dates) for iso in isos
        )

    def _holds_name(self, name: str) -> bool:
        if (
            name in self._words
            or f"{name}s" in self._words
            or name.removesuffix("s") in self._words
        ):
            return True
        month = month_of(name)
        return month is not None and any(date[5:7] == f"{month:02}" for date in self._dates)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
