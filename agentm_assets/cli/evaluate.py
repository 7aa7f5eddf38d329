"""`agentm eval`: recall measured on questions whose answers are known."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentm_assets.cli.evaluation_shown import (
    show_comparison,
    show_finished,
    show_gold,
    show_history,
    show_locomo,
)
from agentm_assets.cli.opened import say_outcome
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
)
from agentm_assets.cli.progress import progress_bars

if TYPE_CHECKING:
    from agentm_assets.config.settings import Settings
    from agentm_assets.config.vault import VaultLocation
    from agentm_assets.evaluation.bars import Bar
    from agentm_assets.evaluation.corpus import Corpus
    from agentm_assets.evaluation.destination import Destination
    from agentm_assets.evaluation.gold_questions import GoldQuestion
    from agentm_assets.evaluation.protocol import Finished, Plan, Report, Running
    from agentm_assets.evaluation.saved import Kind, SavedResult
    from agentm_assets.storage.seam import StorageBackend

app = typer.Typer(help="Measure recall on questions whose answers are known.", no_args_is_help=True)

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")

FileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True),
]
VaultArgument = Annotated[
    str, typer.Argument(metavar="VAULT", help="The vault; it is only read, but for --accept.")
]
SeedOption = Annotated[int, typer.Option(help="Draws what is drawn: known items, and signs.")]
WordsOption = Annotated[
    bool, typer.Option("--no-embeddings", help="Ask by words alone, without a model.")
]
BarOption = Annotated[
    list[str] | None,
    typer.Option("--bar", metavar="BAR", help='What must be reached, as "all.hit@5>=.9".'),
]
BarsOption = Annotated[
    Path | None,
    typer.Option(
        "--bars", metavar="FILE", exists=True, dir_okay=False, help="A file of bars, one a line."
    ),
]
AgainstOption = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Compare with a result that --out wrote, over the same corpus.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", dir_okay=False, help="Keep the result, with every question."
    ),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept", help="Make it what later runs are held against.")
]
QuestionsOption = Annotated[
    bool, typer.Option("--questions", help="With --json: every question, with its place.")
]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was asked for beside the measuring."""

    bars: tuple["Bar", ...]
    against: "SavedResult | None"
    out: "Destination | None"
    accept: bool
    questions: bool
    as_json: bool


@app.command("locomo")
def locomo(
    file: FileArgument,
    conversations: Annotated[
        str | None,
        typer.Option(metavar="RANGE", help="Which conversations of the file: 1-5, 3, or 1,4-6."),
    ] = None,
    no_embeddings: WordsOption = False,
    seed: SeedOption = 7,
    bar: BarOption = None,
    bars: BarsOption = None,
    against: AgainstOption = None,
    out: OutOption = None,
    accept: AcceptOption = False,
    vault: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep history and accepted result with this vault."),
    ] = None,
    questions: QuestionsOption = False,
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
    if accept and vault is None:
        raise typer.BadParameter(
            "conversations belong to no vault: name the one that keeps it with --vault PATH.",
            param_hint="--accept",
        )
    location = _settings(vault).location if vault is not None else None
    kept = _destination("--out", out, location, file)
    wanted = _wanted(bar, bars, against, kept, accept, questions, as_json)

    from agentm_assets.evaluation.locomo_run import locomo_measures, run_locomo

    chosen = [talks[number - 1] for number in numbers]
    plan = _plan("locomo", f"conversations {_written(numbers)}", seed, digest, wanted, location)
    running = _started(plan, locomo_measures(chosen))
    with _run_failures_reported(running), progress_bars() as listener:
        report = run_locomo(
            chosen,
            os.environ,
            corpus_sha256=digest,
            embed=not no_embeddings,
            seed=seed,
            on_progress=listener,
        )
    finished = _finished(running, report)
    if as_json:
        payload = {"conversations": numbers, **finished.payload}
        print_json(_with_questions(payload, report, wanted))
    else:
        show_locomo(report)
    _conclude(finished, wanted, plan, location)


