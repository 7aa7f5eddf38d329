"""The round-trip probe: what it captures, what counts as found, and what becomes of its note."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.evaluation.scratch import build_index
from agentm_assets.reports import probe
from agentm_assets.reports.probe import AskingFailed, ProbeResult, read_probes, round_trip
from agentm_assets.storage.seam import StorageBackend

Trip = Callable[..., ProbeResult]


def note_of(vault: Path) -> Path:
    (found,) = (vault / "Agent/memory").rglob("round-trip-probe*.md")
    return found


@pytest.fixture
def trip(vault: Path, location: VaultLocation, backend: StorageBackend, now: datetime) -> Trip:
    """A probe whose recall gives these ranks (0: not at all) to the note."""

    def run(*ranks: int) -> ProbeResult:
        def ask(questions: Sequence[str]) -> list[list[str]]:
            own = note_of(vault).relative_to(vault).as_posix()
            return [["other.md"] * (rank - 1) + [own] if rank else ["other.md"] for rank in ranks]

        return round_trip(location, backend, os.environ, now, ask=ask)

    return run


def test_a_fact_that_is_saved_is_found_by_a_fresh_process_and_retired(
    vault: Path, notes: None, location: VaultLocation, git: Callable[..., str]
) -> None:
    build_index(Settings.load(os.environ), os.environ, None)
    done = subprocess.run(
        [sys.executable, "-m", "agentm_assets.cli.entry", "probe", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["passed"]
    assert 1 <= result["body_rank"] <= 5
    assert 1 <= result["alias_rank"] <= 5
    assert result["seconds"] <= 10
    data = note_of(vault).read_bytes()
    frontmatter = read_frontmatter(data)
    assert text_of(frontmatter, "status") == "expired"
    assert text_of(frontmatter, "probe") == "round-trip"
    assert git("log", "-1", "--format=%an%n%s").startswith("agentm-probe\nRetire the round-trip")
    own = note_of(vault).relative_to(vault).as_posix()
    counted = git("show", "--numstat", "--format=", "--", own).split()
    assert counted[:2] == ["1", "1"], "one line is edited"
    assert not (location.log_dir / "recalls.jsonl").exists(), "a probe is no genuine recall"
    assert [each.passed for each in read_probes(location)] == [True]


def test_the_words_stand_once_in_the_text_and_once_in_the_names(
    vault: Path, location: VaultLocation, backend: StorageBackend, now: datetime
) -> None:
    asked: list[str] = []
    words = iter(("bodyword", "nameword"))

    def ask(questions: Sequence[str]) -> list[list[str]]:
        asked.extend(questions)
        return [[], []]

    round_trip(location, backend, os.environ, now, ask=ask, word=lambda: next(words))
    data = note_of(vault).read_bytes()
    body = data[read_frontmatter(data).body_start :]
    assert (body.count(b"bodyword"), data.count(b"bodyword")) == (1, 1)
    assert (body.count(b"nameword"), data.count(b"nameword")) == (0, 1)
    assert "bodyword" in asked[0]
    assert "nameword" in asked[1]


@pytest.mark.parametrize(("ranks", "why"), [((0, 1), "text"), ((1, 0), "name"), ((6, 1), "text")])
def test_a_probe_that_is_not_found_fails_and_keeps_its_note(
    vault: Path, trip: Trip, location: VaultLocation, ranks: tuple[int, int], why: str
) -> None:
    result = trip(*ranks)
    assert not result.passed
    assert why in (result.why or "")
    assert "its note is kept" in result.text
    assert text_of(read_frontmatter(note_of(vault).read_bytes()), "status") == "active"
    assert [each.passed for each in read_probes(location)] == [False]


def test_a_late_answer_is_a_failure(
    vault: Path, trip: Trip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "MOST_SECONDS", -1.0)
    result = trip(1, 1)
    assert not result.passed
    assert "found after" in (result.why or "")
    assert text_of(read_frontmatter(note_of(vault).read_bytes()), "status") == "active"


def test_no_index_and_no_answer_are_said(
    vault: Path, location: VaultLocation, backend: StorageBackend, now: datetime
) -> None:
    def ask(questions: Sequence[str]) -> list[list[str]]:
        raise AskingFailed("there is no index")

    result = round_trip(location, backend, os.environ, now, ask=ask)
    assert result.why == "recall gave no answer: there is no index"
    assert result.capture_ms is not None


def test_a_capture_that_is_refused_is_a_failed_probe(
    vault: Path, location: VaultLocation, backend: StorageBackend, now: datetime
) -> None:
    for folder in ("Agent/memory/semantic",):
        (vault / "Agent/memory").mkdir(parents=True, exist_ok=True)
        (vault / folder).write_bytes(b"a file where a folder belongs")
    result = round_trip(location, backend, os.environ, now, ask=lambda questions: [[], []])
    assert not result.passed
    assert result.path is None
    assert "not captured" in (result.why or "")


def test_results_are_read_from_a_moment_on_and_torn_lines_left_out(
    trip: Trip, location: VaultLocation
) -> None:
    trip(1, 1)
    with (location.log_dir / "probes.jsonl").open("ab") as log:
        log.write(b'\n{"at": "2026-')
    assert len(read_probes(location)) == 1
    assert len(read_probes(location, "2026-08-14T05:40:00+00:00")) == 1
    assert read_probes(location, "2026-08-14T05:40:01+00:00") == []
