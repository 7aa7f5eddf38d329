"""`agentm eval`: recall measured on questions whose answers are known."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)
from agentm_assets.cli.progress import progress_bars

if TYPE_CHECKING:
    from rich.table import Table

    from agentm_assets.evaluation.gold import GoldReport
    from agentm_assets.evaluation.locomo_run import LocomoReport
    from agentm_assets.evaluation.report import Provenance, Ranked

app = typer.Typer(help="Measure recall on questions whose answers are known.", no_args_is_help=True)

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")

FileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True),
]
SeedOption = Annotated[int, typer.Option(help="Draws the known items that are asked for first.")]
WordsOption = Annotated[
    bool, typer.Option("--no-embeddings", help="Ask by words alone, without a model.")
]


@app.command("locomo")
def locomo(
    file: FileArgument,
    conversations: Annotated[
        str | None,
        typer.Option(metavar="RANGE", help="Which conversations of the file: 1-5, 3, or 1,4-6."),
    ] = None,
    no_embeddings: WordsOption = False,
    seed: SeedOption = 7,
    as_json: JsonOption = False,
) -> None:
    """Measure on LoCoMo: long conversations, with the turns that answer each question.

    Everything is indexed in a temporary folder, under agentm's own rules and not yours.
    """
    from agentm_assets.evaluation.locomo import NotLocomo, read_locomo

    with failures_reported({NotLocomo: BAD_INPUT, OSError: BAD_INPUT}):
        talks = read_locomo(file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    numbers = _numbers(conversations, len(talks))

    from agentm_assets.evaluation.locomo_run import run_locomo

    with _run_failures_reported(), progress_bars() as listener:
        report = run_locomo(
            [talks[number - 1] for number in numbers],
            os.environ,
            corpus_sha256=digest,
            embed=not no_embeddings,
            seed=seed,
            on_progress=listener,
        )
    if as_json:
        print_json({"conversations": numbers, **report.json()})
    else:
        _show_locomo(report)


@app.command("gold")
def gold(
    vault: Annotated[str, typer.Argument(metavar="VAULT", help="The vault; it is only read.")],
    questions: FileArgument,
    no_embeddings: WordsOption = False,
    seed: SeedOption = 7,
    as_json: JsonOption = False,
) -> None:
    """Ask a question set of a vault. Its own index is asked when it is current, else one that is
    made in a temporary folder."""
    from datetime import datetime

    from agentm_assets.config.settings import Settings
    from agentm_assets.evaluation.gold_questions import QuestionsUnusable, read_questions

    with failures_reported({QuestionsUnusable: BAD_INPUT, OSError: BAD_INPUT}):
        asked = read_questions(questions)
        settings = Settings.load(os.environ, vault=vault)

    from agentm_assets.evaluation.gold import run_gold

    with (
        _run_failures_reported({QuestionsUnusable: BAD_INPUT}),
        progress_bars() as listener,
    ):
        report = run_gold(
            asked,
            settings,
            os.environ,
            embed=not no_embeddings,
            seed=seed,
            now=datetime.now().astimezone(),
            on_progress=listener,
        )
    for remark in report.provenance.remarks:
        note_to_operator(remark)
    if as_json:
        print_json(report.json())
    else:
        _show_gold(report)


@contextmanager
def _run_failures_reported(more: Mapping[type[Exception], int] | None = None) -> Iterator[None]:
    from agentm_assets.evaluation.control import RunVoid
    from agentm_assets.index.store import IndexBusy, IndexDamaged
    from agentm_assets.models.embedder import EmbeddingFailed
    from agentm_assets.models.export import ExportFailed
    from agentm_assets.models.manifest import ModelFolderUnusable
    from agentm_assets.models.weights import ModelUnavailable, WeightsRefused
    from agentm_assets.recall.errors import IndexMissing, QuestionRefused

    red: dict[type[Exception], int] = dict.fromkeys(
        (
            *(RunVoid, IndexBusy, IndexDamaged, IndexMissing, EmbeddingFailed, ExportFailed),
            *(ModelFolderUnusable, ModelUnavailable, WeightsRefused),
        ),
        RED_STATE,
    )
    with failures_reported({**red, QuestionRefused: BAD_INPUT, **(more or {})}):
        yield


def _numbers(written: str | None, count: int) -> list[int]:
    """The numbers of conversations, from 1, in order."""
    if written is None:
        return list(range(1, count + 1))
    chosen: set[int] = set()
    for part in written.split(","):
        found = _RANGE.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            raise typer.BadParameter(
                f"{part!r} names no conversations of this file, which has {count}: give 1-{count}, "
                "a number, or several of those with commas between.",
                param_hint="--conversations",
            )
        chosen.update(range(first, last + 1))
    return sorted(chosen)


def _show_locomo(report: "LocomoReport") -> None:
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
    _show_provenance(report.provenance)


def _recall_table(what: str, ours: "tuple[Ranked, ...]", floor: "tuple[Ranked, ...]") -> "Table":
    from rich.text import Text

    from agentm_assets.evaluation.report import recall_row

    table = _table(what, "n", "r@5", "r@10", "MRR", "BM25 r@5", "r@10", "MRR")
    groups = dict.fromkeys(each.group for each in ours)
    parts = dict.fromkeys(each.part for each in ours)
    for name in ("all", *groups, *parts):
        rows = [
            recall_row([q for q in ranked if name in ("all", q.group, q.part)])
            for ranked in (ours, floor)
        ]
        table.add_row(
            Text(printable(name)),
            str(rows[0]["n"]),
            *(_cell(row[key]) for row in rows for key in ("r@5", "r@10", "mrr")),
        )
    return table


def _show_gold(report: "GoldReport") -> None:
    from rich.console import Console
    from rich.text import Text

    from agentm_assets.evaluation.report import hit_row

    table = _table("stratum", "n", "hit@1", "hit@5", "hit@10", "MRR", "BM25 hit@5", "hit@10")
    for name in dict.fromkeys(each.ours.group for each in report.answerable):
        judged = [each for each in report.answerable if each.ours.group == name]
        ours, floor = hit_row([j.ours for j in judged]), hit_row([j.bm25 for j in judged])
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
        typer.echo(printable(f"{said}: {len(ids)} {', '.join(ids)}".rstrip()))
    _show_provenance(report.provenance)


def _table(first: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.3f}"


def _show_provenance(of: "Provenance") -> None:
    model = of.model or "words alone"
    typer.echo(printable(f"corpus {of.corpus_sha256[:12]}, {model}, index {of.index}"))
    typer.echo(f"{of.seconds:.0f} s")
