"""Which room may import what: one way down, and Dagster only where its assets are."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOMAIN = sorted((ROOT / "agentm_assets").rglob("*.py"))


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            names.add(node.module or "")
    return names


def may_import_dagster(file: Path) -> bool:
    relative = file.relative_to(ROOT / "agentm_assets")
    return relative.name in ("assets.py", "definitions.py") or "assets" in relative.parts


@pytest.mark.parametrize("file", DOMAIN, ids=lambda f: str(f.relative_to(ROOT)))
def test_only_assets_import_dagster_and_its_wiring(file: Path) -> None:
    roots = {name.split(".")[0] for name in imported(file)}
    if not may_import_dagster(file) and "cli" not in file.parts:
        assert not roots & {"dagster", "resources", "sensors", "schedules"}


@pytest.mark.parametrize("room", ["contract", "extract", "storage"])
def test_the_lower_rooms_stay_light(room: str) -> None:
    heavy = {"dagster", "torch", "duckdb", "polars", "numpy", "sentence_transformers", "typer"}
    for file in (ROOT / "agentm_assets" / room).glob("*.py"):
        assert not {name.split(".")[0] for name in imported(file)} & heavy, file


def loaded_by(statement: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{statement}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_recall_and_what_capture_needs_load_neither_dagster_nor_a_model_library() -> None:
    heavy = {"dagster", "torch", "duckdb", "polars", "sentence_transformers", "transformers"}
    recall = loaded_by("import agentm_assets.cli.app, agentm_assets.cli.recall")
    assert not recall & heavy
    capture = loaded_by("import agentm_assets.cli.capture, agentm_assets.capture.transaction")
    # What a real run loads at its end: tests/capture/test_processes.py.
    assert not capture & (heavy | {"pydantic", "typer", "numpy", "rich", "tantivy", "yaml"})
    edits = loaded_by("import agentm_assets.capture.again, agentm_assets.index.facts_reader")
    assert not edits & (heavy | {"pydantic", "typer", "numpy", "rich"})


def test_capture_imports_no_heavy_library_even_inside_a_function() -> None:
    heavy = {"dagster", "torch", "duckdb", "polars", "numpy", "typer", "pydantic", "tantivy"}
    for file in (ROOT / "agentm_assets" / "capture").glob("*.py"):
        assert not {name.split(".")[0] for name in imported(file)} & heavy, file
