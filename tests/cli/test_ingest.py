"""`agentm ingest` and `agentm sources`, each in a process of its own."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SAMPLES = Path(__file__).resolve().parents[1] / "ingest" / "samples"


@pytest.fixture
def logs(tmp_path: Path, vault: Path) -> Path:
    (vault / "note.md").write_text("A note.\n")
    return Path(shutil.copytree(SAMPLES, tmp_path / "logs"))


def test_a_sweep_is_told_and_a_second_one_finds_nothing(agentm: Run, logs: Path) -> None:
    planned = agentm("ingest", str(logs), "--dry-run")
    assert "notes would be made: 24" in planned.stdout and "would make: " in planned.stdout
    first = agentm("ingest", str(logs))
    assert first.returncode == 0, first.stderr
    assert "notes made: 24" in first.stdout and "traces: 12" in first.stdout
    assert "unknown record type: claude-code: hologram (2)" in first.stdout
    assert "taken back by: agentm revert ingest-" in first.stdout
    again = json.loads(agentm("ingest", str(logs), "--json").stdout)
    assert (again["counts"], again["made"], again["runs"]) == ({"current": 21}, [], [])


def test_recall_finds_at_once_what_was_ingested(agentm: Run, logs: Path) -> None:
    made = json.loads(agentm("ingest", str(logs / "mail"), "--json").stdout)["made"]
    answer = agentm("recall", "what do the snow guards of the barn roof cost", "--json")
    hits = [hit["path"] for hit in json.loads(answer.stdout)["hits"]]
    assert hits[0] in made and "barn-roof" in hits[0]


def test_sources_say_what_was_read_and_how_far(agentm: Run, logs: Path) -> None:
    agentm("ingest", str(logs))
    found = {each["source"]: each for each in json.loads(agentm("sources", "--json").stdout)}
    assert len(found) == 21
    kiln = found["claude-session:5f0e3c1a-7b2d-4c4e-9a61-0d8e2f6b1a01"]
    size = next((logs / "claude-code/-home-op-src-kiln").iterdir()).stat().st_size
    assert (kiln["shape"], kiln["notes"], kiln["live"], kiln["position"]) == ("growing", 3, 3, size)
    told = agentm("sources", "--namespace", "email").stdout
    assert "email:away-1@firm.example  nothing to keep" in told and "sources: 6" in told


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nowhere.jsonl",), 2, "is not there"),
        (("--kind", "fax", "."), 2, "no such kind"),
        (("--kind", "mail", "https://a.example/"), 2, "an address is a web page"),
        (("http://127.0.0.1:9/",), 3, ""),
    ],
)
def test_what_cannot_be_read_is_said(
    agentm: Run, logs: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    run = agentm("ingest", *arguments)
    assert run.returncode == code
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_the_operators_own_space_is_refused(agentm: Run, logs: Path, vault: Path) -> None:
    (vault / "personal").mkdir()
    run = agentm("ingest", str(vault / "personal"))
    assert run.returncode == 2 and "personal/ is the operator's own" in run.stderr
