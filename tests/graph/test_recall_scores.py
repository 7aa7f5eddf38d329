"""`recall_scores` through Dagster: what it measures, when its checks fail, what it leaves alone."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.definitions import build_defs
from agentm_assets.evaluation.accepted import accept
from agentm_assets.evaluation.nightly import Options, measure_vault
from agentm_assets.index.assets.run import open_instance, run_index
from agentm_assets.storage.selection import open_backend
from resources.embedder import EmbedderResource
from resources.workspace import WorkspaceResource

TOPICS = {
    "kettle": "The gasket of the kettle is made of silicone.",
    "starter": "Feed the sourdough starter with rye flour every morning.",
    "frost": "The pear blossom froze on the ninth of May.",
    "chain": "The bicycle chain slips because its sprocket has worn teeth.",
    "roof": "The slate above the chimney was replaced by a roofer from Trier.",
    "violin": "The violin needs new gut strings before the concert.",
}
QUESTIONS = [
    {
        "id": "kettle",
        "question": "What is the gasket of the kettle made of?",
        "expected_note_paths": ["kettle.md"],
        "stratum": "plain",
    },
    {
        "id": "violin",
        "question": "What does the violin need before the concert?",
        "expected_note_paths": ["violin.md"],
        "stratum": "plain",
    },
    {
        "id": "chess",
        "question": "Who won the chess tournament in Reykjavik?",
        "expected_note_paths": [],
        "stratum": "negative",
    },
]


@dataclass(frozen=True, slots=True)
class Night:
    """What one run of the job left in Dagster."""

    metadata: dict[str, Any]
    version: str
    checks: dict[str, dg.AssetCheckEvaluation]

    @property
    def faults(self) -> str:
        return str(self.checks["recall_holds"].metadata["faults"].value)

    @property
    def remarks(self) -> str:
        return str(self.checks["recall_not_degraded"].metadata["remarks"].value)


class Graph:
    def __init__(self, vault: Path, workspace: WorkspaceResource) -> None:
        self.vault = vault
        self.workspace = workspace
        self.location = workspace.settings().location
        embedder = EmbedderResource(workspace=workspace, enabled=False)
        self.defs = build_defs({"workspace": workspace, "embedder": embedder})

    def index(self) -> None:
        run = run_index(self.defs, self.workspace, tables_config={})
        assert run.success, run.error

    def measure(self, **config: object) -> Night:
        job = self.defs.resolve_job_def("measure_recall")
        with open_instance(self.location.dagster_home) as instance:
            result = job.execute_in_process(
                instance=instance, run_config={"ops": {"recall_scores": {"config": config}}}
            )
            event = instance.get_latest_materialization_event(dg.AssetKey("recall_scores"))
            assert event and event.asset_materialization and event.run_id == result.run_id
            checks = {each.check_name: each for each in result.get_asset_check_evaluations()}
        tags = event.asset_materialization.tags or {}
        return Night(
            dict(event.asset_materialization.metadata), tags["dagster/data_version"], checks
        )

    def accept(self, kind: Any, name: str) -> None:
        """As --accept does: the figures of now are what later runs are held against."""
        settings = self.workspace.settings()
        now = datetime.now().astimezone()
        scores = measure_vault(settings, {}, Options(n=6), now)
        [text] = [each.finished.text for each in scores.sets if each.name == name]
        accept(self.location, open_backend(self.location), kind, name, text, now)


@pytest.fixture
def graph(vault: Path, workspace: WorkspaceResource) -> Graph:
    for name, text in TOPICS.items():
        (vault / f"{name}.md").write_text(f"# What to know of the {name}\n\n{text}\n")
    made = Graph(vault, workspace)
    made.index()
    return made


def with_questions(graph: Graph, name: str = "recall-questions.json") -> None:
    (graph.vault / "standards").mkdir(exist_ok=True)
    (graph.vault / "standards" / name).write_text(json.dumps(QUESTIONS))


def test_without_question_sets_known_items_are_asked_and_plotted(graph: Graph) -> None:
    night = graph.measure(n=6)
    metadata = {key: value.value for key, value in night.metadata.items()}
    assert metadata["did"] == "asked 6 questions (known 6 seed 7)"
    assert metadata["known 6 seed 7: all hit@5"] == 1.0
    assert metadata["known 6 seed 7: title mrr"] == 1.0
    assert metadata["known 6 seed 7: p95_ms"] > 0
    assert metadata["known 6 seed 7: peak_mb"] > 10
    assert "| known 6 seed 7 | 6 | 1 | 1 |" in metadata["trend"]
    assert night.checks["recall_holds"].passed
    assert night.checks["recall_holds"].severity is dg.AssetCheckSeverity.ERROR
    # Without vectors recall goes by words, and that is said without failing the other.
    assert not night.checks["recall_not_degraded"].passed
    assert night.checks["recall_not_degraded"].severity is dg.AssetCheckSeverity.WARN
    assert "searched by words alone" in night.remarks
    assert graph.measure(n=6).version == night.version, "the same answers, the same version"


def test_the_operators_sets_come_first_and_their_bars_hold(graph: Graph) -> None:
    with_questions(graph)
    with_questions(graph, "recall-questions-more.json")
    (graph.vault / "standards/recall-bars.txt").write_text("plain.hit@5>=.99\nnone.hit@5>=.1\n")
    night = graph.measure()
    assert night.metadata["questions"].value == 6
    assert night.metadata["recall-questions-more: plain hit@5"].value == 1.0
    assert night.faults == "- the bar none.hit@5>=.1 names no measure of any set"
    (graph.vault / "standards/recall-bars.txt").write_text("plain.hit@5>=.99\n")
    assert graph.measure().checks["recall_holds"].passed
    (graph.vault / "standards/recall-bars.txt").write_text("negatives.rejected<=-1\n")
    assert "is no bar" in graph.measure().faults
    chosen = graph.measure(questions=["standards/recall-questions-more.json"])
    assert chosen.metadata["questions"].value == 3


def test_it_is_no_use_of_a_note_and_writes_nothing_into_the_vault(graph: Graph) -> None:
    before = {file: file.read_bytes() for file in graph.vault.rglob("*") if file.is_file()}
    graph.measure(n=6)
    assert not (graph.location.log_dir / "recalls.jsonl").exists()
    after = {file: file.read_bytes() for file in graph.vault.rglob("*") if file.is_file()}
    assert after == before


def test_a_lost_question_fails_the_check(graph: Graph) -> None:
    with_questions(graph)
    graph.accept("gold", "recall-questions")
    held = graph.measure()
    assert held.checks["recall_holds"].passed
    [change] = held.metadata["changes"].value.records
    assert change.data["accepted"] == "the same notes"
    assert (change.data["paired"], change.data["lost"]) == ("3", "0")
    # The note is emptied, so nothing can bring it back; the bar is low enough to say nothing.
    (graph.vault / "standards/recall-bars.txt").write_text("plain.hit@5>=.1\n")
    (graph.vault / "violin.md").write_text("")
    graph.index()
    night = graph.measure()
    assert not night.checks["recall_holds"].passed
    assert night.faults == (
        "- recall-questions: 1 questions that the accepted result answered are lost, "
        "0 may be: violin"
    )
    [change] = night.metadata["changes"].value.records
    assert change.data["accepted"] == "the notes have changed since"
    assert change.data["lost"] == "1: violin"
    assert graph.measure(tolerance=0.5).checks["recall_holds"].passed


WRONG_ORDER = """
import sys
import agentm_assets.recall.pipeline as pipeline
from agentm_assets.definitions import build_defs
from agentm_assets.index.assets.run import open_instance
from resources.workspace import WorkspaceResource
real = pipeline.rank
pipeline.rank = lambda pool, asked, context, wanted: real(pool, asked, context, 400)[::-1][:wanted]
workspace = WorkspaceResource(vault=sys.argv[1])
with open_instance(workspace.settings().location.dagster_home) as instance:
    job = build_defs({"workspace": workspace}).resolve_job_def("measure_recall")
    result = job.execute_in_process(instance=instance)
    for each in result.get_asset_check_evaluations():
        if each.check_name == "recall_holds":
            print(each.passed, each.severity.value, each.metadata["faults"].value)
