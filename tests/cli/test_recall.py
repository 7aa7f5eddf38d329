"""`agentm recall` as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import load_rules
from agentm_assets.index.publish import publish_facts, publish_lexical
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_vault

Run = Callable[..., subprocess.CompletedProcess[str]]

NOTES = {
    "bread.md": "# Bread\n\n## Dough\n\nFlour and water.\n\n## Oven\n\nThe oven must be hot.\n",
    "calendar/2026/2026-08-01_oven.md": "# Repair\n\nThe oven man came, [bold red]at ten[/].\n",
    "Agent/memory/semantic/old.md": "---\nstatus: superseded\n---\n# Heat\n\nThe oven is cold.\n",
    "esc.md": "# Escapes\n\nThe gasket \x1b[31mred\x1b[0m and \x9b1m is torn.\n",
}


@pytest.fixture
def indexed(vault: Path, env: dict[str, str]) -> Path:
    """The vault with an index by words, made in this process."""
    for path, text in NOTES.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    location = Settings.load(env).location
    store = IndexStore(location.duckdb_file)
    reconcile(
        open_vault(location),
        store,
        load_rules(open_vault(location), env),
        ReconcileOptions(),
        lock_file=location.index_dir / "pass.lock",
    )
    publish_facts(store, location.facts_file)
    publish_lexical(store, location.lexical_dir)
    return vault


def test_json_is_the_documented_shape_and_stands_alone_on_stdout(
    agentm: Run, indexed: Path
) -> None:
    done = agentm("recall", "How hot must the oven be?", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert list(answer) == [
        "verdict",
        "confidence",
        "mode",
        "why",
        "hits",
        "grounds",
        "trace",
        "linked",
    ]
    assert (answer["verdict"], answer["mode"]) == ("answer", "lexical")
    hit = answer["hits"][0]
    assert (hit["path"], hit["header_path"], hit["chunk"]) == ("bread.md", "Bread > Oven", 2)
    data = (indexed / "bread.md").read_bytes()
    assert data[hit["start"] : hit["end"]] == b"## Oven\n\nThe oven must be hot.\n"
    assert {
        "path",
        "title",
        "header_path",
        "chunk",
        "start",
        "end",
        "score",
        "snippet",
        "status",
        "type",
        "captured",
    } <= hit.keys()


def test_people_see_verdict_path_heading_snippet_and_state(agentm: Run, indexed: Path) -> None:
    done = agentm("recall", "How hot must the oven be?")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("answer  (confidence 0.")
    assert "1. bread.md › Bread > Oven\n" in done.stdout
    assert "The oven must be hot." in done.stdout
    assert "[2026-08-01]" in done.stdout
    assert "[superseded]" in done.stdout
    assert "[bold red]at ten[/]" in done.stdout  # what a note holds is text, never markup
    assert "score" not in done.stdout and "rests on" not in done.stdout
    explained = agentm("recall", "How hot must the oven be?", "--explain").stdout
    assert "rests on: 100% of the words in one hit" in explained
    assert "words: rank 1, BM25" in explained
    assert "lowered to 0.60 by status:superseded" in explained


def test_what_reranking_did_and_cost_is_in_the_trace(
    agentm: Run, indexed: Path, tmp_path: Path, build_cross_encoder: Callable[..., Path]
) -> None:
    question = "How hot must the oven be?"
    assert json.loads(agentm("recall", question, "--json").stdout)["trace"] == {"rerank": None}
    folder = str(build_cross_encoder(tmp_path / "overlap", (("hot",), ("oven",))))
    answer = json.loads(agentm("recall", question, "--json", AGENTM_RERANKER=folder).stdout)
    trace = answer["trace"]["rerank"]
    assert list(trace) == ["model", "pairs", "ms", "why", "trouble"]
    assert (trace["pairs"], trace["why"]) == (len(answer["hits"]), None)
    assert answer["hits"][0]["parts"]["rerank"] == 2.0
    shown = agentm("recall", question, "--explain", AGENTM_RERANKER=folder).stdout
    assert f"reranked: {trace['pairs']} sections in " in shown
    assert "reranked: 2.000" in shown


def test_the_match_is_highlighted_on_a_terminal(agentm: Run, indexed: Path) -> None:
    done = agentm("recall", "hot oven", FORCE_COLOR="1", TERM="xterm")
    assert "\x1b[1mhot\x1b[0m" in done.stdout


def test_a_note_cannot_steer_the_terminal(agentm: Run, indexed: Path) -> None:
    done = agentm("recall", "torn gasket")
    assert "gasket" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\x9b" not in done.stdout


def test_options_bound_the_answer(agentm: Run, indexed: Path) -> None:
    def paths(*options: str) -> list[str]:
        done = agentm("recall", "oven", "--json", *options)
        return [hit["path"] for hit in json.loads(done.stdout)["hits"]]

    assert len(paths()) == 3
    assert len(paths("-k", "1")) == 1
    assert paths("--after", "2026-08-01") == ["calendar/2026/2026-08-01_oven.md"]
    assert paths("--before", "2026-08-01") == []


def test_no_answer_is_no_failure(agentm: Run, indexed: Path) -> None:
    done = agentm("recall", "Lisbon sourdough hydration", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "none"
    assert agentm("recall", "Lisbon sourdough hydration").stdout.startswith("none: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--json"], "the question is empty"),
        (["   "], "the question is empty"),
        (["oven", "--after", "soon"], "is no time"),
        (["oven", "--after", "2026-02", "--before", "2026-01"], "Swap the two"),
        (["oven", "--vault", "/nowhere/at/all"], "does not exist"),
        (["oven", "--profile", "absent"], "no profile `absent`"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    agentm: Run, indexed: Path, arguments: list[str], said: str
) -> None:
    done = agentm("recall", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["oven", "-k", "0"], ["oven", "-k", "101"], ["oven", "extra"], ["oven", "--josn"]],
)
def test_wrong_usage_is_exit_2(agentm: Run, arguments: list[str]) -> None:
    done = agentm("recall", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""


def test_without_an_index_it_is_a_red_state_with_its_cure(agentm: Run, vault: Path) -> None:
    done = agentm("recall", "oven", "--json")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "Run `agentm index`" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_index_is_a_red_state(agentm: Run, indexed: Path, env: dict[str, str]) -> None:
    Settings.load(env).location.facts_file.write_bytes(b"not a database" * 1000)
    done = agentm("recall", "oven")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_narrow_locale_does_not_break_the_output(agentm: Run, indexed: Path) -> None:
    (indexed / "bread.md").write_text("# Bread\n\n## Oven\n\nThe oven: 240 °C, 窯 🫖.\n")
    for arguments in (["recall", "oven", "--json"], ["recall", "oven"]):
        done = agentm(*arguments, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
        assert done.returncode == 0, done.stderr


HEAVY = ("dagster", "torch", "duckdb", "polars", "sentence_transformers", "mcp")


def test_recall_imports_nothing_heavy(indexed: Path, env: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from agentm_assets.cli.entry import main\n"
        "question = 'How hot must the oven be on 2026-08-01, acme/kettle#1?'\n"
        "sys.argv = ['agentm', 'recall', question]\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as ended:\n"
        "    assert not ended.code, ended.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "[]"
    assert "bread.md" in done.stdout


def test_the_application_imports_nothing_that_a_command_does_not_need(env: dict[str, str]) -> None:
    program = (
        "import sys\n"
        "import agentm_assets.cli.app\n"
        "names = ('numpy', 'onnxruntime', 'tantivy', 'tokenizers', 'yaml', 'rich')\n"
        f"print([name for name in names + {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_closed_pipe_is_no_traceback(indexed: Path, env: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "agentm_assets.cli.entry", "recall", "oven", "--json"],
        env=env,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert "Traceback" not in done.stderr


def test_an_unknown_type_or_space_is_refused_and_known_ones_are_named(
    agentm: Run, indexed: Path
) -> None:
    question = "How hot must the oven be?"
    done = agentm("recall", question, "--space", "semantic")
    assert (done.returncode, done.stdout) == (2, "")
    assert "calendar, desk, memory" in done.stderr and "'semantic'" in done.stderr
    done = agentm("recall", question, "--type", "Preference")
    assert done.returncode == 2 and "preference" in done.stderr
    found = json.loads(agentm("recall", question, "--space", "Calendar", "--json").stdout)
    assert [hit["path"] for hit in found["hits"]] == ["calendar/2026/2026-08-01_oven.md"]
    assert json.loads(agentm("recall", question, "--type", "fix", "--json").stdout)["hits"] == []
    # What the rules can't tell is not refused.
    (indexed / "standards").mkdir()
    (indexed / "standards/storage-rules.md").write_text("no rules\n")
    assert agentm("recall", question, "--type", "Preference").returncode == 0
    assert agentm("recall", question, "--space", "semantic").returncode == 2
