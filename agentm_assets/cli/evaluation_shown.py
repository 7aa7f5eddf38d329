"""What `agentm eval` prints for a person: tables of figures, and what changed by id."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from agentm_assets.cli.output import printable

if TYPE_CHECKING:
    from rich.table import Table

    from agentm_assets.evaluation.compare import Comparison
    from agentm_assets.evaluation.cost import Cost
    from agentm_assets.evaluation.gold import GoldReport
    from agentm_assets.evaluation.locomo_run import LocomoReport
    from agentm_assets.evaluation.protocol import Finished
    from agentm_assets.evaluation.report import Provenance, Ranked
    from agentm_assets.evaluation.score_log import Entry


def show_locomo(report: "LocomoReport") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for what, ours, floor in (
        ("turns", report.ours.turns, report.bm25.turns),
        ("sessions", report.ours.sessions, report.bm25.sessions),
    ):
        console.print(_recall_table(what, ours, floor))
    lost, negatives = report.answerable, report.unanswerable
    typer.echo(f"unanswerable: {negatives.none} of {negatives.n} judged none")
    typer.echo(f"answerable, but judged none: {lost.none} of {lost.n}")
    _show_provenance(report.provenance, report.cost)


def show_gold(report: "GoldReport") -> None:
    from rich.console import Console
    from rich.text import Text

    from agentm_assets.evaluation.report import hit_row

    table = _table("stratum", "n", "hit@1", "hit@5", "hit@10", "MRR", "BM25 hit@5", "hit@10")
    for name in dict.fromkeys(each.ours.group for each in report.answerable):
        judged = [each for each in report.answerable if each.ours.group == name]
        ours = hit_row([each.ours for each in judged])
        floor = hit_row([each.bm25 for each in judged if each.bm25 is not None])
        keys = ("hit@1", "hit@5", "hit@10", "mrr")
        table.add_row(
            Text(printable(name)),
            str(ours["n"]),
            *(_cell(ours[key]) for key in keys),
            *(_cell(floor[key]) for key in keys[1:3]),
        )
    Console(highlight=False).print(table)
    typer.echo(f"unanswerable: {report.negatives.none} of {report.negatives.n} judged none")
    for said, ids in (
        ("not in the first five", report.misses),
        ("answerable, but judged none", report.lost),
        ("unanswerable, but not judged none", report.not_rejected),
    ):
        _show_ids(said, ids)
    _show_provenance(report.provenance, report.cost)


def show_finished(finished: "Finished") -> None:
    """The bars, and what changed."""
    for judged in finished.bars.each if finished.bars else ():
        word = "met" if judged.met else "MISSED"
        typer.echo(printable(f"bar {judged.bar.text}: {word}, measured {_cell(judged.measured)}"))
    if finished.against is not None:
        show_comparison(finished.against)
    elif finished.accepted is not None:
        show_comparison(finished.accepted)


def show_comparison(comparison: "Comparison") -> None:
    from rich.console import Console
    from rich.text import Text

    table = _table("", "n", "before", "after", "difference", "p", "test")
    for group, change in comparison.groups.items():
        for name, measured in change.measures.items():
            if group not in _WHOLE and not name.endswith("@5"):
                continue
            test = measured.test
            how = "exact" if test.draws is None else f"{test.draws:,} draws"
            table.add_row(
                Text(printable(f"{group} {name}")),
                str(change.changes.paired),
                _cell(measured.before),
                _cell(measured.after),
                f"{measured.after - measured.before:+.3f}",
                f"{test.p:.3g}",
                how,
            )
    typer.echo(printable(f"against {comparison.before.name} of {comparison.before.at}"))
    Console(highlight=False).print(table)
    for said in ("gained", "lost"):
        changes = [each.changes for name, each in comparison.groups.items() if name in _WHOLE]
        ids = [id_ for each in changes for id_ in getattr(each, said)]
        _show_ids(said, ids)
    for said, found in (
        ("only before", comparison.only_before),
        ("only after", comparison.only_after),
        ("asked otherwise", comparison.asked_otherwise),
    ):
        if found:
            _show_ids(said, found)


_WHOLE = ("all", "negatives")
"""Groups that hold each question once; of the others one measure is shown."""


def show_history(entries: "Sequence[Entry]") -> None:
    from agentm_assets.evaluation.score_log import TREND, trend

    if not entries:
        typer.echo("no evaluation of this vault was made yet")
        return
    rows = [TREND, *trend(entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(TREND))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        typer.echo(printable("  ".join(cells).rstrip()))


def _recall_table(what: str, ours: "tuple[Ranked, ...]", floor: "tuple[Ranked, ...]") -> "Table":
    from rich.text import Text

    from agentm_assets.evaluation.report import recall_row

    table = _table(what, "n", "r@5", "r@10", "MRR", "BM25 r@5", "r@10", "MRR")
    groups = dict.fromkeys(each.group for each in ours)
    parts = dict.fromkeys(each.part for each in ours)
    for name in ("all", *groups, *parts):
        rows: list[Mapping[str, object]] = [
            recall_row([q for q in ranked if name in ("all", q.group, q.part)])
            for ranked in (ours, floor)
        ]
        table.add_row(
            Text(printable(name)),
            str(rows[0]["n"]),
            *(_cell(row[key]) for row in rows for key in ("r@5", "r@10", "mrr")),
        )
    return table


def _table(first: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.3f}"


def _show_ids(said: str, ids: "Sequence[str]") -> None:
    typer.echo(printable(f"{said}: {len(ids)} {', '.join(ids)}".rstrip()))


def _show_provenance(of: "Provenance", cost: "Cost") -> None:
    model = of.model or "words alone"
    typer.echo(printable(f"corpus {of.corpus_sha256[:12]}, {model}, index {of.index}"))
    if cost.p50_ms is not None:
        typer.echo(
            f"recall p50 {cost.p50_ms:.1f} ms, p95 {cost.p95_ms:.1f} ms, the first "
            f"{cost.first_ms:.0f} ms ({cost.calls:,} recalls); peak memory {cost.peak_mb:.0f} MB"
        )
    typer.echo(f"{of.seconds:.0f} s")
