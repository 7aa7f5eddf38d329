"""Index files that are damaged, or that a newer agentm wrote, between two runs: built anew."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.index.digests import table_digests
from agentm_assets.index.store import IndexStore

GARBAGE = b"\0garbage\xff" * 2000


def write(file: Path) -> None:
    file.write_bytes(GARBAGE)


def halve(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)


def segments(location: VaultLocation) -> list[Path]:
    """The largest files of the lexical and the vector part."""
    lexical = [file for file in location.lexical_dir.rglob("*") if file.is_file()]
    vectors = list(location.vectors_dir.glob("*.vectors.npy"))
    assert lexical and vectors
    return [max(part, key=lambda file: file.stat().st_size) for part in (lexical, vectors)]


def everything_overwritten(location: VaultLocation) -> None:
    for file in (location.duckdb_file, location.facts_file, *manifests(location)):
        write(file)


def serving_files_cut(location: VaultLocation) -> None:
    for file in (location.facts_file, *segments(location)):
        halve(file)


def manifests(location: VaultLocation) -> list[Path]:
    return [folder / "manifest.json" for folder in (location.lexical_dir, location.vectors_dir)]


def everything_newer(location: VaultLocation) -> None:
    with duckdb.connect(str(location.duckdb_file)) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    with sqlite3.connect(location.facts_file) as facts:
        facts.execute("PRAGMA user_version = 999")
    for manifest in manifests(location):
        content = json.loads(manifest.read_bytes())
        manifest.write_text(json.dumps({**content, "format": 999, "unheard_of": True}))


@pytest.fixture(scope="module")
def machine_with_vectors(new_machine: Callable[..., Any], minilm_folder: Path) -> Any:
    made = new_machine(minilm_folder.parents[2])
    made.vault.mkdir()
    for name, text in (("seal", "The gasket is silicone."), ("fuse", "Fuse F3 blows at 10 A.")):
        (made.vault / f"{name}.md").write_text(f"# {name}\n\n{text} [[seal]]\n")
    assert made.json("index")["embedded"] == 2
    return made


@pytest.mark.parametrize(
    ("harm", "tables_too"),
    [
        (everything_overwritten, True),
        (serving_files_cut, False),
        (everything_newer, True),
    ],
)
def test_a_damaged_index_is_built_anew_and_says_so(
    machine_with_vectors: Any, harm: Callable[[VaultLocation], None], tables_too: bool
) -> None:
    machine = machine_with_vectors
    location = locate(machine.env)
    with IndexStore(location.duckdb_file).transaction() as connection:
        before = table_digests(connection)
    harm(location)
    done = machine.run("index", "--json")
    assert done.returncode == 0, done.stderr
    payload = json.loads(done.stdout)
    assert (payload["notes"], payload["findings"]) == (2, [])
    if tables_too:
        assert "is built anew" in done.stderr
    with IndexStore(location.duckdb_file).transaction() as connection:
        assert table_digests(connection) == before
    answer = machine.json("recall", "which part is the rubber ring made of?")
    assert answer["mode"] == "hybrid", answer["why"]
    assert answer["hits"][0]["path"] == "seal.md"
    doctor = machine.json("doctor")
    assert {c["name"]: c["outcome"] for c in doctor["checks"] if c["outcome"] != "ok"} == {
        "git": "warn"
    }


@pytest.mark.parametrize(
    ("part", "outcome"),
    [("facts_file", 3), ("lexical_dir", 3), ("vectors_dir", 0)],
)
def test_recall_and_doctor_name_the_damaged_part_and_the_cure(
    indexed: Any, part: str, outcome: int
) -> None:
    damaged: Path = getattr(locate(indexed.env), part)
    if damaged.suffix == "":
        damaged.mkdir(exist_ok=True)
        damaged = damaged / "manifest.json"
    damaged.write_bytes(GARBAGE)
    done = indexed.run("recall", "zyxkept7", "--json")
    assert done.returncode == outcome
    said = done.stderr if outcome else json.loads(done.stdout)["why"]
    assert str(damaged) in said
    assert "agentm index" in said
    doctor = json.loads(indexed.run("doctor", "--json").stdout)
    (check,) = (c for c in doctor["checks"] if c["message"].find(str(damaged)) >= 0)
    assert check["outcome"] == ("fail" if outcome else "warn")
    assert "agentm index" in check["cure"]
