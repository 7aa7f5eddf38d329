"""Aliases come from the note's own words or from the asker's, and none is taken away."""

from collections.abc import Iterable

from agentm_assets.enrichment.gates.distinctive import WORD
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.aliases import code_spans_of, derive_aliases, fold
from agentm_assets.extract.identifiers import identifier_parts
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.word_lists import FUNCTION_WORDS

_SHORTEST_STEM = 4


def refuse_foreign_aliases(
    subject: Subject, judgment: Judgment, asked_with: tuple[str, ...]
) -> Refusal | None:
    """`asked_with`: how the asker put it, known right after a capture alone.

    An alias is derivable when the extraction rules give it, or when each of its words is in the
    note: expansions, abbreviations and parts, no new vocabulary.
    """
    if not judgment.aliases:
        return None
    regions = find_regions(subject.source)
    masked = blank(subject.source, regions, ALL)
    spans = code_spans_of(subject.source, regions)
    derived = derive_aliases(subject.title, subject.source, masked, spans, subject.aliases)
    names = {fold(each.alias) for each in derived}
    own = (subject.title, subject.source, *subject.aliases, *subject.tags)
    asked = asked_with if subject.trigger == "eager" else ()
    names |= {fold(each) for each in asked}
    words = _words((*own, *asked))
    initials = _initials("\n".join(own))
    for alias in judgment.aliases:
        if fold(alias) in names or fold(alias) in initials:
            continue
        if not _content_words(alias) <= words:
            return Refusal(
                "aliases",
                "aliases-foreign",
                "an alias has words that neither the note nor the asker used.",
                remembered=True,
            )
    return None


def refuse_lost_aliases(before: Iterable[str], after: Iterable[str]) -> Refusal | None:
    """Asked of the bytes that would be written: every alias that was there is there still."""
    kept = {fold(alias) for alias in after}
    if all(fold(alias) in kept for alias in before):
        return None
    return Refusal("aliases", "aliases-lost", "the note would lose an alias.", remembered=True)


def _content_words(alias: str) -> set[str]:
    return {stem for stem in _stems(alias) if stem not in FUNCTION_WORDS}


def _words(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for stem in _stems(text)}


def _stems(text: str) -> Iterable[str]:
    """The words of a text and the parts of its names, folded, without a plural's s."""
    for match in WORD.finditer(text.replace("_", " ")):
        for word in (match[0], *identifier_parts(match[0])):
            folded = fold(word)
            yield folded.removesuffix("s") if len(folded) > _SHORTEST_STEM else folded


def _initials(text: str) -> set[str]:
    """What the initials of runs of two to six words spell."""
    letters = [match[0][0].casefold() for match in WORD.finditer(text)]
    return {
        "".join(letters[at : at + size])
        for size in range(2, 7)
        for at in range(len(letters) - size + 1)
    }
