"""facts.sqlite: what is written is read back, whole, in one state, and damage is told apart."""

import dataclasses
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.extract.model import EntityMention
from agentm_assets.index import facts_reader, facts_writer
from agentm_assets.index.facts_reader import Counts, FactsReader
from agentm_assets.index.facts_schema import SCHEMA_VERSION
from agentm_assets.index.facts_writer import FactsWriter
from agentm_assets.index.rows import (
    AliasRow,
    ChunkRow,
    EntityRow,
    IndexedNote,
    LinkRow,
    NoteRow,
    chunk_id,
)
from agentm_assets.index.serving import ServingUnreadable


def note(
    path: str,
    *,
    chunks: int = 1,
    links: Sequence[str | None] = (),
    entities: Sequence[str] = (),
    aliases: Sequence[str] = (),
    **fields: object,
) -> IndexedNote:
    row = NoteRow(
        path=path,
        content_hash=f"hash of {path}",
        size=12,
        mtime_ns=1_700_000_000_000_000_001,
        space="memory",
        memory_class="semantic",
        title=path.rsplit("/", 1)[-1],
        type="reference",
        kind=None,
        status="active",
        altitude=None,
        captured=None,
        captured_origin=None,
        updated=None,
        slug=None,
        tags=("a", "b,c", "日本"),
        summary=None,
        lifecycle_tier=None,
        rules_hash=None,
        fingerprint=f"print of {path}",
        generated=False,
    )
    return IndexedNote(
        note=dataclasses.replace(row, **fields),  # type: ignore[arg-type]
        chunks=tuple(
            ChunkRow(
                chunk_id(path, n),
                path,
                n,
                f"H > {n}",
                2,
                n * 10,
                n * 10 + 10,
                n * 10,
                "t",
                "e",
                "h",
            )
            for n in range(chunks)
        ),
        links=tuple(link(path, n, target) for n, target in enumerate(links)),
        entities=tuple(
            EntityRow(path, EntityMention(key, "issue", key, None, 1, n, "high"))
            for n, key in enumerate(entities)
        ),
        aliases=tuple(AliasRow(path, name.upper(), name, "own") for name in aliases),
        finding=None,
    )