@app.command("gold")
def gold(
    vault: VaultArgument,
    questions: FileArgument,
    no_embeddings: WordsOption = False,
    seed: SeedOption = 7,
    bar: BarOption = None,
    bars: BarsOption = None,
    against: AgainstOption = None,
    out: OutOption = None,
    accept: AcceptOption = False,
    each: QuestionsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a question set of a vault. Its own index is asked when it is current, else one that is
    made in a temporary folder."""
    from agentm_assets.evaluation.gold_questions import QuestionsUnusable, read_questions

    with failures_reported({QuestionsUnusable: BAD_INPUT, OSError: BAD_INPUT}):
        asked = read_questions(questions)
    settings = _settings(vault)
    kept = _destination("--out", out, settings.location, questions)
    wanted = _wanted(bar, bars, against, kept, accept, each, as_json)
    corpus = _corpus(settings)
    _ask("gold", questions.stem, asked, settings, corpus, wanted, seed, not no_embeddings)


@app.command("known")
def known(
    vault: VaultArgument,
    n: Annotated[int, typer.Option("--n", min=1, max=100_000, help="How many questions.")] = 200,
    seed: SeedOption = 7,
    no_embeddings: WordsOption = False,
    bar: BarOption = None,
    bars: BarsOption = None,
    against: AgainstOption = None,
    out: OutOption = None,
    accept: AcceptOption = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write-questions",
            metavar="FILE",
            dir_okay=False,
            help="Write the set as a file of `eval gold`, and ask nothing.",
        ),
    ] = None,
    each: QuestionsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a vault for titles and headings that one of its notes alone has, drawn by the seed.

    Notes of personal/ are never what is asked for.
    """
    from agentm_assets.evaluation.control import RunVoid
    from agentm_assets.evaluation.known import known_questions, questions_text
    from agentm_assets.evaluation.vault_sets import known_name
    from agentm_assets.recall.ranking import load_ranking
    from agentm_assets.storage.selection import open_vault

    settings = _settings(vault)
    kept = _destination("--out", out, settings.location)
    written = _destination("--write-questions", write, settings.location)
    wanted = _wanted(bar, bars, against, kept, accept, each, as_json)
    corpus = _corpus(settings)
    with failures_reported({RunVoid: RED_STATE, OSError: BAD_INPUT}):
        ranking, remark = load_ranking(open_vault(settings.location), os.environ)
        asked = known_questions(corpus.texts, ranking, n=n, seed=seed)
    if written is not None:
        if not _written_to(written, questions_text(asked), "the questions are"):
            raise typer.Exit(RED_STATE)
        note_to_operator(f"{len(asked):,} questions are in {write}")
        return
    if remark is not None:
        note_to_operator(remark)
    _ask("known", known_name(n, seed), asked, settings, corpus, wanted, seed, not no_embeddings)


@app.command("compare")
def compare_results(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE.json", exists=True, dir_okay=False, readable=True)
    ],
    after: Annotated[
        Path, typer.Argument(metavar="AFTER.json", exists=True, dir_okay=False, readable=True)
    ],
    seed: SeedOption = 7,
    as_json: JsonOption = False,
) -> None:
    """Compare two results that --out wrote: gained and lost by id, and a paired permutation test.

    Results of different corpora are refused.
    """
    from agentm_assets.evaluation.compare import NotComparable, compare
    from agentm_assets.evaluation.saved import ResultUnusable, read_result

    with failures_reported(dict.fromkeys((ResultUnusable, NotComparable, OSError), BAD_INPUT)):
        comparison = compare(read_result(before), read_result(after), seed=seed)
    if as_json:
        print_json(comparison.json())
    else:
        show_comparison(comparison)


