"""Identities of sources, the record of what notes can't tell, and the registry built from both."""

from pathlib import Path

import pytest

from agentm_assets.index.store import IndexStore
from agentm_assets.ledger.source_ids import NoSource, source_id
from agentm_assets.ledger.source_records import (
    RECORD,
    Cursor,
    NothingFound,
    line_of,
    records_in,
)
from agentm_assets.ledger.sources import bring_up_to_date
from agentm_assets.storage.vault_backend import VaultBackend

NOTHING = NothingFound("email:b@x.example", "h2", "ingest-1", "2026-01-01T00:00:00Z")
CURSOR = Cursor("claude-session:s1", 90, 3, "h", 90, "c", 1, "", "ingest-1", "2026-01-01T00:00:00Z")
SUPERSEDED = "superseded"


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ("HTTPS://Docs.Example:443/a/%7eb?z=1&utm_source=n&a=2#top", "url:https://docs.example/a/~b?a=2&z=1"),
        ("http://user:pw@h.example", "url:http://h.example/"),
        ("https://h.example:8443/a/../b/", "url:https://h.example:8443/b/"),
        ("email:<a@x.example>", "email:a@x.example"),
        ("claude-code-session:1", "claude-session:1"),
    ],
)  # fmt: skip
def test_spellings_of_one_source_give_one_identity(written: str, source: str) -> None:
    assert source_id(written) == source
    assert source_id(source) == source


@pytest.mark.parametrize("written", ["", "book:1", "email:", "url:ftp://h/", "https://"])
def test_what_names_no_source_is_refused(written: str) -> None:
    with pytest.raises(NoSource):
        source_id(written if "ftp" not in written else "ftp://h/")


def test_the_last_line_of_a_source_counts_and_broken_ones_are_named() -> None:
    later = Cursor(**{**{n: getattr(CURSOR, n) for n in CURSOR.__slots__}, "position": 120})
    read = records_in([line_of(CURSOR), b"{torn", line_of(NOTHING), line_of(later), b""])
    assert read.cursors == {CURSOR.source: later}
    assert read.nothing == {NOTHING.source: NOTHING}
    assert read.broken == (2,)


@pytest.mark.parametrize(
    "line",
    [
        line_of(NOTHING).replace(b'"v":1', b'"v":2'),
        line_of(CURSOR).replace(b'"position":90', b'"position":-1'),
        line_of(CURSOR).replace(b'"position":90', b'"position":true'),
        line_of(CURSOR).replace(b'"head":"h"', b'"head":7'),
        line_of(CURSOR).replace(b'"kind":"cursor"', b'"kind":"other"'),
        line_of(CURSOR).replace(b'"lines":3,', b""),
        b"[]",
        b"[" * 200_000,
    ],
    ids=["version", "negative", "boolean", "number", "kind", "missing", "list", "deep"],
)
def test_a_line_that_says_something_else_is_left_out_and_named(line: bytes) -> None:
    read = records_in([line, line_of(CURSOR)])
    assert (read.broken, read.nothing, list(read.cursors)) == ((1,), {}, [CURSOR.source])


def test_a_cursor_without_what_came_later_is_read() -> None:
    line = line_of(CURSOR).replace(b',"title":""', b"")
    assert b"title" not in line
    assert records_in([line]).cursors == {CURSOR.source: CURSOR}


def _note(folder: Path, name: str, source: str, digest: str, status: str = "unfiled") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nstatus: {status}\nsource: {source}\nsource_hash: {digest}\n"
    (folder / name).write_text(f"{text}source_version: ingest-1\n---\nBody of {name}.\n")


def test_the_registry_comes_back_from_the_notes_and_the_record(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    memory = root / "Agent" / "memory" / "semantic"
    _note(memory, "one.md", "email:a@x.example", "h1")
    _note(memory, "old.md", "email:a@x.example", "h0", SUPERSEDED)
    _note(root / "Personal", "own.md", "email:c@x.example", "h3")
    (root / RECORD.key).parent.mkdir(parents=True)
    (root / RECORD.key).write_bytes(line_of(NOTHING) + b"\n" + line_of(CURSOR) + b"\n")
    backend = VaultBackend.open(str(root), str(tmp_path / "locks"))
    store = IndexStore(tmp_path / "index.duckdb")
    first = bring_up_to_date(store, backend)
    assert set(first.sources) == {"email:a@x.example", NOTHING.source, CURSOR.source}
    assert [note.path for note in first.notes_of("email:a@x.example")] == [
        "Agent/memory/semantic/one.md"
    ]
    assert first.is_done("email:a@x.example", "h1") == "ingest-1"
    assert first.is_done("email:a@x.example", "other") is None
    assert first.is_done(NOTHING.source, "h2") == "ingest-1"
    assert first.cursor_of(CURSOR.source) == CURSOR
    assert bring_up_to_date(store, backend).sources == first.sources
    rebuilt = bring_up_to_date(IndexStore(tmp_path / "anew.duckdb"), backend)
    assert rebuilt.sources == first.sources


def test_the_tenth_version_comes_after_the_ninth(tmp_path: Path) -> None:
    memory = tmp_path / "vault" / "Agent" / "memory" / "semantic"
    for name in ("a.md", "b.md"):
        _note(memory, name, "email:a@x.example", "h1")
    for name, version in (("a.md", "ingest-10"), ("b.md", "ingest-9")):
        file = memory / name
        file.write_text(file.read_text().replace("ingest-1\n", f"{version}\n"))
    backend = VaultBackend.open(str(tmp_path / "vault"), str(tmp_path / "locks"))
    registry = bring_up_to_date(IndexStore(tmp_path / "index.duckdb"), backend)
    assert registry.is_done("email:a@x.example", "h1") == "ingest-10"
    assert registry.sources["email:a@x.example"].version == "ingest-10"
    assert registry.has_made("email:a@x.example", "h1", "ingest-9", live=True)
    assert not registry.has_made("email:a@x.example", "h1", "ingest-1")