def link(path: str, ordinal: int, resolved: str | None) -> LinkRow:
    how = None if resolved is None else "name"
    return LinkRow(
        path, ordinal, "wikilink", "target", "Part", None, 3, 1, "body", resolved, how, ("x.md",)
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "serving" / "facts.sqlite"


@pytest.fixture
def writer(path: Path) -> Iterator[FactsWriter]:
    with FactsWriter.open(path) as opened:
        opened.replace_all([], index_id="one", rev=1, meta={})
        yield opened


def write(writer: FactsWriter, *notes: IndexedNote, deleted: Sequence[str] = ()) -> None:
    writer.apply(notes, deleted, [], index_id="one", rev=writer.rev + 1, meta={})


def test_rows_come_back_as_they_were_written(writer: FactsWriter, path: Path) -> None:
    first = note(
        "Agent/memory/semantic/%[1].md",
        chunks=3,
        links=("b.md", None),
        entities=("issue:o/r#1", "url:https://x.example/"),
        aliases=("one", "two"),
        generated=True,
        captured="2026-08-01",
        summary='it\'s "quoted"',
    )
    second = note(
        "b.md", links=(first.note.path, first.note.path, "b.md"), entities=("issue:o/r#1",)
    )
    writer.apply([first, second], [], [], index_id="one", rev=7, meta={"model_id": "m"})
    with FactsReader.open(path) as reader:
        assert reader.note(first.note.path) == first.note
        assert reader.notes_by_path(["b.md", "gone.md"]) == {"b.md": second.note}
        assert reader.outgoing(first.note.path) == first.links
        assert reader.backlinks(first.note.path) == second.links[:2]
        assert reader.backlinks("b.md") == first.links[:1]  # its own link to itself is none
        assert reader.backlink_counts([first.note.path, "b.md", "c.md"]) == {
            first.note.path: 1,
            "b.md": 1,
        }
        ids = [chunk_id(first.note.path, 2), chunk_id("gone.md", 0)]
        found = reader.chunks_by_id(ids)
        assert list(found) == ids[:1]
        assert (found[ids[0]].path, found[ids[0]].header_path, found[ids[0]].start) == (
            first.note.path,
            "H > 2",
            20,
        )
        assert [c.ordinal for c in reader.chunks_of(first.note.path)] == [0, 1, 2]
        ((chunk, ranked),) = reader.chunks_with_notes(ids)
        assert chunk == found[ids[0]]
        assert (ranked.path, ranked.captured, ranked.status) == (
            first.note.path,
            "2026-08-01",
            "active",
        )
        paths = [first.note.path, "b.md", "gone.md"]
        assert {(c.path, c.ordinal, n.path) for c, n in reader.notes_with_first_chunk(paths)} == {
            (first.note.path, 0, first.note.path),
            ("b.md", 0, "b.md"),
        }
        assert [e.path for e in reader.notes_with_entity("issue:o/r#1")] == [
            first.note.path,
            "b.md",
        ]
        assert [e.key for e in reader.entities_of(["b.md", first.note.path])[first.note.path]] == [
            "issue:o/r#1",
            "url:https://x.example/",
        ]
        assert [a.path for a in reader.aliases(["two", "three"])["two"]] == [first.note.path]
        names = reader.aliases_of([first.note.path, "b.md"])
        assert {path: [a.alias for a in found] for path, found in names.items()} == {
            first.note.path: ["ONE", "TWO"]
        }
        assert reader.notes_with_fingerprint("print of b.md") == ("b.md",)
        assert reader.manifest()["b.md"] == (12, 1_700_000_000_000_000_001, "hash of b.md")
        assert reader.counts == Counts(notes=2, chunks=4, links=5, entities=2, aliases=2)
        assert reader.meta["model_id"] == "m"
        assert (reader.meta["index_id"], reader.meta["rev"]) == ("one", "7")


def test_a_note_without_chunks_has_an_empty_span(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md", chunks=0))
    with FactsReader.open(path) as reader:
        ((chunk, ranked),) = reader.notes_with_first_chunk(["a.md"])
        assert (chunk.path, chunk.start, chunk.end, ranked.path) == ("a.md", 0, 0, "a.md")


def test_a_note_is_replaced_whole(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md", chunks=5, links=("b.md",), entities=("k",), aliases=("x",)))
    write(writer, note("a.md", chunks=3))
    with FactsReader.open(path) as reader:
        assert reader.counts == Counts(notes=1, chunks=3, links=0, entities=0, aliases=0)
        assert reader.backlinks("b.md") == ()


def test_a_deleted_note_leaves_no_row(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md", chunks=5, links=("b.md",), entities=("k",), aliases=("x",)))
    write(writer, deleted=["a.md", "never-there.md"])
    connection = sqlite3.connect(path)
    for table in ("notes", "chunks", "links", "entities", "aliases", "manifest"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    connection.close()


def test_relinking_replaces_the_links_of_the_named_notes_alone(
    writer: FactsWriter, path: Path
) -> None:
    write(writer, note("a.md", links=(None, None)), note("b.md", links=("a.md",)))
    settled = [link("a.md", 0, "b.md"), link("a.md", 1, None), link("gone.md", 0, "a.md")]
    writer.apply([], [], settled, index_id="one", rev=9, meta={})
    with FactsReader.open(path) as reader:
        assert reader.outgoing("a.md") == tuple(settled[:2])
        assert [row.path for row in reader.backlinks("b.md")] == ["a.md"]
        assert len(reader.outgoing("b.md")) == 1


def test_a_failing_batch_changes_nothing(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md"))
    with pytest.raises(sqlite3.IntegrityError):
        writer.apply(
            [note("b.md"), note("b.md")], ["a.md"], [], index_id="one", rev=99, meta={"x": "y"}
        )
    with FactsReader.open(path) as reader:
        assert reader.note("a.md") is not None
        assert reader.note("b.md") is None
        assert reader.meta["rev"] == "2"
        assert "x" not in reader.meta


def test_readers_see_the_old_state_until_a_replacement_is_complete(
    writer: FactsWriter, path: Path
) -> None:
    write(writer, note("old.md"))
    reader = FactsReader.open(path)

    def notes() -> Iterator[IndexedNote]:
        yield note("new.md")
        assert reader.note("old.md") is not None
        assert reader.note("new.md") is None
        yield note("newer.md")

    writer.replace_all(notes(), index_id="two", rev=1, meta={}, attachments=["a.png"])
    assert reader.note("old.md") is None
    assert reader.counts.notes == 2
    assert reader.attachments() == {"a.png"}
    assert set(reader.manifest()) == {"new.md", "newer.md"}
    assert (writer.index_id, writer.rev) == ("two", 1)
    reader.close()


def test_a_snapshot_holds_several_reads_to_one_state(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md"))
    with FactsReader.open(path) as reader:
        with reader.snapshot():
            assert reader.note("a.md") is not None
            write(writer, deleted=["a.md"])
            assert reader.note("a.md") is not None
        assert reader.note("a.md") is None


def test_the_manifest_can_be_replaced_and_follows_the_notes(
    writer: FactsWriter, path: Path
) -> None:
    write(writer, note("a.md"), note("b.md"))
    writer.update_files({"a.md": (1, 2, "h"), "locked.md": (3, 4, "")}, ["p.png", "q.png"], ())
    with FactsReader.open(path) as reader:
        assert reader.manifest() == {"a.md": (1, 2, "h"), "locked.md": (3, 4, "")}
        assert reader.attachments() == {"p.png", "q.png"}
        write(writer, note("b.md"), deleted=["a.md"])
        writer.update_files(reader.manifest(), ["q.png"], ())
        assert reader.manifest() == {
            "b.md": (12, 1_700_000_000_000_000_001, "hash of b.md"),
            "locked.md": (3, 4, ""),
        }
        assert reader.attachments() == {"q.png"}


def test_attachments_stay_unless_they_are_given(writer: FactsWriter, path: Path) -> None:
    writer.apply([], [], [], index_id="one", rev=2, meta={}, attachments=["b.png", "a.pdf"])
    write(writer, note("a.md"))
    with FactsReader.open(path) as reader:
        assert reader.attachments() == {"a.pdf", "b.png"}


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        (None, None, ["d", "c", "b", "a"]),
        ("2026-08-01", None, ["d", "c", "b"]),
        (None, "2026-08-01", ["c", "b", "a"]),
        ("2026-08-01", "2026-08-01", ["c", "b"]),
        ("2027-01-01", None, []),
    ],
)
def test_captured_ranges_are_days_and_inclusive(
    writer: FactsWriter, path: Path, first: str | None, last: str | None, found: list[str]
) -> None:
    write(
        writer,
        note("a", captured="2026-07-31T23:59:59+02:00"),
        note("b", captured="2026-08-01"),
        note("c", captured="2026-08-01T23:30:00Z"),
        note("d", captured="2026-08-02"),
        note("e"),
    )
    with FactsReader.open(path) as reader:
        assert [p for p, _ in reader.captured_between(first, last)] == found


def test_the_altitude_share_counts_memory_notes_that_no_pass_writes(
    writer: FactsWriter, path: Path
) -> None:
    write(
        writer,
        note("a.md", altitude="artifact"),
        note("b.md"),
        note("c.md", generated=True),
        note("d.md", space="projects", altitude="canonical"),
    )
    with FactsReader.open(path) as reader:
        assert reader.altitude_share == 0.5


def test_more_ids_than_one_statement_takes(writer: FactsWriter, path: Path) -> None:
    count = 2 * facts_reader._SLICE + 1
    write(writer, note("a.md", chunks=count), *(note(f"n{n}.md") for n in range(count)))
    with FactsReader.open(path) as reader:
        assert len(reader.chunks_by_id([chunk_id("a.md", n) for n in range(count)])) == count
        assert len(reader.notes_by_path([f"n{n}.md" for n in range(count)])) == count


def test_a_commit_is_found_in_every_length(writer: FactsWriter, path: Path) -> None:
    write(
        writer,
        note("long.md", entities=("commit:o/r@9fceb02d1e",)),
        note("short.md", entities=("commit:o/r@9fceb02",)),
        note("other.md", entities=("commit:o/r@9fceb03aaa", "commit:9fceb02d1e")),
        note("third.md", entities=("commit:o/r2@9fceb02d1e",)),
    )
    with FactsReader.open(path) as reader:
        for asked in ("9fceb02", "9fceb02d1e", "9fceb02d"):
            found = reader.notes_with_commit(f"commit:o/r@{asked}")
            assert [e.path for e in found] == ["long.md", "short.md"]
        assert [e.path for e in reader.notes_with_commit("commit:9fceb02")] == ["other.md"]


def test_a_missing_file_is_unreadable(path: Path) -> None:
    with pytest.raises(ServingUnreadable, match="no facts file"):
        FactsReader.open(path)


def test_an_empty_or_foreign_file_is_unreadable_and_is_started_anew(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    with pytest.raises(ServingUnreadable, match="not a facts file"):
        FactsReader.open(path)
    with FactsWriter.open(path) as writer:
        assert writer.rebuilt == "the facts file is not one of agentm's"
        assert writer.index_id is None
    with pytest.raises(ServingUnreadable, match="never filled"):
        FactsReader.open(path)


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, SCHEMA_VERSION - 1])
def test_another_version_is_unreadable_and_is_started_anew(
    writer: FactsWriter, path: Path, version: int
) -> None:
    writer.close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(ServingUnreadable, match=f"has format {version}"):
        FactsReader.open(path)
    with FactsWriter.open(path) as again:
        assert again.rebuilt is not None
        assert f"format {version}" in again.rebuilt
        again.replace_all([note("a.md")], index_id="x", rev=1, meta={})
    with FactsReader.open(path) as reader:
        assert reader.counts.notes == 1


@pytest.mark.parametrize("damage", ["truncated", "garbage", "middle"])
def test_damage_is_unreadable_and_is_started_anew(
    writer: FactsWriter, path: Path, damage: str
) -> None:
    write(writer, *(note(f"n{n}.md", chunks=20, links=("a.md",)) for n in range(200)))
    writer.close()
    data = bytearray(path.read_bytes())
    if damage == "truncated":
        data = data[: len(data) // 2]
    elif damage == "garbage":
        data[:] = b"not a database at all" * 100
    else:
        data[8192 : len(data) - 4096] = bytes(len(data) - 12288)
    path.write_bytes(data)
    with pytest.raises(ServingUnreadable), FactsReader.open(path) as reader:
        reader.chunks_by_id([chunk_id(f"n{n}.md", 3) for n in range(200)])
        reader.manifest()
    with FactsWriter.open(path) as again:
        assert again.rebuilt == "the facts file is damaged"
        again.replace_all([note("a.md")], index_id="x", rev=1, meta={})
    with FactsReader.open(path) as reader:
        assert reader.counts.notes == 1


def test_an_open_reader_keeps_its_state_when_the_file_is_started_anew(
    writer: FactsWriter, path: Path
) -> None:
    write(writer, note("a.md"))
    with FactsReader.open(path) as reader:
        writer.close()
        shutil.rmtree(path.parent)
        with FactsWriter.open(path) as again:
            again.replace_all([note("b.md")], index_id="x", rev=1, meta={})
        assert reader.note("a.md") is not None


def test_it_is_read_without_log_files_in_a_folder_that_cannot_be_written() -> None:
    program = (
        "import os, sys; from pathlib import Path\n"
        "from agentm_assets.index.facts_reader import FactsReader\n"
        # root may write anywhere, so the reader becomes somebody else
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "print(FactsReader.open(Path(sys.argv[1])).counts.notes)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "facts.sqlite")
        with FactsWriter.open(path) as writer:
            writer.replace_all([note("a.md")], index_id="one", rev=1, meta={})
        assert os.listdir(folder) == ["facts.sqlite"]
        os.chmod(folder, 0o555)
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
        )
        assert os.listdir(folder) == ["facts.sqlite"]
        os.chmod(folder, 0o755)
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_a_busy_writer_is_not_taken_for_damage(writer: FactsWriter, path: Path) -> None:
    write(writer, note("a.md"))
    entered, leave = threading.Event(), threading.Event()

    def notes() -> Iterator[IndexedNote]:
        entered.set()
        leave.wait(30)
        yield note("b.md")

    def replace() -> None:
        with FactsWriter.open(path) as other:
            other.replace_all(notes(), index_id="two", rev=1, meta={})

    thread = threading.Thread(target=replace)
    thread.start()
    assert entered.wait(30)
    with FactsReader.open(path) as reader:
        assert reader.note("a.md") is not None
    threading.Timer(0.2, leave.set).start()
    with FactsWriter.open(path) as third:  # waits for the other instead of starting anew
        assert third.rebuilt is None
        third.apply([note("c.md")], [], [], index_id="two", rev=2, meta={})
    thread.join()
    with FactsReader.open(path) as reader:
        assert set(reader.manifest()) == {"b.md", "c.md"}


def test_a_writer_that_waits_too_long_says_so_and_leaves_the_file(
    writer: FactsWriter, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(writer, note("a.md"))
    monkeypatch.setattr(facts_writer, "BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    writer.close()
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("DELETE FROM attachments")
    with pytest.raises(ServingUnreadable, match="locked"):
        FactsWriter.open(path)
    holder.execute("ROLLBACK")
    holder.close()
    with FactsReader.open(path) as reader:
        assert reader.note("a.md") is not None


def test_the_reader_needs_the_standard_library_alone() -> None:
    program = (
        "import sys; import agentm_assets.index.facts_reader; "
        "print([m for m in ('pydantic', 'numpy', 'duckdb', 'polars', 'tantivy') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


NOTES = st.builds(
    note,
    st.sampled_from(["a.md", "b.md", "c/d.md", "é.md"]),
    chunks=st.integers(0, 3),
    links=st.lists(st.sampled_from(["a.md", "b.md", None]), max_size=3),
    entities=st.lists(st.sampled_from(["k1", "k2"]), max_size=2, unique=True),
    aliases=st.lists(st.text(max_size=3), max_size=2, unique=True),
    title=st.text(),
)
STEPS = st.lists(
    st.tuples(
        st.lists(NOTES, max_size=3, unique_by=lambda n: n.note.path),
        st.sets(st.sampled_from(["a.md", "b.md", "zz.md"])),
    ),
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_any_sequence_of_changes_equals_writing_the_end_state_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[list[IndexedNote], set[str]]]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    expected: dict[str, IndexedNote] = {}
    with FactsWriter.open(folder / "step.sqlite") as stepwise:
        stepwise.replace_all([], index_id="i", rev=0, meta={})
        for rev, (upserts, deleted) in enumerate(steps, start=1):
            stepwise.apply(upserts, sorted(deleted), [], index_id="i", rev=rev, meta={})
            for path in deleted:
                expected.pop(path, None)
            expected |= {n.note.path: n for n in upserts}
    with FactsWriter.open(folder / "whole.sqlite") as whole:
        whole.replace_all(expected.values(), index_id="i", rev=len(steps), meta={})
    with (
        FactsReader.open(folder / "step.sqlite") as left,
        FactsReader.open(folder / "whole.sqlite") as right,
    ):
        assert left.meta == right.meta
        assert left.manifest() == right.manifest()
        for path in expected:
            assert left.note(path) == right.note(path) == expected[path].note
            assert left.chunks_of(path) == right.chunks_of(path)
            assert left.outgoing(path) == right.outgoing(path) == expected[path].links
            assert left.backlinks(path) == right.backlinks(path)
            assert left.entities_of([path]) == right.entities_of([path])
