"""The journal: many writers, torn lines, and marks that spare readers what others have seen."""

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.capture import journal
from agentm_assets.capture.journal import JournalEntry
from agentm_assets.config.vault import VaultLocation

Desk = Any  # the class in conftest.py, which cannot be imported from here


def entry(number: int) -> JournalEntry:
    return JournalEntry(
        f"Agent/memory/semantic/2026/08/n-{number}.md",
        f"{number:064x}",
        f"{number + 10**9:064x}",
        "2026-08-19T10:00:00Z",
        "operator",
    )


def fill(location: VaultLocation, *numbers: int) -> None:
    for number in numbers:
        journal.append(location, entry(number))


def paths(waiting: journal.Waiting) -> list[str]:
    return [each.path.rpartition("-")[2].removesuffix(".md") for each in waiting.entries]


@pytest.fixture
def location(desk: Desk) -> VaultLocation:
    found: VaultLocation = desk.location
    return found


def log(location: VaultLocation) -> Path:
    return location.log_dir / "captures.jsonl"


def test_before_the_first_capture_nothing_waits(location: VaultLocation) -> None:
    assert journal.not_indexed(location) == ((), 0, journal.START)
    assert journal.paths_with_fingerprint(location, "0" * 64) == []
    assert not location.state_dir.exists()


def test_what_was_captured_waits_for_both_readers(location: VaultLocation) -> None:
    fill(location, 1, 2, 3)
    assert journal.not_indexed(location).entries == (entry(1), entry(2), entry(3))
    assert paths(journal.not_committed(location)) == ["1", "2", "3"]


def test_marks_are_of_their_own(location: VaultLocation) -> None:
    fill(location, 1, 2)
    journal.mark_committed(location, journal.not_committed(location).end)
    fill(location, 3)
    journal.mark_indexed(location, journal.end_of_journal(location))
    fill(location, 4)
    assert paths(journal.not_committed(location)) == ["3", "4"]
    assert paths(journal.not_indexed(location)) == ["4"]
    assert paths(journal.not_served(location, 10)) == ["1", "2", "3", "4"]
    journal.mark_served(location)
    assert paths(journal.not_served(location, 10)) == ["4"]
    # A capture that is indexed later moves one mark and not the other.
    journal.mark_indexed(location, journal.end_of_journal(location))
    assert paths(journal.not_indexed(location)) == []
    assert paths(journal.not_served(location, 10)) == ["4"]


def test_a_deleted_index_makes_all_of_it_wait_again(location: VaultLocation) -> None:
    fill(location, 1, 2)
    journal.mark_committed(location, journal.not_committed(location).end)
    journal.mark_indexed(location, journal.end_of_journal(location))
    journal.mark_served(location)
    size = log(location).stat().st_size
    (location.index_dir / "captures-indexed.json").unlink()
    assert paths(journal.not_indexed(location)) == ["1", "2"]
    assert paths(journal.not_committed(location)) == []
    assert log(location).stat().st_size == size


def test_a_path_is_listed_once_as_it_is_last(location: VaultLocation) -> None:
    fill(location, 1, 2)
    later = JournalEntry(entry(1).path, "f" * 64, entry(1).fingerprint, "later", "capture")
    journal.append(location, later)
    assert journal.not_indexed(location).entries == (entry(2), later)


def test_forgetting_is_for_recall_alone_and_hides_no_capture(location: VaultLocation) -> None:
    fill(location, 1)
    for number in (1, 2):
        journal.append(location, replace(entry(number), by=journal.FORGETTING))
    assert journal.not_committed(location).entries == (entry(1),)
    assert journal.not_indexed(location).entries == (entry(1),)
    assert paths(journal.not_served(location, 10)) == ["1", "2"]


