"""What a person reads beside `recall_scores`: figures that Dagster plots, tables, the trend."""

import hashlib
from collections.abc import Mapping, Sequence

import dagster as dg
from dagster import MetadataValue

from agentm_assets.evaluation.nightly import SetScores, VaultScores
from agentm_assets.evaluation.report import hit_row, hit_table
from agentm_assets.evaluation.score_log import TREND, Entry, trend

SHOWN_IDS = 20
"""Ids of questions in one cell; the count beside them is complete."""

_FIGURES = ("hit@1", "hit@5", "hit@10", "mrr")
_CALLS = ("first_ms", "p50_ms", "p95_ms", "peak_mb")

Metadata = dict[str, MetadataValue | str | int | float]


def data_version(scores: VaultScores) -> str:
    """The same for the same answers to the same questions over the same notes."""
    digest = hashlib.sha256()
    for each in scores.sets:
        digest.update(each.report.provenance.corpus_sha256.encode())
        for question in each.report.questions:
            digest.update(question.model_dump_json().encode())
    return digest.hexdigest()[:16] if scores.sets else "not measured"


def score_metadata(scores: VaultScores, history: Sequence[Entry]) -> Metadata:
    """Figures by name, so that Dagster plots them from run to run: `SET: STRATUM hit@5`."""
    asked = sum(len(each.report.questions) for each in scores.sets)
    sets = ", ".join(each.name for each in scores.sets)
    found: Metadata = {
        "did": f"asked {asked:,} questions ({sets})" if scores.sets else "measured nothing",
        "questions": asked,
        "seconds": round(scores.seconds, 2),
        "scores": _table(_scores(scores.sets)),
        "bars": _table(_bars(scores.sets)),
        "changes": _table([_change(each) for each in scores.sets]),
        "trend": MetadataValue.md(_markdown(TREND, trend(history))),
    }
    for each in scores.sets:
        for stratum, row in _rows(each).items():
            for name in _FIGURES:
                value = row[name]
                if isinstance(value, float):
                    found[f"{each.name}: {stratum} {name}"] = value
        for name in _CALLS:
            value = getattr(each.report.cost, name)
            if value is not None:
                found[f"{each.name}: {name}"] = value
    return found


def check_metadata(scores: VaultScores) -> Metadata:
    return {
        "faults": MetadataValue.md("\n".join(f"- {fault}" for fault in scores.faults) or "none"),
        "bars": _table(_bars(scores.sets)),
        "changes": _table([_change(each) for each in scores.sets]),
    }


def _rows(each: SetScores) -> Mapping[str, Mapping[str, object]]:
    ours = [judged.ours for judged in each.report.answerable]
    rows: dict[str, object] = {**hit_table(ours), "all": hit_row(ours)}
    return {name: row for name, row in rows.items() if isinstance(row, Mapping)}


def _scores(sets: Sequence[SetScores]) -> list[dict[str, str | int | float]]:
    found: list[dict[str, str | int | float]] = []
    for each in sets:
        for stratum, row in _rows(each).items():
            figures = {name: _figure(row[name]) for name in _FIGURES}
            found.append({"set": each.name, "stratum": stratum, "n": str(row["n"]), **figures})
        negatives = each.report.negatives
        if negatives.n:
            said = f"{negatives.none} of {negatives.n} judged none"
            found.append({"set": each.name, "stratum": "negatives", "n": said})
    return found


def _bars(sets: Sequence[SetScores]) -> list[dict[str, str | int | float]]:
    return [
        {
            "set": each.name,
            "bar": judged.bar.text,
            "measured": _figure(judged.measured),
            "met": "yes" if judged.met else "NO",
        }
        for each in sets
        for judged in (each.finished.bars.each if each.finished.bars else ())
    ]


def _change(each: SetScores) -> dict[str, str | int | float]:
    """Against the accepted result: ids, and whether the notes are still those."""
    changes = each.finished.changes
    if changes is None:
        return {
            "set": each.name,
            "accepted": f"nothing yet: agentm eval {each.kind} … --accept",
            "paired": "",
            "gained": "",
            "lost": "",
            "may be lost": "",
        }
    same = each.finished.accepted is not None
    return {
        "set": each.name,
        "accepted": "the same notes" if same else "the notes have changed since",
        "paired": str(changes.paired),
        "gained": _ids(changes.gained),
        "lost": _ids(changes.lost),
        "may be lost": str(each.allowed),
    }


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return f"{len(ids)}: {', '.join(ids[:SHOWN_IDS])}{more}" if ids else "0"


def _figure(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-"


def _table(rows: Sequence[Mapping[str, str | int | float]]) -> MetadataValue | str:
    """A table; Dagster refuses an empty one, so that becomes a word."""
    if not rows:
        return "none"
    names = list(dict.fromkeys(name for row in rows for name in row))
    return MetadataValue.table(
        [dg.TableRecord({name: row.get(name, "") for name in names}) for row in rows]
    )


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(" ".join(cell.replace("|", "/").split()) for cell in cells) + " |"

    return "\n".join([line(names), line(["---"] * len(names)), *(line(row) for row in rows)])
