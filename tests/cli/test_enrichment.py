"""`agentm backfill`, `agentm review` and what `agentm status` says of judgments, as processes."""

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.config.vault import locate
from agentm_assets.contract.rules import default_rules_text
from agentm_assets.models.protocol import ModelReply, Usage
from agentm_assets.models.spend import SpendLog

Run = Callable[..., subprocess.CompletedProcess[str]]

NOTE = """---
type: reference
status: unfiled
captured: {captured}
---
{body}
"""
FIX = """The kettle failed with error E42 and crashed at start. The cause was a corroded relay.
Fixed by replacing the relay K1; after that it works again."""
VAGUE = "Blue, mostly."


@pytest.fixture
def ask(
    agentm: Run, env: dict[str, str], vault: Path, minilm_folder: Path
) -> Callable[..., dict[str, Any]]:
    """Run a command with --json on a vault under git, and give what it prints."""
    env["XDG_CACHE_HOME"] = str(minilm_folder.parents[2])
    (vault / "standards").mkdir()
    (vault / "standards/storage-rules.md").write_bytes(default_rules_text())
    for arguments in (
        ["init", "-q"],
        ["config", "user.name", "Olga"],
        ["config", "user.email", "olga@example.org"],
    ):
        subprocess.run(["git", "-C", str(vault), *arguments], check=True)

    def run(*arguments: str, code: int = 0) -> dict[str, Any]:
        done = agentm(*arguments, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    return run


def put(vault: Path, name: str, body: str, captured: str) -> str:
    path = f"Agent/memory/semantic/{name}.md"
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text(NOTE.format(captured=captured, body=body))
    return path


def test_from_a_capture_over_an_edit_of_the_rules_to_the_operators_word(
    ask: Callable[..., dict[str, Any]], vault: Path, agentm: Run
) -> None:
    put(vault, "relay", FIX, "2026-03-01T08:00:00Z")
    vague = put(vault, "vague", VAGUE, "2026-04-01T08:00:00Z")
    indexed = ask("index")
    assert (indexed["judged"], indexed["judged_left"]) == (2, 0)

    rules = vault / "standards/storage-rules.md"
    edited = rules.read_text().replace("  idea: semantic", "  idea: procedural")
    rules.write_text(edited)
    said = agentm("status").stdout
    assert "2 judged notes: 2 since the rules changed (routing.idea)" in said
    assert "1 for you (agentm review list)" in said
    planned = ask("backfill", "--dry-run")
    assert planned["stale"] == {"2026-03": 1, "2026-04": 1}
    assert planned["estimate"]["calls"] == 0

    (_, march) = ask("backfill", "--month", "2026-03")["runs"]
    assert (march["month"], march["enriched"]) == ("2026-03", 1)
    state = ask("status")
    assert (state["stale_notes"], state["unjudged"], state["for_review"]) == (1, 0, 1)
    (because,) = state["stale_because"]
    assert (because["changed"], because["what"]) == ("rules", ["routing.idea"])
    runs = ask("backfill")["runs"]
    assert [(run["month"], run["enriched"]) for run in runs] == [(None, 0), ("2026-04", 1)]

    (waiting,) = ask("review", "list")["notes"]
    assert waiting["path"] == vague
    rules.write_text(edited.replace("default_type: reference", "default_type: nope"))
    assert "default_type" in ask("review", "accept", vague, code=3)["error"]
    shown = ask("review", "show", vague)
    assert "+enriched_by: extractive-1" in shown["judged_diff"], "reading goes on meanwhile"
    rules.write_text(edited)
    accepted = ask("review", "accept", vague)
    assert accepted["changed"] and accepted["history"]["kind"] == "committed"
    assert "status: active" in (vault / vague).read_text()
    again = ask("review", "retype", vague, "--type", "preference", "--dry-run")
    assert not again["changed"] and "+type: preference" in again["diff"]
    again = ask("review", "retype", vague, "--type", "preference")
    assert again["changed"] and "enriched_by: operator" in (vault / vague).read_text()
    agentm("revert", again["run"])
    assert "type: preference" not in (vault / vague).read_text()
    rejected = ask("review", "reject", vague, "--reason", "said before")
    assert rejected["changed"] and "+status: expired" in rejected["diff"]
    assert ask("review", "reject", "personal/x.md", code=2)["error"].startswith("agentm: ")


def test_status_says_who_judges_and_what_it_has_spent_today(
    ask: Callable[..., dict[str, Any]], env: dict[str, str], vault: Path, agentm: Run
) -> None:
    put(vault, "relay", FIX, "2026-03-01T08:00:00Z")
    ask("index")
    assert ask("status")["serving"] is None
    assert "none configured; the built-in judge files notes" in agentm("status").stdout
    location = locate(env)
    location.config_file.parent.mkdir(parents=True, exist_ok=True)
    location.config_file.write_text(
        '[profiles.default.models.strong]\nprovider = "openai-compatible"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:9/v1"\ndaily_tokens = 5000\n'
    )
    reply = ModelReply("{}", "m", Usage(1_000, 200, None), 1.0)
    SpendLog(location).record("strong", reply, pass_name="p", run_id="r", now=datetime.now(UTC))
    state = ask("status")
    (spent,) = [each for each in state["spent_today"] if each["tier"] == "strong"]
    assert state["serving"] == "strong"
    assert (spent["calls"], spent["tokens"], spent["daily_tokens"]) == (1, 1_200, 5_000)
    said = agentm("status").stdout
    assert "enrichment: strong (" in said and "strong: 1,200 of 5,000 tokens" in said
    (location.log_dir / "spend.jsonl").unlink()
    (location.log_dir / "spend.jsonl").mkdir()
    assert "can't be read" in ask("status", code=3)["error"]


def test_a_dry_run_says_what_is_not_indexed_yet_and_what_a_gate_holds(
    ask: Callable[..., dict[str, Any]], vault: Path, agentm: Run
) -> None:
    put(vault, "relay", FIX, "2026-03-01T08:00:00Z")
    odd = vault / put(vault, "odd", FIX, "2026-03-02T08:00:00Z")
    odd.write_bytes(odd.read_bytes() + b"caf\xe9\n")
    assert ask("index")["judged"] == 1
    put(vault, "later", FIX.replace("frob", "knob"), "2026-03-03T08:00:00Z")
    planned = ask("backfill", "--dry-run")
    assert (planned["unjudged"], planned["not_indexed"]) == ({}, 1)
    assert planned["held"] == {"eligibility-not-utf8": 1}
    said = agentm("backfill", "--dry-run").stdout
    assert "not indexed yet: 1" in said and "the built-in judge files notes" in said

    enriched = json.loads(agentm("history", "--json").stdout)
    (run,) = [each["run"] for each in enriched if each["pass_name"] == "enrich"]
    ask("revert", run)
    ask("index")
    state = ask("status")
    (waiting,) = ask("review", "list")["notes"]
    assert (waiting["why"], state["for_review"]) == ("taken-back", 1)
    assert (state["unjudged"], state["for_judge"]) == (2, 0)
    assert "[invalid-utf8]" in agentm("status", "--findings").stdout


def test_a_month_that_is_none_is_refused(agentm: Run) -> None:
    done = agentm("backfill", "--month", "2026-13")
    assert done.returncode == 2
    assert "2026-08" in done.stderr
