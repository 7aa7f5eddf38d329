"""A pass over named paths alone: what a run has written itself."""

import os
from typing import Any as Bench

from agentm_assets.index.reconcile import BRAKE_SECONDS, ReconcileOptions


def only(*paths: str) -> ReconcileOptions:
    return ReconcileOptions(only=frozenset(paths), accept_deletions=True)


def test_the_paths_are_brought_in_line_and_no_other_is(bench: Bench) -> None:
    written, other, gone = (bench.put(f"{name}.md", f"# {name}\n") for name in ("a", "b", "c"))
    bench.run()
    written.write_text("# a two\n")
    other.write_text("# b two\n")
    gone.unlink()
    report = bench.run(only("a.md"))
    assert (report.changed, report.deleted) == (1, 0)
    assert bench.rows("SELECT title FROM notes ORDER BY path") == [("a two",), ("b",), ("c",)]
    report = bench.run()
    assert (report.changed, report.deleted) == (1, 1), "what came up meanwhile is still seen"


def test_a_file_that_was_moved_away_is_dropped_at_once(bench: Bench) -> None:
    file = bench.put("a.md", "# A\n")
    bench.run()
    file.rename(bench.root / "b.md")
    report = bench.run(only("a.md", "b.md"))
    assert (report.changed, report.deleted, report.held_deletions) == (1, 1, 0)


def test_what_a_whole_pass_is_still_to_find_stays_to_be_found(bench: Bench) -> None:
    racy = bench.put("racy.md", "# one\n")
    stamp = int(bench.now * 1e9)
    os.utime(racy, ns=(stamp, stamp))
    bench.run()
    racy.write_text("# two\n")
    os.utime(racy, ns=(stamp, stamp))
    bench.now += 3600
    bench.put("mine.md", "# mine\n")
    bench.run(only("mine.md"))
    assert bench.run().changed == 1, "the pass of one file is no pass of all files"


def test_a_mass_deletion_keeps_the_moment_of_its_first_look(bench: Bench) -> None:
    for number in range(120):
        bench.put(f"{number}.md", f"# {number}\n")
    bench.run()
    for number in range(110):
        (bench.root / f"{number}.md").unlink()
    assert bench.run().held_deletions == 110
    bench.put("mine.md", "# mine\n")
    report = bench.run(only("mine.md"))
    assert (report.deleted, report.held_deletions) == (0, 0)
    bench.now += BRAKE_SECONDS
    assert bench.run().deleted == 110


def test_findings_of_other_files_stay(bench: Bench) -> None:
    bench.put("a.md", "# A\n")
    (bench.root / "link.md").symlink_to("a.md")
    before = bench.run().findings
    assert [finding.code for finding in before] == ["symlink-skipped"]
    bench.put("mine.md", "# mine\n")
    assert bench.run(only("mine.md")).findings == before
