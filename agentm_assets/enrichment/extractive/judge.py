"""The judge that needs nothing but the note and the rules."""

from typing import Final

from agentm_assets.capture.slug import slugify
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.extractive.altitude import altitude_of
from agentm_assets.enrichment.extractive.confidence import confidence_of
from agentm_assets.enrichment.extractive.cues import prose_of, read_cues
from agentm_assets.enrichment.extractive.definition_words import words_of_new_types
from agentm_assets.enrichment.extractive.likeness import Likeness, TextEmbedder
from agentm_assets.enrichment.extractive.summary import summarise
from agentm_assets.enrichment.extractive.tags import find_tags, index_tags
from agentm_assets.enrichment.extractive.titles import is_meaningless, title_from
from agentm_assets.enrichment.extractive.type_scores import type_probabilities
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary
from agentm_assets.enrichment.judgment import MOST_ALIASES, MOST_TAGS, Judgment
from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.acronyms import find_acronyms
from agentm_assets.extract.aliases import fold
from agentm_assets.extract.mask import ALL, Region, RegionKind, blank, find_regions
from agentm_assets.privacy.scrub import PLACEHOLDER

STAMP: Final = "extractive-1"
"""What `enriched_by` holds. It goes up when a note would be judged otherwise than before."""

_NO_SENTENCES: Final[frozenset[RegionKind]] = ALL - {"code", "math"}


class ExtractiveJudge:
    """Judges notes by cue words and by likeness to the definitions in the rules. Writes no word of
    its own: the body stays, a summary is sentences of the note, aliases and tags are words that the
    note and the vault have.

    Without an embedder it goes by words alone. The definitions are embedded once, at the first
    note. What a note is judged as depends on the note, the rules and the vocabulary alone.
    """

    stamp: Final = STAMP
    is_generative: Final = False

    def __init__(self, rules: LoadedRules, embedder: TextEmbedder | None = None) -> None:
        self._rules = rules.rules
        self._definitions = {
            name: rules.definitions[name]
            for name in rules.rules.memory_types
            if name in rules.definitions
        }
        self._new_types = words_of_new_types(self._definitions, rules.rules.memory_types)
        self._embedder = embedder
        self._likeness: Likeness | None = None
        self._vocabulary = Vocabulary()
        self._tags = index_tags(self._vocabulary)

    def judge(self, subject: Subject, vocabulary: Vocabulary | None = None) -> Judgment:
        """Only the first `enrichment_input_chars` of the text are read.

        Raises EmbeddingFailed when the embedder gives no vector.
        """
        text = subject.source[: self._rules.thresholds.enrichment_input_chars]
        regions = find_regions(text)
        prose = prose_of(text, regions)
        title = subject.title
        if is_meaningless(title):
            title = title_from(text, prose) or title
        cues = read_cues(title, text, regions, prose, self._new_types)
        chances = type_probabilities(
            self._rules.memory_types, cues, self._likeness_of(title, prose)
        )
        # What stands for a secret is no word of the note: nothing is named after it.
        named, shown = _without_placeholders(title), _without_placeholders(text)
        # They come in the order of their names: the first of equals, whatever order the rules have.
        type_ = max(chances, key=lambda name: chances[name])
        return Judgment(
            type=type_,
            altitude=altitude_of(type_, cues),
            memory_class=self._rules.routing[type_],
            title=title,
            slug=(slugify(title) or None) if title != subject.title else None,
            tags=self._tags_of(subject, named, shown, vocabulary or Vocabulary()),
            aliases=_aliases_of(subject, named, shown, regions),
            summary=summarise(title, blank(text, regions, _NO_SENTENCES)),
            body=None,
            confidence=confidence_of(chances[type_], cues.english),
        )

    def _likeness_of(self, title: str, prose: str) -> dict[str, float]:
        if self._embedder is None or not self._definitions:
            return {}
        if self._likeness is None:
            self._likeness = Likeness(self._definitions, self._embedder)
        return self._likeness.of(title, prose)

    def _tags_of(
        self, subject: Subject, title: str, text: str, vocabulary: Vocabulary
    ) -> tuple[str, ...]:
        if vocabulary is not self._vocabulary:
            self._vocabulary, self._tags = vocabulary, index_tags(vocabulary)
        room = max(0, MOST_TAGS - len(subject.tags))
        return tuple(find_tags(self._tags, title, text, subject.tags, room))


def _without_placeholders(text: str) -> str:
    """The text with blanks in their place, as long as it was."""
    return PLACEHOLDER.sub(lambda found: " " * len(found[0]), text)


def _aliases_of(
    subject: Subject, title: str, text: str, regions: tuple[Region, ...]
) -> tuple[str, ...]:
    """Acronyms and the terms that they stand for, those of the title first.

    An alias in the properties is a name: links lead by it, and every section's vector has it in
    its text. The identifiers that a note mentions are no names of the note; the index finds it by
    them and by their parts as it is.
    """
    known = {fold(alias) for alias in subject.aliases}
    pairs = (*find_acronyms(title), *find_acronyms(blank(text, regions, ALL)))
    by_form: dict[str, str] = {}
    for name in (name for pair in pairs for name in pair):
        if fold(name) not in known:
            by_form.setdefault(fold(name), name)
    return tuple(by_form.values())[:MOST_ALIASES]
