"""Taking out of a text what a model must not see, and putting it back.

Each found stretch becomes a placeholder such as `⟦email-1⟧`: equal originals get equal ones, so
that a model can still tell that two sentences are about the same address.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentm_assets.privacy.assignments import (
    find_assigned,
    find_in_addresses,
    find_in_queries,
    find_spoken_passwords,
    passwords_in_addresses,
)
from agentm_assets.privacy.contacts import find_emails, find_phones
from agentm_assets.privacy.found import Found, Kind
from agentm_assets.privacy.payment import find_cards, find_ibans
from agentm_assets.privacy.private_keys import find_private_keys, has_broken_private_key
from agentm_assets.privacy.service_tokens import find_service_tokens

PLACEHOLDER: Final = re.compile(r"\u27e6([a-z]+(?:-[a-z]+)*)-([1-9][0-9]*)\u27e7")

_FINDERS: Final = (
    find_private_keys,
    find_service_tokens,
    find_assigned,
    find_spoken_passwords,
    find_in_addresses,
    find_in_queries,
    find_ibans,
    find_cards,
    find_phones,
)
_PIECE = re.compile(r"[^\s\"'`<>()\[\]{}|,;]+")
_EDGES: Final = ".:!?*_"
_SHORTEST_REPEAT: Final = 6


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text as a model may see it. `originals`: what each placeholder stands for. `kinds`: how
    often each kind was found."""

    text: str
    originals: Mapping[str, str]
    kinds: Mapping[Kind, int]


def scrub(text: str) -> Scrubbed:
    """`text` with placeholders for what a model must not see. Linear."""
    return scrub_together(text)[0]


def scrub_together(*texts: str) -> tuple[Scrubbed, ...]:
    """Several texts under one numbering: an original has the same placeholder in all of them, and
    one that is found in any of them is taken out of all."""
    spans = [_found_in(text) for text in texts]
    secrets = {
        text[found.start : found.end]: found.kind
        for text, founds in zip(texts, spans, strict=True)
        for found in founds
        if found.kind != "bracket" and _is_telling(text[found.start : found.end])
    }
    names: dict[str, str] = {}
    counts: Counter[Kind] = Counter()
    shown: list[tuple[str, Mapping[Kind, int]]] = []
    for text, founds in zip(texts, spans, strict=True):
        merged = _merged([*founds, *_repeats(text, secrets)])
        pieces: list[str] = []
        at = 0
        for found in merged:
            original = text[found.start : found.end]
            if original not in names:
                counts[found.kind] += 1
                names[original] = f"\u27e6{found.kind}-{counts[found.kind]}\u27e7"
            pieces += (text[at : found.start], names[original])
            at = found.end
        pieces.append(text[at:])
        shown.append(("".join(pieces), Counter(found.kind for found in merged)))
    originals = {placeholder: original for original, placeholder in names.items()}
    return tuple(Scrubbed(text, originals, kinds) for text, kinds in shown)


def restore(text: str, scrubbed: Scrubbed) -> str:
    """`text` with the originals in the place of their placeholders; others stay as they are."""
    originals = scrubbed.originals
    return PLACEHOLDER.sub(lambda found: originals.get(found[0], found[0]), text)


def invented(text: str, scrubbed: Scrubbed) -> tuple[str, ...]:
    """Placeholders in `text` that stand for nothing."""
    return tuple(
        dict.fromkeys(
            found[0] for found in PLACEHOLDER.finditer(text) if found[0] not in scrubbed.originals
        )
    )


def left(text: str) -> tuple[Kind, ...]:
    """Kinds that are in `text` and can't be cut out of it, because nobody knows where they end."""
    return ("private-key",) if has_broken_private_key(text) else ()


def _found_in(text: str) -> list[Found]:
    return _merged([found for found in _all_found(text) if found.end > found.start])


def _all_found(text: str) -> Iterator[Found]:
    ends = {end for _, end in passwords_in_addresses(text)}
    for found in find_emails(text):
        # `password@host` within an address is none of its own: the host is to stay.
        if text.find("@", found.start, found.end) not in ends:
            yield found
    for find in _FINDERS:
        yield from find(text)
    for match in PLACEHOLDER.finditer(text):
        yield Found("bracket", *match.span())


def _is_telling(original: str) -> bool:
    """Whether it is that secret wherever it stands. A plain word such as `postgres`, which is a
    password in one address, is a word elsewhere."""
    return len(original) >= _SHORTEST_REPEAT and not original.isalpha()


def _repeats(text: str, secrets: Mapping[str, Kind]) -> Iterator[Found]:
    """Bare repetitions of what was found elsewhere by its surroundings."""
    if not secrets:
        return
    for piece in _PIECE.finditer(text):
        for word in (piece[0], piece[0].strip(_EDGES)):
            if word in secrets:
                start = piece.start() + piece[0].find(word)
                yield Found(secrets[word], start, start + len(word))


def _merged(founds: Sequence[Found]) -> list[Found]:
    """In order and disjoint: where two overlap, both are covered under the longer one's kind."""
    merged: list[Found] = []
    for found in sorted(founds, key=lambda each: (each.start, -each.end)):
        if merged and found.start < merged[-1].end:
            last = merged[-1]
            longer = last if last.end - last.start >= found.end - found.start else found
            merged[-1] = Found(longer.kind, last.start, max(last.end, found.end))
        else:
            merged.append(found)
    return merged
