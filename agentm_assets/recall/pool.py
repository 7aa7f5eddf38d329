"""The candidates of a question: notes from every arm, without those that may not be shown."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.index.facts_reader import ChunkFacts, FactsReader, NoteFacts
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.recall.arms import (
    OVER_FETCH,
    OVER_FETCH_BOUNDED,
    ArmHit,
    best_chunks,
    note_of,
    section_of,
)
from agentm_assets.recall.decay import FRESH, Faded, faded, last_touch
from agentm_assets.recall.names import (
    Named,
    entities_of,
    names_unknown_thing,
    notes_called,
    notes_with_entities,
)
from agentm_assets.recall.periods import Period, captured_day
from agentm_assets.recall.question import Asked, RecallOptions
from agentm_assets.recall.sources import Sources

MOST_DATED = 500
"""Notes of the asked time that become candidates by their date alone, newest first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that may be shown. `day`: the operator's calendar day of its capture. `in_time`:
    captured when a phrase of the question says; None when no phrase does, or when nothing is known
    about this note's time."""

    note: NoteFacts
    first_chunk: ChunkFacts
    fading: Faded
    day: date | None
    in_time: bool | None


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates by the unit that is ranked (a note or a section), and what each arm found of them
    (its own scores, best chunks).

    An arm is complete when it was not cut off at its limit. `lexical_hits` and `dense_hits` are all
    sections that an arm found, with its own score, also of notes that may not be shown; `chunks`
    are their places.
    """

    candidates: Mapping[str, Candidate]
    lexical: Mapping[str, ArmHit]
    dense: Mapping[str, ArmHit]
    lexical_complete: bool
    dense_complete: bool
    named: Mapping[str, Named]
    names_unknown_thing: bool
    hybrid: bool
    vector: Any | None  # the question's, where there is a dense arm
    remark: str | None  # why the dense arm failed on this question
    undated: int  # notes that were found and left out, since no date says whether to take them
    chunks: Mapping[int, ChunkFacts]
    lexical_hits: Sequence[tuple[int, float]]
    dense_hits: Sequence[tuple[int, float]]

    @property
    def has_asked_time(self) -> bool:
        """Whether a candidate was captured when the question says."""
        return any(each.in_time for each in self.candidates.values())


def gather(asked: Asked, options: RecallOptions, sources: Sources) -> Pool:
    """Run the arms and look up their notes. Call it inside a snapshot of the facts."""
    narrowed = (asked.bounds, asked.phrase, options.type, options.space) != (None,) * 4
    by_section = options.per == "section"
    unit = section_of if by_section else note_of
    many = narrowed or by_section or sources.rules.excludes
    limit = OVER_FETCH_BOUNDED if many else OVER_FETCH
    # Half of a question's time goes into its vector and the product with all others, which leave
    # the interpreter free: everything that needs neither goes on meanwhile.
    with ThreadPoolExecutor(1) as beside:
        by_meaning = beside.submit(_dense, asked, sources, limit)
        lexical = _lexical(asked, sources, limit)
        entities = entities_of(asked.text, sources.entity_context)
        mentioning = notes_with_entities(entities, sources.facts)
        named = {**notes_called(asked.topic, sources.facts), **mentioning}
        by_words = {hit[0]: None for hit in lexical}
        found = sources.facts.chunks_with_notes(list(by_words))
        vector, dense, dense_remark = by_meaning.result()
    found += sources.facts.chunks_with_notes([hit[0] for hit in dense if hit[0] not in by_words])
    found.sort(key=lambda pair: pair[0].chunk_id)
    chunks = {chunk.chunk_id: chunk for chunk, _note in found}
    rows = {unit(chunk): (chunk, note) for chunk, note in found}
    others = {*named, *_dated(asked, options.now, sources.facts)}
    others -= {note.path for _chunk, note in found}
    for chunk, note in sources.facts.notes_with_first_chunk(sorted(others)):
        mention = named[note.path].start if note.path in named else None
        best = _chunk_at(mention, chunk, sources.facts)
        rows[unit(best)] = (best, note)

    candidates = eligible(rows, asked, options, sources)
    return Pool(
        candidates=candidates,
        lexical=_of(candidates, best_chunks(lexical, chunks, unit)),
        dense=_of(candidates, best_chunks(dense, chunks, unit)),
        lexical_complete=len(lexical) < limit,
        dense_complete=len(dense) < limit,
        named={
            key: named[each.note.path]
            for key, each in candidates.items()
            if each.note.path in named
        },
        names_unknown_thing=names_unknown_thing(entities, mentioning),
        hybrid=sources.vectors is not None and dense_remark is None,
        vector=vector,
        remark=dense_remark,
        undated=_undated(rows, asked, options, sources),
        chunks=chunks,
        lexical_hits=lexical,
        dense_hits=dense,
    )


def _lexical(asked: Asked, sources: Sources, limit: int) -> list[tuple[int, float]]:
    if not asked.topic:
        return []
    return [(hit.chunk_id, hit.score) for hit in sources.lexical.search(asked.topic, limit)]


def _dense(
    asked: Asked, sources: Sources, limit: int
) -> tuple[Any | None, Sequence[tuple[int, float]], str | None]:
    """The question's vector, the arm's hits, and why it has none although it was there."""
    if sources.vectors is None or sources.embedder is None:
        return None, [], None
    from agentm_assets.models.embedder import EmbeddingFailed  # loaded already, with the embedder

    try:
        vector = sources.embedder.embed_one(asked.text)
        return vector, sources.vectors.search(vector, limit), None
    except (EmbeddingFailed, ServingUnreadable) as error:
        return None, [], f"searched by words alone: {error}"


def _chunk_at(mention: int | None, first: ChunkFacts, facts: FactsReader) -> ChunkFacts:
    """The chunk that holds a mention; the first one when it stands in the frontmatter."""
    if mention is None or mention < first.end:
        return first
    held = [c for c in facts.chunks_of(first.path) if c.start <= mention < c.end]
    return held[0] if held else first


def _of(candidates: Mapping[str, Candidate], hits: Mapping[str, ArmHit]) -> dict[str, ArmHit]:
    return {path: hit for path, hit in hits.items() if path in candidates}


def _dated(asked: Asked, now: datetime, facts: FactsReader) -> list[str]:
    """Notes captured in the asked time."""
    periods = [asked.bounds] if asked.bounds else []
    periods += asked.phrase.periods if asked.phrase else []
    paths: list[str] = []
    for period in periods:
        # the day that is written in the note may be the operator's day before or after
        first = _shifted(period, -1)
        last = _shifted(period, 1)
        for path, captured in facts.captured_between(first, last, MOST_DATED):
            day = captured_day(captured, now.tzinfo)
            if day is not None and day in period:
                paths.append(path)
    return paths


def _shifted(period: Period, days: int) -> str | None:
    edge = period.first if days < 0 else period.last
    if edge is None or not 1 <= edge.toordinal() + days <= edge.max.toordinal():
        return None
    return (edge + timedelta(days=days)).isoformat()


def eligible(
    rows: Mapping[str, tuple[ChunkFacts, NoteFacts]],
    asked: Asked,
    options: RecallOptions,
    sources: Sources,
) -> dict[str, Candidate]:
    """Of these rows, by whatever key, the notes that may be shown."""
    today, zone = options.now.date(), options.now.tzinfo
    found: dict[str, Candidate] = {}
    for key, (chunk, note) in rows.items():
        if not _fits(note, options, sources):
            continue
        day = _day(note, zone)
        if asked.bounds is not None and (day is None or day not in asked.bounds):
            continue
        fading = FRESH
        if sources.rules.decay.enabled:
            anchor = last_touch(note, sources.last_recalled, zone)
            fading = faded(note, anchor, today, sources.rules)
            if fading.archived and not asked.wants_archive:
                continue
        in_time = None if asked.phrase is None or day is None else asked.phrase.holds(day)
        found[key] = Candidate(note, chunk, fading, day, in_time)
    return found


def _undated(
    rows: Mapping[str, tuple[ChunkFacts, NoteFacts]],
    asked: Asked,
    options: RecallOptions,
    sources: Sources,
) -> int:
    if asked.bounds is None:
        return 0
    zone = options.now.tzinfo
    notes = {note.path: note for _chunk, note in rows.values() if _day(note, zone) is None}
    return sum(_fits(note, options, sources) for note in notes.values())


def _day(note: NoteFacts, zone: tzinfo | None) -> date | None:
    return None if note.captured is None else captured_day(note.captured, zone)


def _fits(note: NoteFacts, options: RecallOptions, sources: Sources) -> bool:
    """Whether a note may be shown, whatever its time."""
    return (
        not is_excluded(note.path, sources.rules.excludes)
        and (options.type is None or note.type == options.type)
        and (options.space is None or note.space.lower() == options.space.lower())
    )
