"""Publishing reads the tables in slices; how they are cut shows nowhere."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentm_assets.index import publish
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.publish import publish_facts, publish_lexical


@pytest.fixture(params=["one a slice", "by bytes", "all at once"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "one a slice":
        monkeypatch.setattr(publish, "SLICE_NOTES", 1)
    elif request.param == "by bytes":
        monkeypatch.setattr(publish, "SLICE_BYTES", 150)
    yield request.param


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(
            "SELECT path, header_path, resolved_path FROM notes JOIN chunks USING (note_id) "
            "LEFT JOIN links USING (note_id) ORDER BY path, chunks.ordinal"
        ).fetchall()


def test_full_and_partial_publishing(bench, tmp_path: Path, cut: str) -> None:
    for number in range(5):
        bench.put(f"n{number}.md", f"# Kettle {number}\n\nSee [[n{(number + 1) % 5}]].\n" * 2)
    facts, lexical = tmp_path / "s" / "facts.sqlite", tmp_path / "s" / "lexical"
    bench.run()
    assert publish_facts(bench.store, facts).full
    assert publish_lexical(bench.store, lexical).full
    both = [
        (f"n{n}.md", f"Kettle {n}", f"n{(n + 1) % 5}.md") for n in range(5) for _ in range(2 * 2)
    ]
    assert rows_of(facts) == both
    assert LexicalReader.open(lexical).count == 10

    (bench.root / "n3.md").unlink()
    bench.put("n0.md", "# Pump\n\nAlone.\n")
    bench.put("n5.md", "# Valve\n\nNew.\n")
    bench.run()
    done = publish_facts(bench.store, facts), publish_lexical(bench.store, lexical)
    # n0 written, n5 new, n3 gone; and n2, whose links have lost their target.
    assert [(each.full, each.changed) for each in done] == [(False, 4), (False, 4)]
    assert rows_of(facts)[0] == ("n0.md", "Pump", None)
    assert rows_of(facts)[-1] == ("n5.md", "Valve", None)
    assert ("n2.md", "Kettle 2", None) in rows_of(facts)
    with FactsReader.open(facts) as reader:
        assert set(reader.manifest()) == {"n0.md", "n1.md", "n2.md", "n4.md", "n5.md"}
    found = LexicalReader.open(lexical)
    assert found.count == 8
    assert len(found.search("kettle", 20)) == 6
    assert len(found.search("pump", 20)) == len(found.search("valve", 20)) == 1


def test_what_stops_between_two_slices_is_made_good(
    bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "SLICE_NOTES", 1)
    facts = tmp_path / "s" / "facts.sqlite"
    for name in ("a.md", "b.md", "c.md"):
        bench.put(name, "# Old\n")
    bench.run()
    publish_facts(bench.store, facts)
    for name in ("a.md", "b.md", "c.md"):
        bench.put(name, "# New\n\nand longer\n")
    bench.run()

    load, calls = publish.load_notes, []

    def stopping(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 2:
            raise InterruptedError
        return load(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(publish, "load_notes", stopping)
        with pytest.raises(InterruptedError):
            publish_facts(bench.store, facts)
    assert [row[1] for row in rows_of(facts)] == ["New", "Old", "Old"]
    publish_facts(bench.store, facts)
    assert [row[1] for row in rows_of(facts)] == ["New", "New", "New"]
