"""The shape of an answer: stable, documented, and the same in CLI, MCP, hooks and evaluation.

Standard library only: the hook that runs before each prompt waits for this import.
"""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["answer", "weak", "none"]
Mode = Literal["hybrid", "lexical"]


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Why a hit stands where it stands. Ranks count from 1; None: that arm did not find it."""

    lexical_rank: int | None
    lexical_score: float | None
    dense_rank: int | None
    dense_score: float | None
    entity: bool
    penalty: float  # product of all penalties, 1.0 for none
    penalties: tuple[str, ...]  # "status:superseded", "space:personal", …
    rerank: float | None = None  # the cross-encoder's own score; None: it did not look at it


@dataclass(frozen=True, slots=True)
class Hit:
    """One note with its best section.

    `start` and `end` are byte offsets into the file. `snippet` is one line, `matches` are the
    stretches of its characters that match the question. `duplicates` are paths of notes that this
    one says everything of, folded under it.
    """

    path: str
    title: str
    header_path: str
    chunk: int
    start: int
    end: int
    score: float
    snippet: str
    matches: tuple[tuple[int, int], ...]
    status: str | None
    altitude: str | None
    type: str | None
    kind: str | None
    space: str
    captured: str | None
    captured_origin: str | None
    entities: tuple[str, ...]
    backlinks: int
    duplicates: tuple[str, ...]
    stale: bool  # the file changed after it was indexed
    parts: ScoreParts
    indexed: bool = True  # False: captured a moment ago, and read from the vault itself


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note that is no hit, but links to hits (`links_to`, the best first)."""

    path: str
    title: str
    status: str | None
    type: str | None
    captured: str | None
    links_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RerankTrace:
    """What reranking did and cost. `pairs`: sections that it put in a new order, 0 when it did not
    run. `why`: why not all, or none. `trouble`: the operator has something to mend."""

    model: str
    pairs: int
    ms: float
    why: str | None
    trouble: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """Optional stages of the way to an answer, and their cost. None: there is no such stage."""

    rerank: RerankTrace | None


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the confidence of an answer rests on, looked for in its first hits.

    `words`: the most of the question's weight of words that one of them holds (0..1); None when it
    has no telling word. `meaning`: the highest cosine; None without a dense arm. `sections`: of the
    vault. `unseen`: share of the weight of words that none of them holds. `unknown_name`: it names
    someone or something that the vault never does; `unknown_thing`: an issue, commit or page that
    no note mentions. `speaker`: how much more of the question the speaker it names holds than
    others do (-1..1); None when it is about no speaker. `named`: a hit mentions the very thing that
    is asked about. `in_time`: one was captured when the question says.
    """

    words: float | None
    meaning: float | None
    sections: int
    unseen: float
    unknown_name: bool
    unknown_thing: bool
    speaker: float | None
    named: bool
    in_time: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """`why` says why the mode is degraded or something was left out; None when all is well.
    `grounds`: what the confidence rests on; None without a hit. `trace`: what optional stages did
    and cost. `linked`: what links to the hits, when that is asked for."""

    verdict: Verdict
    confidence: float
    mode: Mode
    why: str | None
    hits: tuple[Hit, ...]
    grounds: Grounds | None = None
    trace: Trace = Trace(rerank=None)
    linked: tuple[LinkedNote, ...] = ()
