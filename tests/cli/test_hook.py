"""`agentm hook` as a host runs it: never a failure, never a wait, nothing that is not an answer."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import default_rules_text, load_rules
from agentm_assets.index.publish import publish_facts, publish_lexical
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_vault

ROOT = Path(__file__).resolve().parents[2]
Hook = Callable[..., subprocess.CompletedProcess[str]]

PATIENT = ("--budget-ms", "60000")


@pytest.fixture
def hook(env: dict[str, str], tmp_path: Path) -> Hook:
    def run(
        *arguments: str, stdin: str | dict[str, str] = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", "hook", *arguments],
            env={**env, **more},
            cwd=tmp_path,
            input=stdin if isinstance(stdin, str) else json.dumps(stdin),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def index_by_words(env: dict[str, str]) -> None:
    """What `agentm index --no-embeddings` leaves, without starting Dagster."""
    location = Settings.load(env).location
    store = IndexStore(location.duckdb_file)
    vault = open_vault(location)
    lock = location.index_dir / "pass.lock"
    reconcile(vault, store, load_rules(vault, env), ReconcileOptions(), lock_file=lock)
    publish_facts(store, location.facts_file)
    publish_lexical(store, location.lexical_dir)


@pytest.fixture
def indexed(vault: Path, env: dict[str, str]) -> Path:
    (vault / "oven.md").write_text("# Oven\n\nThe oven must be 240 degrees hot for the bread.\n")
    (vault / "lamp.md").write_text("# Lamp\n\nThe lamp on the desk takes a small bulb.\n")
    index_by_words(env)
    return vault


def failures(tmp_path: Path) -> list[str]:
    logs = list((tmp_path / "state").rglob("hooks.jsonl"))
    lines = [line for log in logs for line in log.read_text().split("\n") if line]
    return [str(json.loads(line)["reason"]) for line in lines]


def test_a_prompt_gets_the_notes_that_answer_it(hook: Hook, indexed: Path) -> None:
    done = hook("prompt", *PATIENT, stdin={"prompt": "How hot must the oven be for bread?"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<agentm-memory>\n")
    assert "240 degrees" in done.stdout and "oven.md" in done.stdout
    again = hook("prompt", *PATIENT, stdin="How hot must the oven be for bread?")
    assert again.stdout == done.stdout


def test_a_capture_of_a_moment_ago_is_recalled(
    hook: Hook, indexed: Path, agentm: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert agentm("capture", "The numbat sensor sits behind the heater plate.").returncode == 0
    done = hook("prompt", *PATIENT, stdin={"prompt": "Where does the numbat sensor sit?"})
    assert "behind the heater plate" in done.stdout


@pytest.mark.parametrize(
    "stdin", ["", " \n", "{}", '{"prompt": ""}', '{"prompt": "/clear"}', '{"prompt": 3}']
)
def test_without_a_question_nothing_is_printed(hook: Hook, indexed: Path, stdin: str) -> None:
    done = hook("prompt", *PATIENT, stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_vault_does_not_hold_is_not_printed(hook: Hook, indexed: Path) -> None:
    prompt = "Which Zyzzyva quaestor chartered the Umbellifer frigate in Ouagadougou?"
    done = hook("prompt", *PATIENT, stdin={"prompt": prompt})
    assert (done.returncode, done.stdout) == (0, "")


def test_words_alone_are_not_printed_when_they_are_unsure(
    hook: Hook, indexed: Path, agentm: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    prompt = "Which lamp should I buy?"
    answer = json.loads(agentm("recall", prompt, "--json").stdout)
    assert answer["verdict"] == "weak" and answer["hits"]
    done = hook("prompt", *PATIENT, stdin={"prompt": prompt})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_goes_wrong_is_logged_and_the_host_goes_on(
    hook: Hook, vault: Path, tmp_path: Path
) -> None:
    for event in ("prompt", "session-start", "session-end"):
        done = hook(event, stdin={"prompt": "x", "session_id": "s"}, AGENTM_VAULT="/nowhere/at/all")
        assert (done.returncode, done.stdout) == (0, "")
        assert "/nowhere/at/all" in done.stderr
    done = hook("prompt", *PATIENT, stdin={"prompt": "How hot is the oven?"})
    assert (done.returncode, done.stdout) == (0, "")
    assert "agentm index" in done.stderr
    assert "agentm index" in failures(tmp_path)[0]


def test_doctor_counts_what_hooks_could_not_do(
    hook: Hook, vault: Path, agentm: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    def looked_at() -> dict[str, str]:
        checks = json.loads(agentm("doctor", "--json").stdout)["checks"]
        return next(check for check in checks if check["name"] == "hooks")

    assert looked_at()["outcome"] == "ok"
    hook("prompt", *PATIENT, stdin={"prompt": "How hot is the oven?"})
    found = looked_at()
    assert found["outcome"] == "warn"
    assert "1 failed" in found["message"] and "agentm index" in found["message"]


def test_the_deadline_holds(hook: Hook, indexed: Path, tmp_path: Path) -> None:
    done = hook("prompt", "--budget-ms", "1", stdin={"prompt": "How hot is the oven?"})
    assert (done.returncode, done.stdout) == (0, "")
    assert "not done within 1 ms" in done.stderr


def test_a_host_that_never_closes_its_end_is_not_waited_for(
    env: dict[str, str], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentm_assets.cli.entry", "hook", "prompt"],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.wait(60) == 0
    assert process.communicate()[0] == b""


@pytest.mark.parametrize("arguments", [("nonsense",), (), ("prompt", "--nope"), ("--tokens", "x")])
def test_wrong_usage_does_not_block_a_prompt(hook: Hook, arguments: tuple[str, ...]) -> None:
    done = hook(*arguments)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("agentm: hook")


def test_the_size_is_bounded(hook: Hook, indexed: Path) -> None:
    done = hook("prompt", *PATIENT, "--tokens", "20", stdin={"prompt": "How hot is the oven?"})
    assert (done.returncode, done.stdout) == (0, "")


def test_a_session_begins_with_the_standing_rules_and_the_state_of_the_work(
    hook: Hook, vault: Path, tmp_path: Path
) -> None:
    rules = vault / "Personal" / "_always-load"
    rules.mkdir(parents=True)
    (rules / "b-long.md").write_text("word " * 5_000)
    (rules / "a-house.md").write_text("---\ntitle: House\n---\nMetric units, always.\n")
    (rules / "c-last.md").write_text("Never on Fridays.\n")
    (rules / "image.png").write_bytes(b"x")
    (vault / "Personal" / "diary.md").write_text("Secret.\n")
    state = tmp_path / "checkout" / ".harness"
    state.mkdir(parents=True)
    (state / "PLAN.md").write_text("1. Mend the boil sensor\n")
    where = str(tmp_path / "checkout")
    done = hook("session-start", *PATIENT, stdin={"cwd": where})
    assert (done.returncode, done.stderr) == (0, "")
    assert "Metric units, always." in done.stdout and "title: House" not in done.stdout
    assert "Never on Fridays." in done.stdout
    assert "word word" not in done.stdout and "b-long.md" in done.stdout
    assert "Secret" not in done.stdout
    assert "boil sensor" not in done.stdout  # a plan without its progress is neither
    (state / "progress.md").write_text("Half done.\n")
    done = hook("session-start", *PATIENT, stdin={"cwd": where})
    assert "1. Mend the boil sensor" in done.stdout and "Half done." in done.stdout


def test_excluded_rules_stay_hidden(hook: Hook, vault: Path) -> None:
    rules = vault / "personal" / "_always-load"
    rules.mkdir(parents=True)
    (rules / "draft.md").write_text("Not yet.\n")
    (vault / "standards").mkdir()
    text = default_rules_text().decode()
    assert "excludes: []" in text
    changed = text.replace("excludes: []", 'excludes: ["draft.md"]')
    (vault / "standards" / "storage-rules.md").write_text(changed)
    assert hook("session-start", *PATIENT).stdout == ""


def test_a_session_leaves_one_trace_however_often_it_ends(
    hook: Hook, vault: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    line = {
        "type": "user",
        "timestamp": "2026-08-01T10:00:00Z",
        "message": {"content": "Mend the boil sensor"},
    }
    transcript.write_text(json.dumps(line) + "\n")
    event = {"session_id": "abc", "transcript_path": str(transcript), "reason": "other"}
    for _ in range(2):
        done = hook("session-end", *PATIENT, stdin=event)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    traces = list((vault / "calendar").rglob("*.md"))
    assert len(traces) == 1
    assert traces[0].name.startswith("2026-08-01_mend-the-boil-sensor")
    assert "kind: conversation" in traces[0].read_text()
    transcript.write_text('{"type": "assistant"}\n')
    hook("session-end", *PATIENT, stdin={**event, "session_id": "silent"})
    assert len(list((vault / "calendar").rglob("*.md"))) == 1


def test_a_prompt_imports_nothing_heavy() -> None:
    statement = (
        "import sys\n"
        "import agentm_assets.cli.entry, agentm_assets.cli.hook, agentm_assets.hooks.prompt\n"
        "import agentm_assets.recall.haste, agentm_assets.index.lexical_fresh\n"
        "import agentm_assets.index.build, agentm_assets.hooks.log\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pydantic", "typer", "numpy", "rich", "mcp", "duckdb", "polars", "dagster"}


def test_hooks_that_are_switched_off_read_nothing_and_say_nothing(
    hook: Hook, tmp_path: Path
) -> None:
    for event in ("prompt", "session-start", "session-end"):
        done = hook(event, stdin={"prompt": "kettle"}, AGENTM_HOOKS="off")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "state").exists()
