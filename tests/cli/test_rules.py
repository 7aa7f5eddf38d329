"""`agentm rules` as a process."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
SHIPPED = Path(__file__).resolve().parents[2] / "standards" / "storage-rules.md"


@pytest.fixture
def rules_file(vault: Path) -> Path:
    file = vault / "standards" / "storage-rules.md"
    file.parent.mkdir()
    file.write_bytes(SHIPPED.read_bytes())
    return file


def test_the_shipped_rules_hold(agentm: Run) -> None:
    done = agentm("rules", "check", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"valid": True, "path": str(SHIPPED), "violations": []}
    assert agentm("rules", "check").stdout == f"the rules hold: {SHIPPED} (default)\n"


def test_the_vaults_own_rules_precede(agentm: Run, rules_file: Path) -> None:
    shown = json.loads(agentm("rules", "show", "--json").stdout)
    assert (shown["path"], shown["source"]) == (str(rules_file), "vault")
    assert shown["rules"]["thresholds"]["low_confidence"] == 0.65
    assert "memory_types" in agentm("rules", "show").stdout


def test_broken_rules_are_named_with_their_lines_and_are_a_red_state(
    agentm: Run, rules_file: Path
) -> None:
    text = rules_file.read_text()
    broken = text.replace("decay_enabled: false", "decay_enabled: perhaps\n  surprise: 1")
    rules_file.write_text(broken)
    lines = [
        number
        for number, line in enumerate(broken.split("\n"), start=1)
        if "perhaps" in line or "surprise" in line
    ]
    done = agentm("rules", "check", "--json")
    assert done.returncode == 3
    payload = json.loads(done.stdout)
    assert payload["valid"] is False
    assert [violation["line"] for violation in payload["violations"]] == lines
    human = agentm("rules", "check")
    assert human.returncode == 3
    assert f"{rules_file}:{lines[0]}: " in human.stdout
    for command in ("show", "hash"):
        done = agentm("rules", command, "--json")
        assert done.returncode == 3
        assert done.stdout == ""
        assert f":{lines[0]}: " in done.stderr
        assert "Traceback" not in done.stderr


def test_a_ranking_edit_changes_the_ranking_hash_alone(agentm: Run, rules_file: Path) -> None:
    before = json.loads(agentm("rules", "hash", "--json").stdout)
    text = rules_file.read_text()
    rules_file.write_text(text.replace("decay_enabled: false", "decay_enabled: true"))
    after = json.loads(agentm("rules", "hash", "--json").stdout)
    assert after["rules_hash"] == before["rules_hash"]
    assert after["ranking_hash"] != before["ranking_hash"]
    assert agentm("rules", "hash").stdout.split() == [
        item for pair in after.items() for item in pair
    ]


def test_wrong_usage_and_a_missing_vault_are_exit_2(agentm: Run, tmp_path: Path) -> None:
    assert agentm("rules", "chekc").returncode == 2
    done = agentm("rules", "check", "--vault", str(tmp_path / "gone"))
    assert done.returncode == 2
    assert "does not exist" in done.stderr
