"""Two runs over the same questions: what was gained and lost, and whether chance does as much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from agentm_assets.evaluation.permutation import Permutation, paired_permutation
from agentm_assets.evaluation.saved import SavedQuestion, SavedResult

NEGATIVES = "negatives"
ALL = "all"

Pair = tuple[SavedQuestion, SavedQuestion]
Score = Callable[[SavedQuestion], Fraction]


class NotComparable(Exception):
    """The two results can't be compared; the text says why."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of questions that both runs asked, in the order of the later one. `gained` and `lost`:
    more or less of what answers a question stands among the first five, or a question without an
    answer is now judged `none`, or is no longer."""

    paired: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    def json(self) -> dict[str, object]:
        return {"n": self.paired, "gained": list(self.gained), "lost": list(self.lost)}


@dataclass(frozen=True, slots=True)
class Measured:
    """Means before and after, and the test of the paired differences."""

    before: float
    after: float
    test: Permutation

    def json(self) -> dict[str, object]:
        return {
            "before": round(self.before, 4),
            "after": round(self.after, 4),
            "difference": round(self.after - self.before, 4),
            "p": float(f"{self.test.p:.6g}"),
            "method": self.test.method,
            "draws": self.test.draws,
            "differing": self.test.differing,
        }


@dataclass(frozen=True, slots=True)
class GroupChange:
    changes: Changes
    measures: Mapping[str, Measured]

    def json(self) -> dict[str, object]:
        return {
            **self.changes.json(),
            "measures": {name: each.json() for name, each in self.measures.items()},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """`groups`: all answerable questions, then each group, then those without an answer. The ids
    of the last three had no counterpart, or one that asks something else."""

    before: SavedResult
    after: SavedResult
    groups: Mapping[str, GroupChange]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    asked_otherwise: tuple[str, ...]

    def json(self) -> dict[str, object]:
        return {
            "before": _head(self.before),
            "after": _head(self.after),
            "groups": {name: each.json() for name, each in self.groups.items()},
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
            "asked_otherwise": list(self.asked_otherwise),
        }


def require_comparable(before: SavedResult, *, kind: str, corpus_sha256: str) -> None:
    """Raises NotComparable, before a run that would be compared is begun."""
    if before.kind != kind:
        raise NotComparable(
            f"one result is of `eval {before.kind}`, the other of `eval {kind}`; they measure "
            "different things, so they are not compared."
        )
    if before.corpus_sha256 != corpus_sha256:
        raise NotComparable(
            f"the results are of different corpora ({before.corpus_sha256[:12]} of {before.at}, "
            f"and {corpus_sha256[:12]}), so a difference could be the notes' and not recall's; "
            "they are not compared. Measure both on the same notes, for instance on one commit of "
            "the vault."
        )


def compare(before: SavedResult, after: SavedResult, *, seed: int = 7) -> Comparison:
    """Raises NotComparable for other kinds or corpora, and without a question in common. The seed
    is used only where the test can't be counted out."""
    require_comparable(before, kind=after.kind, corpus_sha256=after.corpus_sha256)
    pairs = _pairs(before, after)
    if not pairs:
        raise NotComparable("the results have no question in common, so they are not compared.")
    measures = _RECALL if after.kind == "locomo" else _HITS
    answerable = [pair for pair in pairs if pair[1].answerable]
    groups = {ALL: _group(answerable, measures, seed)} if answerable else {}
    for name in dict.fromkeys(question.group for _earlier, question in answerable):
        groups.setdefault(
            name, _group([pair for pair in answerable if pair[1].group == name], measures, seed)
        )
    negatives = [pair for pair in pairs if not pair[1].answerable]
    if negatives:
        groups[NEGATIVES] = _group(negatives, _REJECTED, seed)
    common = {question.id for _earlier, question in pairs}
    earlier_ids = [question.id for question in before.questions]
    later_ids = [question.id for question in after.questions]
    return Comparison(
        before,
        after,
        groups,
        only_before=tuple(id_ for id_ in earlier_ids if id_ not in set(later_ids)),
        only_after=tuple(id_ for id_ in later_ids if id_ not in set(earlier_ids)),
        asked_otherwise=tuple(
            id_ for id_ in later_ids if id_ in set(earlier_ids) and id_ not in common
        ),
    )


def changes(before: SavedResult, after: SavedResult) -> Changes:
    """What became of each question, whatever became of the corpus: an alarm, no comparison."""
    return _changes(_pairs(before, after))


def _pairs(before: SavedResult, after: SavedResult) -> list[Pair]:
    earlier = {question.id: question for question in before.questions}
    return [
        (earlier[question.id], question)
        for question in after.questions
        if question.id in earlier and earlier[question.id].asked == question.asked
    ]


def _changes(pairs: Sequence[Pair]) -> Changes:
    return Changes(
        paired=len(pairs),
        gained=tuple(later.id for earlier, later in pairs if _worth(later) > _worth(earlier)),
        lost=tuple(later.id for earlier, later in pairs if _worth(later) < _worth(earlier)),
    )


def _group(pairs: Sequence[Pair], measures: Mapping[str, Score], seed: int) -> GroupChange:
    found: dict[str, Measured] = {}
    for name, score in measures.items():
        scores = [(score(earlier), score(later)) for earlier, later in pairs]
        found[name] = Measured(
            before=float(sum(earlier for earlier, _later in scores) / len(pairs)),
            after=float(sum(later for _earlier, later in scores) / len(pairs)),
            test=paired_permutation([later - earlier for earlier, later in scores], seed),
        )
    return GroupChange(_changes(pairs), found)


def _worth(question: SavedQuestion) -> Fraction:
    return _found_5(question) if question.answerable else _rejected(question)


def _found_5(question: SavedQuestion) -> Fraction:
    return Fraction(question.found_5, question.right)


def _found_10(question: SavedQuestion) -> Fraction:
    return Fraction(question.found_10, question.right)


def _rejected(question: SavedQuestion) -> Fraction:
    return Fraction(question.verdict == "none")


def _kept(question: SavedQuestion) -> Fraction:
    """Not judged `none` although there is an answer."""
    return Fraction(question.verdict != "none")


def _first(question: SavedQuestion) -> Fraction:
    return Fraction(question.place == 1)


def _reciprocal(question: SavedQuestion) -> Fraction:
    return Fraction(0) if question.place is None else Fraction(1, question.place)


_HITS: Mapping[str, Score] = {
    "hit@1": _first,
    "hit@5": _found_5,
    "hit@10": _found_10,
    "mrr": _reciprocal,
    "kept": _kept,
}
_RECALL: Mapping[str, Score] = {
    "r@5": _found_5,
    "r@10": _found_10,
    "mrr": _reciprocal,
    "kept": _kept,
}
_REJECTED: Mapping[str, Score] = {"rejected": _rejected}


def _head(result: SavedResult) -> dict[str, object]:
    return {
        "kind": result.kind,
        "set": result.name,
        "at": result.at,
        "corpus_sha256": result.corpus_sha256,
        "mode": result.mode,
        "model": result.model,
        "versions": dict(result.versions),
    }
