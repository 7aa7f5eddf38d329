"""`agentm report` as a process: what it prints, what it writes, what it says of edited pages."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.scratch import build_index


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "agentm_assets.cli.entry", "report", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def indexed(notes: None, git: Callable[..., str]) -> None:
    build_index(Settings.load(os.environ), os.environ, None)


def test_all_three_are_shown_and_a_dry_run_writes_none(vault: Path, indexed: None) -> None:
    done = run("--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert list(shown) == ["graph", "health", "morning", "dry_run"]
    assert shown["graph"]["notes"] == 3
    assert set(shown["health"]["day"]["components"]) >= {"storage rules", "MCP dispatch"}
    assert "## What needs you" in shown["morning"]["text"]
    assert not any(shown[name]["written"] for name in ("graph", "health", "morning"))
    assert not (vault / "Agent/diagnostics").exists()


def test_one_is_written_and_shown_and_an_edited_page_is_named(vault: Path, indexed: None) -> None:
    done = run("morning")
    assert done.returncode == 0, done.stderr
    assert done.stdout.lstrip().startswith("# Morning note")
    folder = vault / "Agent/diagnostics/morning"
    assert len(list(folder.iterdir())) == 2
    assert not (vault / "Agent/diagnostics/health").exists()
    for page in folder.iterdir():
        page.write_bytes(page.read_bytes().replace(b"Morning note", b"My note"))
    again = run("morning")
    assert again.returncode == 0
    assert "was edited by hand and stays" in again.stderr


def test_a_name_that_is_no_report_is_refused(vault: Path) -> None:
    assert run("weather").returncode == 2


def test_without_an_index_it_says_so(vault: Path, git: Callable[..., str]) -> None:
    done = run("morning")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
