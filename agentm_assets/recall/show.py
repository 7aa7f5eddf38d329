"""From ranked notes to hits: only what is shown is read from the vault."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.index.rows import NoteRow
from agentm_assets.recall.answer import Hit
from agentm_assets.recall.confidence import Evidence, coverage, spelled_otherwise, telling
from agentm_assets.recall.diversity import Wording, covers, wording
from agentm_assets.recall.rank import Ranked
from agentm_assets.recall.sections import Section, body_text, read_section
from agentm_assets.recall.snippet import make_snippet
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.vault import NoteUnreadable

MOST_ENTITIES = 20
"""Entities listed with a hit, first mentioned first."""

READ_AHEAD = 3
"""Ranked notes looked at for one hit to show, since duplicates fold and deleted notes fall away."""


@dataclass(frozen=True, slots=True)
class Shown:
    hits: tuple[Hit, ...]
    evidence: tuple[Evidence, ...]  # one a hit
    unreadable: int  # notes that are shown without a snippet


@dataclass(slots=True)
class _Kept:
    ranked: Ranked
    note: NoteRow
    section: Section | None
    names: tuple[str, ...]
    wording: Wording | None = None
    duplicates: list[str] | None = None


def show(
    ranked: Sequence[Ranked],
    k: int,
    terms: Mapping[str, float],
    sources: Sources,
    *,
    compounds: Mapping[str, frozenset[str]],
    fold: bool = True,
) -> Shown:
    """The first `k` of `ranked` as hits, near-duplicates folded unless they are sections of their
    own, deleted notes left out.

    `terms`: the question's terms with their weights; `compounds`: those of them that have parts,
    with the terms of these. Call it inside a snapshot of the facts.
    """
    weights = telling(terms, sources.lexical.analyse)
    notes = sources.facts.notes_by_path([each.path for each in ranked])
    kept: list[_Kept] = []
    for each in _readable(ranked, notes, terms, sources):
        if not (fold and _folded(each, kept)):
            if len(kept) == k:
                break
            kept.append(each)
    paths = [each.note.path for each in kept]
    aliases = sources.facts.aliases_of(paths)
    entities = sources.facts.entities_of(paths)
    backlinks = sources.facts.backlink_counts(paths)
    for each in kept:
        each.names = tuple(alias.alias for alias in aliases.get(each.note.path, ()))
    return Shown(
        hits=tuple(
            _hit(
                each,
                terms,
                sources,
                tuple(found.key for found in entities.get(each.note.path, ())[:MOST_ENTITIES]),
                backlinks.get(each.note.path, 0),
            )
            for each in kept
        ),
        evidence=tuple(_evidence(each, weights, compounds, sources) for each in kept),
        unreadable=sum(1 for each in kept if each.section is None),
    )


def _readable(
    ranked: Sequence[Ranked],
    notes: Mapping[str, NoteRow],
    terms: Mapping[str, float],
    sources: Sources,
) -> Iterator[_Kept]:
    """Each note with its section, read when it is asked for. Notes that are gone are left out."""
    for each in ranked:
        note = notes.get(each.path)
        if note is None:
            continue
        section: Section | None
        try:
            section = read_section(
                each.chunk, note, sources.read_note, terms, sources.lexical.analyse
            )
        except FileNotFoundError:
            continue
        except NoteUnreadable:
            section = None
        yield _Kept(each, note, section, ())


def _folded(each: _Kept, kept: Sequence[_Kept]) -> bool:
    """Fold a note under the first better one that says all it says, unless it is only this one that
    is of the asked time."""
    for better in kept:
        if each.ranked.in_time and not better.ranked.in_time:
            continue
        if each.note.fingerprint == better.note.fingerprint or _says_less(each, better):
            better.duplicates = [*(better.duplicates or ()), each.note.path]
            return True
    return False


def _says_less(each: _Kept, better: _Kept) -> bool:
    if each.section is None or better.section is None:
        return False
    # The sections first: they are short, and nearly all pairs differ there already.
    if not covers(wording(better.section.text), wording(each.section.text)):
        return False
    for note in (each, better):
        if note.wording is None and note.section is not None:
            note.wording = wording(body_text(note.section))
    return (
        each.wording is not None
        and better.wording is not None
        and covers(better.wording, each.wording)
    )


def _hit(
    each: _Kept,
    terms: Mapping[str, float],
    sources: Sources,
    entities: tuple[str, ...],
    backlinks: int,
) -> Hit:
    note, section, chunk = each.note, each.section, each.ranked.chunk
    text = "" if section is None else section.text
    snippet = make_snippet(text, terms, sources.lexical.analyse)
    return Hit(
        path=note.path,
        title=note.title,
        header_path=chunk.header_path if section is None else section.header_path,
        chunk=chunk.ordinal if section is None else section.ordinal,
        start=chunk.start if section is None else section.start,
        end=chunk.end if section is None else section.end,
        score=each.ranked.score,
        snippet=snippet.text,
        matches=snippet.matches,
        status=note.status,
        altitude=note.altitude,
        type=note.type,
        kind=note.kind,
        space=note.space,
        captured=note.captured,
        captured_origin=note.captured_origin,
        entities=entities,
        backlinks=backlinks,
        duplicates=tuple(each.duplicates or ()),
        stale=section is not None and section.stale,
        parts=each.ranked.parts,
        indexed=note.path not in sources.not_indexed,
    )


def _evidence(
    each: _Kept,
    terms: Mapping[str, float],
    compounds: Mapping[str, frozenset[str]],
    sources: Sources,
) -> Evidence:
    section = each.section
    words = [each.note.title, *each.note.tags, *each.names]
    words += [] if section is None else [section.header_path, section.text]
    present = sources.lexical.analyse("\n".join(words))
    known = spelled_otherwise(compounds, present)
    return Evidence(
        coverage=coverage(terms, {*present, *known}),
        cosine=each.ranked.cosine,
        named=each.ranked.named,
        in_time=each.ranked.in_time,
        spelled_otherwise=known,
    )
