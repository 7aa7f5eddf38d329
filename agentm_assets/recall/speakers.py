"""Whether what a question asks of one speaker was said by that one, or by another.

In a note of a conversation the headings are its speakers and come back in turn. BM25 and the cosine
hardly weigh a name that heads half of all sections, so that "What does Ines keep bees for?" finds
what Tomas said of his bees, with every word in place. This reads the few best turns of either side
and compares how much of the question each holds.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter

from agentm_assets.index.facts_reader import ChunkFacts
from agentm_assets.index.rows import NoteRow
from agentm_assets.recall.pool import Pool
from agentm_assets.recall.sections import ReadNote, read_section
from agentm_assets.recall.snippet import Analyse
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.vault import NoteUnreadable

TURNS_A_SIDE = 5
"""Turns that are read of the one who is asked about, and as many of all others. Measured on LoCoMo
1 to 5: 3, 5, 8 and 30 tell apart equally well."""

_BEST = 2  # turns of a side that count: one alone may hold the words by chance
_WORDS_WEIGHT = 0.7  # the rest goes to the cosine of the turn; from .5 to 1 it is the same
_MOST_WORDS_OF_A_SPEAKER = 4

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?\r\n]+[.!?]*")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Turn:
    chunk: ChunkFacts
    own: bool  # headed by the one who is asked about
    cosine: float | None


def speaker_margin(
    pool: Pool, names: frozenset[str], weights: Mapping[str, float], sources: Sources
) -> float | None:
    """How much more of the question the speaker whom it names holds than the others do (-1..1).

    None when it is not about one speaker: no name of it heads turns of a conversation, or those of
    two do, or it says nothing but the name. `weights`: its telling terms. Call it inside a snapshot
    of the facts.
    """
    if not names:
        return None
    turns = _turns(pool, names)
    if turns is None:
        return None
    spoken = {term for name in names for term in sources.lexical.analyse(name)}
    topic = {term: weight for term, weight in weights.items() if term not in spoken}
    if not topic:
        return None
    supports: dict[bool, list[float]] = {True: [], False: []}
    for turn, (of_speaker, of_other) in _read(turns, pool, sources):
        for own, text in ((turn.own, of_speaker), (not turn.own, of_other)):
            held = _held(topic, text, sources.lexical.analyse)
            if held:
                supports[own].append(_support(held, turn.cosine))
    return _best(supports[True]) - _best(supports[False])


def _turns(pool: Pool, names: frozenset[str]) -> list[_Turn] | None:
    """The nearest turns of the named speaker, and of those who speak in the same notes."""
    headings = {chunk.header_path for chunk in pool.chunks.values()}
    named = {heading for heading in headings if names & _speaker(heading)}
    if not named:
        return None  # nearly all questions end here
    eligible = {candidate.note.path for candidate in pool.candidates.values()}
    paths = {chunk.path for chunk in pool.chunks.values() if chunk.header_path in named}
    found = [chunk for chunk in pool.chunks.values() if chunk.path in paths & eligible]
    conversations = _conversations(found)
    asked_about = {_last(each) for speakers in conversations.values() for each in speakers & named}
    if len(asked_about) != 1:
        return None
    lexical, dense = dict(pool.lexical_hits), dict(pool.dense_hits)
    highest = max(lexical.values(), default=0.0) or 1.0

    def order(chunk: ChunkFacts) -> tuple[float, str, int]:
        by_words = lexical.get(chunk.chunk_id, 0.0) / highest
        return -by_words - dense.get(chunk.chunk_id, 0.0), chunk.path, chunk.ordinal

    turns: dict[bool, list[_Turn]] = {True: [], False: []}
    for chunk in sorted(found, key=order):
        if chunk.header_path not in conversations.get(chunk.path, ()):
            continue
        of_side = turns[chunk.header_path in named]
        if len(of_side) < TURNS_A_SIDE:
            cosine = dense.get(chunk.chunk_id, 0.0) if pool.hybrid else None
            of_side.append(_Turn(chunk, chunk.header_path in named, cosine))
    return [*turns[True], *turns[False]] if turns[True] and turns[False] else None


def _conversations(chunks: Iterable[ChunkFacts]) -> dict[str, set[str]]:
    """Notes in which headings come back after others: path -> those headings.

    The parts of one long section have the same heading too, but one after the other.
    """
    ordered = sorted(chunks, key=attrgetter("path", "ordinal"))
    found: dict[str, set[str]] = {}
    for path, of_note in groupby(ordered, key=attrgetter("path")):
        runs = Counter(heading for heading, _run in groupby(each.header_path for each in of_note))
        found[path] = {each for each, times in runs.items() if times > 1 and _speaker(each)}
    return found


def _last(header_path: str) -> str:
    return header_path.rpartition(" > ")[2].casefold()


def _speaker(header_path: str) -> frozenset[str]:
    """The words of a heading that can be a speaker's name; none for longer ones."""
    words = _WORD.findall(_last(header_path))
    return frozenset(words) if len(words) <= _MOST_WORDS_OF_A_SPEAKER else frozenset()


def _read(
    turns: Sequence[_Turn], pool: Pool, sources: Sources
) -> Iterator[tuple[_Turn, tuple[str, str]]]:
    """Each turn with what it says of its speaker, and what of the one spoken to."""
    read = cache(sources.read_note)
    notes = sources.facts.notes_by_path(sorted({turn.chunk.path for turn in turns}))
    places = {(chunk.path, chunk.ordinal): chunk for chunk in pool.chunks.values()}
    for turn in turns:
        note = notes.get(turn.chunk.path)
        text = None if note is None else _text(turn.chunk, note, read, sources)
        if note is None or text is None:
            continue
        place = (note.path, turn.chunk.ordinal - 1)
        if place not in places:
            places |= {(note.path, c.ordinal): c for c in sources.facts.chunks_of(note.path)}
        before = places.get(place)
        asked = None
        if before is not None and before.header_path != turn.chunk.header_path:
            asked = _text(before, note, read, sources)
        yield turn, _by_person(text, asked or "")


def _text(chunk: ChunkFacts, note: NoteRow, read: ReadNote, sources: Sources) -> str | None:
    try:
        return read_section(chunk, note, read, {}, sources.lexical.analyse).text
    except (FileNotFoundError, NoteUnreadable):
        return None


def _by_person(text: str, before: str) -> tuple[str, str]:
    """What a turn says of its speaker, and what of the one it is spoken to.

    A sentence with "you" is about the other; a question of the turn before is taken up by this one.
    Other languages have no such sentences here, and count for the speaker.
    """
    own: list[str] = []
    other: list[str] = []
    for sentence in _SENTENCE.findall(text):
        (other if _SECOND_PERSON.search(sentence) else own).append(sentence)
    own += [each for each in _SENTENCE.findall(before) if each.endswith("?")]
    return "\n".join(own), "\n".join(other)


def _held(topic: Mapping[str, float], text: str, analyse: Analyse) -> float:
    if not text:
        return 0.0
    return sum(topic[term] for term in topic.keys() & set(analyse(text))) / sum(topic.values())


def _support(held: float, cosine: float | None) -> float:
    if cosine is None:
        return held
    return _WORDS_WEIGHT * held + (1 - _WORDS_WEIGHT) * max(0.0, cosine)


def _best(supports: Sequence[float]) -> float:
    return sum(sorted(supports, reverse=True)[:_BEST]) / _BEST