"""


def ask_with_a_ranking_that_is_upside_down(vault: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WRONG_ORDER, str(vault)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_broken_ranking_fails_the_check(vault: Path, workspace: WorkspaceResource) -> None:
    """The notes share their words, so that a ranking turned upside down brings the wrong ones."""
    for number in range(40):
        (vault / f"n{number}.md").write_text(
            f"# Log of boiler{number} service\n\nThe boiler service went well, log it.\n"
        )
    graph = Graph(vault, workspace)
    graph.index()
    assert graph.measure(n=40).checks["recall_holds"].passed
    said = ask_with_a_ranking_that_is_upside_down(vault)
    assert said.startswith("False ERROR")
    assert "known items don't come back" in said


def test_without_an_index_the_check_says_so_and_the_run_lives(
    vault: Path, workspace: WorkspaceResource
) -> None:
    (vault / "a.md").write_text("# What to know of kettles\n")
    graph = Graph(vault, workspace)
    night = graph.measure()
    assert not night.checks["recall_holds"].passed
    assert "Run `agentm index`" in night.faults
    assert night.metadata["did"].value == "measured nothing"
    assert night.version == "not measured"
    assert "no usable index" in str(night.metadata["trend"].value), "the history says it too"


def test_broken_rules_are_a_remark_and_recall_is_still_measured(graph: Graph) -> None:
    rules = default_rules_text().decode()
    (graph.vault / "standards").mkdir()
    (graph.vault / "standards/storage-rules.md").write_text(
        rules.replace("default_type: reference", "default_type: nope")
    )
    night = graph.measure(n=6)
    assert night.checks["recall_holds"].passed
    assert "is broken" in night.remarks
    assert "1 files changed" in night.remarks, "the index is older than the rules file"


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda vault: (vault / "standards/recall-questions.json").write_text("{"), "is no JSON"),
        (lambda vault: (vault / "kettle.md").unlink(), "holds no note 'kettle.md'"),
        (
            lambda vault: (vault / "Agent/_meta/evaluation/gold-recall-questions.json").write_text(
                "{}"
            ),
            "is no result",
        ),
    ],
)
def test_what_cannot_be_measured_is_a_fault_and_no_crash(
    graph: Graph, break_it: Callable[[Path], object], said: str
) -> None:
    with_questions(graph)
    graph.accept("gold", "recall-questions")
    break_it(graph.vault)
    night = graph.measure()
    assert not night.checks["recall_holds"].passed
    assert said in night.faults


def test_questions_that_the_time_does_not_allow_are_counted(graph: Graph) -> None:
    night = graph.measure(n=6, seconds=-1.0)
    assert "6 questions were not asked" in night.remarks
    assert not night.checks["recall_holds"].passed, "nothing measured meets no bar"


def test_the_history_outlives_the_index(graph: Graph) -> None:
    graph.measure(n=6)
    shutil.rmtree(graph.location.index_dir)
    graph.index()
    night = graph.measure(n=6)
    assert str(night.metadata["trend"].value).count("| known 6 seed 7 |") == 2