def test_torn_and_foreign_lines_cost_only_themselves(location: VaultLocation) -> None:
    fill(location, 1)
    whole = log(location).read_bytes()
    with log(location).open("ab") as file:
        file.write(whole[:-20])  # a kill or a full disk in the middle of a line
    fill(location, 2)
    with log(location).open("ab") as file:
        file.write(b'\n{"of": "a later version"}\n[]\nnull\n{"path": 7}\n\xff\xfe\n')
    fill(location, 3)
    waiting = journal.not_indexed(location)
    assert paths(waiting) == ["1", "2", "3"]
    assert journal.paths_with_fingerprint(location, entry(2).fingerprint) == [entry(2).path]


def test_a_line_that_is_being_written_stays_behind_the_mark(location: VaultLocation) -> None:
    fill(location, 1)
    line = ("\n" + json.dumps({**dict.fromkeys(journal._FIELDS, "x")}) + "\n").encode()
    with log(location).open("ab") as file:
        file.write(line[:30])
    end = journal.not_committed(location).end
    journal.mark_committed(location, end)
    with log(location).open("ab") as file:
        file.write(line[30:])
    assert [each.path for each in journal.not_committed(location).entries] == ["x"]


def test_another_journal_in_its_place_is_read_from_its_beginning(location: VaultLocation) -> None:
    fill(location, *range(9))
    journal.mark_committed(location, journal.not_committed(location).end)
    log(location).unlink()
    fill(location, 11)
    assert paths(journal.not_committed(location)) == ["11"]
    fill(location, *range(20, 40))  # longer than the old one
    assert len(journal.not_committed(location).entries) == 21


def test_a_damaged_mark_is_none(location: VaultLocation) -> None:
    fill(location, 1)
    journal.mark_committed(location, journal.not_committed(location).end)
    for damage in (b"", b"{", b"[]", b'{"committed": {"offset": "x", "check": 1}}', b"null"):
        (location.log_dir / "captures-committed.json").write_bytes(damage)
        assert paths(journal.not_committed(location)) == ["1"]


def test_only_the_newest_are_read_and_the_others_counted(location: VaultLocation) -> None:
    fill(location, *range(50))
    waiting = journal.not_served(location, 5)
    assert paths(waiting) == ["45", "46", "47", "48", "49"]
    assert waiting.older == 45


def test_a_long_journal_is_looked_at_from_its_end(
    location: VaultLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_TAIL_BYTES", 4_000)
    fill(location, *range(100))
    waiting = journal.not_served(location, 1000)
    assert paths(waiting)[-1] == "99"
    assert 5 < len(waiting.entries) < 30
    assert waiting.older + len(waiting.entries) == 100
    assert journal.paths_with_fingerprint(location, entry(99).fingerprint) == [entry(99).path]
    # What git has not been told of is never passed over.
    assert len(journal.not_committed(location).entries) == 100


def _append_many(location: VaultLocation, first: int) -> None:
    fill(location, *range(first, first + 200))


def test_lines_of_many_processes_never_mix(location: VaultLocation) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_append_many, args=(location, 1000 * number)) for number in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert len(journal.not_indexed(location).entries) == 800
    lines = [line for line in log(location).read_bytes().split(b"\n") if line]
    assert all(json.loads(line)["by"] == "operator" for line in lines)


def test_old_captures_cost_nothing(location: VaultLocation, growth: Any) -> None:
    """Behind a mark, 20 and 8,000 entries are the same work."""

    def asked() -> None:
        for _ in range(20):
            journal.not_indexed(location)
            journal.paths_with_fingerprint(location, "e" * 64)

    fill(location, *range(20))
    journal.mark_indexed(location, journal.end_of_journal(location))
    fill(location, 1_000_001)
    few = growth(lambda: None, asked, 0.001)
    fill(location, *range(8_000))
    journal.mark_indexed(location, journal.end_of_journal(location))
    fill(location, 1_000_002)
    many = growth(lambda: None, asked, 0.001)
    assert many < 8 * max(1.0, few)
