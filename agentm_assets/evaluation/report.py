"""What a run found, and its JSON shape."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from agentm_assets.evaluation.metrics import mean, place_of, recall_at, reciprocal, wilson
from agentm_assets.recall.answer import Mode, Verdict

DEPTH = 10
"""Places of a ranking that are looked at."""

_PACKAGES = ("agentm", "duckdb", "numpy", "onnxruntime", "tantivy")
_INTERVAL = "interval"
_DIGITS = 4  # of a share: a question of 10,000


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question: what came back, best first, and what was right. `group` is its category or
    stratum, `part` the corpus that it was asked of."""

    id: str
    group: str
    part: str
    found: tuple[str | None, ...]
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How questions were judged."""

    answer: int
    weak: int
    none: int

    @classmethod
    def count(cls, verdicts: Sequence[Verdict]) -> "Verdicts":
        return cls(verdicts.count("answer"), verdicts.count("weak"), verdicts.count("none"))

    @property
    def n(self) -> int:
        return self.answer + self.weak + self.none

    def json(self) -> dict[str, object]:
        """`interval`: of the share judged `none`."""
        return {
            "n": self.n,
            "answer": self.answer,
            "weak": self.weak,
            "none": self.none,
            _INTERVAL: _interval(self.none, self.n),
        }


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a result depends on. `seed` draws the known items; `model` is None and `mode` lexical
    without embeddings; `index` says which index was asked, `remarks` what of it is degraded; `now`
    is the time that phrases such as "last week" were understood at."""

    corpus_sha256: str
    seed: int
    now: str
    mode: Mode
    model: str | None
    index: str
    remarks: tuple[str, ...]
    seconds: float

    def json(self) -> dict[str, object]:
        return {
            "corpus_sha256": self.corpus_sha256,
            "seed": self.seed,
            "now": self.now,
            "mode": self.mode,
            "model": self.model,
            "index": self.index,
            "remarks": list(self.remarks),
            "versions": versions(),
            "seconds": round(self.seconds, 1),
        }


def versions() -> dict[str, str]:
    """Of what ranks. An agentm that runs from a checkout says so."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "checkout"
    return found


def measures_of(rows: Mapping[str, object]) -> dict[str, float | None]:
    """The single figures of rows by "ROW.FIGURE", those of a group by "ROW.GROUP.FIGURE"."""
    found: dict[str, float | None] = {}
    for name, row in rows.items():
        if not isinstance(row, Mapping):
            continue
        for key, value in row.items():
            if key != _INTERVAL and (value is None or isinstance(value, int | float)):
                found[f"{name}.{key}"] = value
            elif key == "by_category" and isinstance(value, Mapping):
                nested = measures_of(value)
                found |= {f"{name}.{group}": share for group, share in nested.items()}
    return found


def recall_row(questions: Sequence[Ranked]) -> dict[str, object]:
    """Fractional recall and MRR, means over questions; null of no question."""
    return {
        "n": len(questions),
        "r@5": _share([recall_at(q.found, q.right, 5) for q in questions]),
        "r@10": _share([recall_at(q.found, q.right, 10) for q in questions]),
        "mrr": _mrr(questions),
    }


def hit_row(questions: Sequence[Ranked]) -> dict[str, object]:
    """Shares of questions with a right note among the first 1, 5 and 10; null of no question."""
    places = [place_of(q.found[:DEPTH], q.right) for q in questions]
    within = {k: [float(place is not None and place <= k) for place in places] for k in (1, 5, 10)}
    return {
        "n": len(questions),
        **{f"hit@{k}": _share(hits) for k, hits in within.items()},
        "mrr": _mrr(questions),
        _INTERVAL: _interval(int(sum(within[5])), len(questions)),
    }


def recall_table(questions: Sequence[Ranked]) -> dict[str, object]:
    """The row of all questions, and rows by category and by conversation, in order of mention."""
    return {
        **recall_row(questions),
        "by_category": {
            name: recall_row([q for q in questions if q.group == name])
            for name in dict.fromkeys(q.group for q in questions)
        },
        "by_conversation": {
            name: recall_row([q for q in questions if q.part == name])
            for name in dict.fromkeys(q.part for q in questions)
        },
    }


def hit_table(questions: Sequence[Ranked]) -> dict[str, object]:
    """A row for each stratum, in order of mention."""
    return {
        name: hit_row([q for q in questions if q.group == name])
        for name in dict.fromkeys(q.group for q in questions)
    }


def _mrr(questions: Sequence[Ranked]) -> float | None:
    return _share([reciprocal(place_of(q.found[:DEPTH], q.right)) for q in questions])


def _share(values: Sequence[float]) -> float | None:
    value = mean(values)
    return None if value is None else round(value, _DIGITS)


def _interval(successes: int, n: int) -> list[float] | None:
    bounds = wilson(successes, n)
    return None if bounds is None else [round(bound, _DIGITS) for bound in bounds]