@app.command("history")
def history(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many runs to show.")] = 20,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """The latest evaluations of the vault, oldest first: figures, bars, gained and lost."""
    from agentm_assets.config.vault import locate
    from agentm_assets.evaluation.score_log import ScoreLog

    with failures_reported({OSError: RED_STATE}):
        entries = ScoreLog(locate(os.environ, vault=vault, profile=profile)).read(limit)
    if as_json:
        print_json([entry.json() for entry in entries])
    else:
        show_history(entries)


def _ask(
    kind: "Kind",
    name: str,
    asked: "Sequence[GoldQuestion]",
    settings: "Settings",
    corpus: "Corpus",
    wanted: _Wanted,
    seed: int,
    embed: bool,
) -> None:
    """A run over questions about a vault, from the bars to the exit code."""
    from agentm_assets.evaluation.gold import gold_measures, require_paths, run_gold
    from agentm_assets.evaluation.gold_questions import QuestionsUnusable

    with failures_reported({QuestionsUnusable: BAD_INPUT}):
        require_paths(asked, corpus, settings)
    plan = _plan(kind, name, seed, corpus.sha256, wanted, settings.location)
    running = _started(plan, gold_measures(asked))
    with _run_failures_reported(running), progress_bars() as listener:
        report = run_gold(
            asked,
            settings,
            os.environ,
            embed=embed,
            seed=seed,
            now=datetime.now().astimezone(),
            corpus=corpus,
            on_progress=listener,
        )
    for remark in report.provenance.remarks:
        note_to_operator(remark)
    finished = _finished(running, report)
    if wanted.as_json:
        print_json(_with_questions(finished.payload, report, wanted))
    else:
        show_gold(report)
    _conclude(finished, wanted, plan, settings.location)


def _settings(vault: str) -> "Settings":
    from agentm_assets.config.settings import Settings

    with failures_reported():
        return Settings.load(os.environ, vault=vault)


def _corpus(settings: "Settings") -> "Corpus":
    from agentm_assets.evaluation.corpus import read_corpus
    from agentm_assets.storage.selection import open_vault

    with failures_reported():
        return read_corpus(open_vault(settings.location))


def _destination(
    option: Literal["--out", "--write-questions"],
    file: Path | None,
    location: "VaultLocation | None",
    asked: Path | None = None,
) -> "Destination | None":
    from agentm_assets.evaluation.destination import DestinationRefused, destination

    if file is None:
        return None
    root = location.root if location is not None and location.in_folder else None
    with failures_reported({DestinationRefused: BAD_INPUT}):
        return destination(option, file, vault=root, asked=asked)


def _wanted(
    bar: list[str] | None,
    bars: Path | None,
    against: Path | None,
    out: "Destination | None",
    accept: bool,
    questions: bool,
    as_json: bool,
) -> _Wanted:
    from agentm_assets.evaluation.bars import BarUnusable, parse_bar, parse_bars
    from agentm_assets.evaluation.saved import ResultUnusable, read_result

    with failures_reported(dict.fromkeys((BarUnusable, ResultUnusable, OSError), BAD_INPUT)):
        written = [parse_bar(text) for text in bar or ()]
        if bars is not None:
            written += parse_bars(bars.read_text("utf-8", "replace"))
        earlier = read_result(against) if against is not None else None
    return _Wanted(tuple(written), earlier, out, accept, questions, as_json)


def _plan(
    kind: "Kind",
    name: str,
    seed: int,
    corpus_sha256: str,
    wanted: _Wanted,
    location: "VaultLocation | None",
) -> "Plan":
    from agentm_assets.evaluation.accepted import read_accepted
    from agentm_assets.evaluation.protocol import Plan
    from agentm_assets.evaluation.saved import ResultUnusable
    from agentm_assets.evaluation.score_log import ScoreLog
    from agentm_assets.storage.selection import open_backend

    with failures_reported({ResultUnusable: RED_STATE}):
        return Plan(
            kind=kind,
            name=name,
            seed=seed,
            corpus_sha256=corpus_sha256,
            bars=wanted.bars,
            against=wanted.against,
            accepted=read_accepted(open_backend(location), kind, name) if location else None,
            log=ScoreLog(location) if location else None,
        )


def _started(plan: "Plan", measures: frozenset[str]) -> "Running":
    from agentm_assets.evaluation.bars import BarUnusable
    from agentm_assets.evaluation.compare import NotComparable
    from agentm_assets.evaluation.protocol import start

    with failures_reported(dict.fromkeys((BarUnusable, NotComparable), BAD_INPUT)):
        return start(plan, measures, datetime.now().astimezone())


def _finished(running: "Running", report: "Report") -> "Finished":
    from agentm_assets.evaluation.compare import NotComparable
    from agentm_assets.evaluation.protocol import finish

    with failures_reported({NotComparable: BAD_INPUT}):
        return finish(running, report)


def _with_questions(
    payload: Mapping[str, object], report: "Report", wanted: _Wanted
) -> Mapping[str, object]:
    if not wanted.questions:
        return payload
    return {**payload, "questions": [each.model_dump(by_alias=True) for each in report.questions]}


def _conclude(
    finished: "Finished", wanted: _Wanted, plan: "Plan", location: "VaultLocation | None"
) -> None:
    """What follows the figures: what changed, the files, the exit code."""
    if not wanted.as_json:
        show_finished(finished)
    if finished.remark is not None:
        note_to_operator(finished.remark)
    if finished.why_not_compared is not None:
        note_to_operator(f"not compared with what was accepted: {finished.why_not_compared}")
    kept = wanted.out is None or _written_to(
        wanted.out, finished.text, "the result was printed, but is"
    )
    missed = [
        each.bar.text for each in (finished.bars.each if finished.bars else ()) if not each.met
    ]
    if missed:
        note_to_operator(f"missed: {', '.join(missed)}")
        if wanted.accept:
            note_to_operator("not accepted, since a bar was missed")
    elif not kept and wanted.accept:
        note_to_operator("not accepted, since the result could not be kept")
    if missed or not kept:
        raise typer.Exit(RED_STATE)
    if wanted.accept and location is not None:
        _accept(finished, plan, location)


def _written_to(place: "Destination", text: str, what: str) -> bool:
    """Whether it is in the file now; if not, that is said."""
    try:
        place.write(text)
    except OSError as error:
        note_to_operator(
            f"{what} not kept: {place.file} can't be written ({error.strerror}). Free the place "
            "or name another file, and run it again."
        )
        return False
    return True


def _accept(finished: "Finished", plan: "Plan", location: "VaultLocation") -> None:
    from agentm_assets.evaluation.accepted import accept, place_of_accepted
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import open_backend

    with failures_reported({StorageError: RED_STATE}):
        backend: StorageBackend = open_backend(location)
        now = datetime.now().astimezone()
        outcome = accept(location, backend, plan.kind, plan.name, finished.text, now)
    note_to_operator(f"accepted: {place_of_accepted(plan.kind, plan.name)}")
    say_outcome(outcome)


@contextmanager
def _run_failures_reported(running: "Running") -> Iterator[None]:
    from agentm_assets.evaluation.control import RunVoid
    from agentm_assets.evaluation.gold_questions import QuestionsUnusable
    from agentm_assets.evaluation.protocol import abandon
    from agentm_assets.index.store import IndexBusy, IndexDamaged
    from agentm_assets.models.embedder import EmbeddingFailed
    from agentm_assets.models.export import ExportFailed
    from agentm_assets.models.manifest import ModelFolderUnusable
    from agentm_assets.models.weights import ModelUnavailable, WeightsRefused
    from agentm_assets.recall.errors import IndexMissing, QuestionRefused

    codes: dict[type[Exception], int] = dict.fromkeys(
        (
            *(RunVoid, IndexBusy, IndexDamaged, IndexMissing, EmbeddingFailed, ExportFailed),
            *(ModelFolderUnusable, ModelUnavailable, WeightsRefused),
        ),
        RED_STATE,
    )
    codes |= {QuestionRefused: BAD_INPUT, QuestionsUnusable: BAD_INPUT}
    with failures_reported(codes):
        try:
            yield
        except tuple(codes) as error:
            remark = abandon(running, str(error))
            if remark is not None:
                note_to_operator(remark)
            raise
        except KeyboardInterrupt:
            note_to_operator("interrupted; nothing was kept")
            raise


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


def _written(numbers: Sequence[int]) -> str:
    """Such as "1-3,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
