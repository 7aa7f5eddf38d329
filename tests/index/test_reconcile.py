"""One pass over a vault: exact, incremental, resumable, and identical to a rebuild."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentm_assets.index import reconcile as module
from agentm_assets.index.reconcile import BRAKE_SECONDS, ReconcileOptions
from agentm_assets.index.store import IndexStore, get_meta
from agentm_assets.storage.seam import StoreUnreachable


def test_a_second_pass_over_the_same_vault_does_nothing_and_says_so(bench) -> None:
    bench.put("a.md", "# A\n\nsee [[b]]\n")
    bench.put("b.md", "# B\n")
    assert bench.run().changed == 2
    before = bench.digests()
    bench.now += 10_000
    report = bench.run()
    assert report.did_nothing
    assert (report.changed, report.unchanged, report.notes) == (0, 2, 2)
    assert bench.digests() == before


def test_a_new_stamp_on_the_same_bytes_changes_no_row(bench) -> None:
    file = bench.put("a.md", "# A\n")
    bench.run()
    before = bench.digests()
    os.utime(file, ns=(10**18, 10**18))
    report = bench.run()
    assert (report.changed, report.touched) == (0, 1)
    assert bench.digests() == before
    assert bench.rows("SELECT mtime_ns FROM notes") == [(10**18,)]


def test_new_bytes_under_an_old_stamp_are_found_by_the_hash_pass(bench) -> None:
    file = bench.put("a.md", "# one\n")
    os.utime(file, ns=(10**18, 10**18))
    bench.run()
    file.write_text("# two\n")
    os.utime(file, ns=(10**18, 10**18))
    assert bench.run().changed == 0
    assert bench.run(ReconcileOptions(hash_all=True)).changed == 1
    assert bench.rows("SELECT title FROM notes") == [("two",)]


def test_new_bytes_in_the_same_instant_as_the_last_pass_are_found(bench) -> None:
    file = bench.put("a.md", "# one\n")
    stamp = int(bench.now * 1e9)
    os.utime(file, ns=(stamp, stamp))
    bench.run()
    file.write_text("# two\n")
    os.utime(file, ns=(stamp, stamp))
    assert bench.run().changed == 1


def test_a_shrunken_note_leaves_no_chunk_behind(bench) -> None:
    bench.put("a.md", "# 1\n\nx\n\n# 2\n\nx\n\n# 3\n\nx\n")
    bench.run()
    assert bench.rows("SELECT count(*) FROM chunks") == [(3,)]
    bench.put("a.md", "# 1\n\nx\n")
    bench.run()
    assert bench.rows("SELECT count(*) FROM chunks") == [(1,)]
    bench.put("a.md", "")
    bench.run()
    assert bench.rows("SELECT count(*) FROM chunks") == [(0,)]
    assert bench.rows("SELECT count(*) FROM notes") == [(1,)]


def test_a_link_resolves_when_its_target_appears_and_dangles_again_when_it_goes(bench) -> None:
    bench.put("a.md", "[[b]] and [[other name]]\n")
    bench.run()
    assert bench.links() == {("a.md", "b"): None, ("a.md", "other name"): None}
    target = bench.put("deep/b.md", "---\naliases: [Other Name]\n---\n")
    report = bench.run()
    assert (report.changed, report.relinked) == (1, 1)
    assert bench.links() == {("a.md", "b"): "deep/b.md", ("a.md", "other name"): "deep/b.md"}
    target.unlink()
    report = bench.run()
    assert (report.deleted, report.relinked) == (1, 1)
    assert bench.links() == {("a.md", "b"): None, ("a.md", "other name"): None}


def test_a_nearer_target_takes_the_link_over(bench) -> None:
    bench.put("x/a.md", "[[b]]\n")
    bench.put("y/b.md", "")
    bench.run()
    assert bench.links() == {("x/a.md", "b"): "y/b.md"}
    bench.put("x/b.md", "")
    bench.run()
    assert bench.links() == {("x/a.md", "b"): "x/b.md"}
    assert bench.rows("SELECT candidates FROM links") == [(["y/b.md"],)]


def test_an_alias_that_is_taken_away_un_resolves(bench) -> None:
    bench.put("a.md", "[[the pot]]\n")
    bench.put("b.md", "---\naliases: [The Pot]\n---\n")
    bench.run()
    assert bench.links() == {("a.md", "the pot"): "b.md"}
    bench.put("b.md", "---\naliases: []\n---\n")
    bench.run()
    assert bench.links() == {("a.md", "the pot"): None}


def test_an_attachment_resolves_without_becoming_a_note(bench) -> None:
    bench.put("a.md", "![[plan.pdf]]\n")
    bench.run()
    bench.put("files/plan.pdf", b"%PDF")
    bench.run()
    assert bench.links() == {("a.md", "plan.pdf"): "files/plan.pdf"}
    assert bench.rows("SELECT path FROM notes") == [("a.md",)]


def test_deleting_a_note_takes_all_its_rows(bench) -> None:
    file = bench.put("a.md", "# Time To First Byte (TTFB)\n\n[[b]] acme/kettle#12 \xff")
    bench.put("b.md", "# B\n")
    bench.run()
    file.unlink()
    bench.run()
    for table in ("notes", "chunks", "links", "entities", "aliases", "builds", "link_keys"):
        assert bench.rows(f"SELECT count(*) FROM {table} WHERE path = 'a.md'") == [(0,)]


def test_a_path_that_comes_back_is_indexed_again(bench) -> None:
    bench.put("picture.png", "")
    file = bench.put("a.md", "# A\n")
    bench.run()
    before = bench.digests()
    file.unlink()
    bench.run()
    bench.put("a.md", "# A\n")
    assert bench.run().changed == 1
    assert bench.digests() == before


def test_the_rows_of_a_rebuild_are_identical(bench, tmp_path: Path) -> None:
    for number in range(30):
        bench.put(f"f{number % 4}/n{number}.md", f"# N {number}\n\n[[n{(number * 7) % 30}]]\n")
    bench.run()
    for number in range(0, 30, 3):
        bench.put(f"f{number % 4}/n{number}.md", f"# M {number}\n\n[[n{(number * 5) % 30}]]\n")
    for number in range(1, 30, 5):
        (bench.root / f"f{number % 4}/n{number}.md").unlink()
    bench.run()
    assert bench.digests() == bench.fresh_digests(tmp_path / "fresh")


NAMES = st.sampled_from(["a.md", "b.md", "x/a.md", "x/y/b.md", "c d.md", "v1.2.md"])
BODIES = st.sampled_from(
    [
        "",
        "# T\n\n[[a]] [[b|x]] [[x/a]]\n",
        "---\naliases: [b, Zed]\n---\n[[zed]] [k](../a.md)\n",
        "---\nup: '[[c d]]'\n---\n# H\n\nacme/kettle#1\n\n## Two\n\n[[v1.2]]\n",
        "---\nbroken: [\n---\n[[nowhere]]\n",
    ]
)
STEPS = st.lists(st.tuples(NAMES, st.none() | BODIES), min_size=1, max_size=6)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(passes=st.lists(STEPS, min_size=1, max_size=3))
def test_any_history_of_passes_equals_a_rebuild(bench, tmp_path_factory, passes) -> None:
    home = tmp_path_factory.mktemp("history")
    here = type(bench)(home / "vault", home / "index", bench.rules)
    here.root.mkdir()
    for steps in passes:
        for name, body in steps:
            if body is not None:
                here.put(name, body)
            elif (here.root / name).exists():
                (here.root / name).unlink()
        here.run(ReconcileOptions(hash_all=True, accept_deletions=True))
    assert here.digests() == here.fresh_digests(home / "fresh")


def test_over_the_limit_the_rest_is_deferred_counted_and_done_next(bench) -> None:
    for number in range(5):
        bench.put(f"{number}.md", "x")
    report = bench.run(ReconcileOptions(limit=2))
    assert (report.changed, report.deferred, report.notes) == (2, 3, 2)
    assert bench.run(ReconcileOptions(limit=2)).deferred == 1
    assert bench.run(ReconcileOptions(limit=2)).notes == 5


def test_a_full_pass_extracts_everything_anew_and_changes_nothing(bench) -> None:
    bench.put("a.md", "# A\n")
    bench.run()
    before = bench.digests()
    assert bench.run(ReconcileOptions(full=True)).changed == 1
    assert bench.digests() == before
    assert bench.run().changed == 0


def test_mass_deletion_is_held_back_until_a_second_look(bench) -> None:
    for number in range(120):
        bench.put(f"{number}.md", "x")
    bench.run()
    for number in range(110):
        (bench.root / f"{number}.md").unlink()
    report = bench.run()
    assert (report.deleted, report.held_deletions, report.notes) == (0, 110, 120)
    bench.now += BRAKE_SECONDS - 1
    assert bench.run().held_deletions == 110
    bench.now += 2
    report = bench.run()
    assert (report.deleted, report.held_deletions, report.notes) == (110, 0, 10)


def test_the_operator_can_accept_a_mass_deletion_at_once(bench) -> None:
    for number in range(120):
        bench.put(f"{number}.md", "x")
    bench.run()
    for number in range(110):
        (bench.root / f"{number}.md").unlink()
    assert bench.run(ReconcileOptions(accept_deletions=True)).deleted == 110


@pytest.mark.parametrize("left", ["lost+found.txt", "other/list.txt"])
def test_a_folder_that_came_back_forgets_the_hold(bench, left: str) -> None:
    for number in range(3):
        bench.put(f"{number}.md", "x")
    bench.run()
    away = bench.root.rename(bench.root.with_name("away"))
    bench.put(left, "x")
    assert bench.run().held_deletions == 3, "all of a small vault's notes at once"
    there = bench.root.rename(bench.root.with_name("there"))
    away.rename(bench.root)
    assert bench.run().did_nothing
    bench.now += BRAKE_SECONDS + 1
    bench.root.rename(away)
    there.rename(bench.root)
    assert bench.run().held_deletions == 3, "the first look was long ago, and over"
    bench.now += BRAKE_SECONDS + 1
    assert bench.run().deleted == 3


def test_an_empty_folder_where_notes_were_is_no_vault_whose_notes_are_gone(bench) -> None:
    bench.put("a.md", "x")
    bench.run()
    before = bench.digests()
    bench.root.rename(bench.root.with_name("away"))
    bench.root.mkdir()
    for _ in range(2):
        with pytest.raises(StoreUnreachable, match="is it mounted"):
            bench.run()
        bench.now += BRAKE_SECONDS + 1
    assert bench.digests() == before
    assert bench.run(ReconcileOptions(accept_deletions=True)).deleted == 1
    assert bench.run().did_nothing, "an empty vault that was never anything else"


def test_broken_rules_make_nothing_stale_and_mending_them_settles_findings(bench) -> None:
    bench.put("Agent/memory/semantic/a.md", "---\ntype: nonsense\n---\nx\n")
    good = bench.rules
    assert [f.code for f in bench.run().findings] == ["unknown-type"]
    bench.rules = None
    assert bench.run().did_nothing
    bench.put("Agent/memory/semantic/b.md", "---\ntype: nonsense\n---\nx\n")
    assert bench.run().changed == 1
    bench.rules = good
    report = bench.run()
    assert [f.path[-4:] for f in report.findings] == ["a.md", "b.md"]


def test_a_damaged_index_is_built_anew_in_the_same_pass(bench) -> None:
    bench.put("a.md", "# A\n")
    bench.run()
    before = bench.digests()
    (bench.index / "index.duckdb").write_bytes(b"garbage" * 100)
    report = bench.run()
    assert report.rebuilt and report.changed == 1
    assert bench.digests() == before


PASS = """
import os, signal, sys
from pathlib import Path
from agentm_assets.contract.rules import load_rules
from agentm_assets.index import reconcile as module
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.vault import Vault
from agentm_assets.storage.vault_backend import VaultBackend
root, index, kill_after = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
module.BATCH_NOTES = 10
def progress(stage, done, total):
    if stage == "extract" and kill_after and done >= kill_after:
        os.kill(os.getpid(), signal.SIGKILL)
vault = Vault(VaultBackend(root, root))
report = reconcile(vault, IndexStore(index / "index.duckdb"), load_rules(None, {}),
    ReconcileOptions(), lock_file=index / "tables.lock", on_progress=progress)
print(report.changed)
"""


def start(bench, kill_after: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PASS, str(bench.root), str(bench.index), str(kill_after)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_pass_keeps_its_batches_and_the_next_does_the_rest(bench, tmp_path: Path) -> None:
    for number in range(60):
        bench.put(f"n{number:02d}.md", f"# N\n\n[[n{(number + 1) % 60:02d}]]\n")
    killed = start(bench, kill_after=30)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    report = bench.run()
    assert (report.changed, report.notes, report.unresolved_links) == (30, 60, 0)
    assert bench.digests() == bench.fresh_digests(tmp_path / "fresh")


def test_a_killed_full_pass_is_finished_by_the_next(bench, monkeypatch) -> None:
    monkeypatch.setattr(module, "BATCH_NOTES", 2)
    for number in range(6):
        bench.put(f"{number}.md", "x")
    bench.run()

    class Stop(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "extract" and done >= 4:
            raise Stop

    with pytest.raises(Stop):
        bench.run(ReconcileOptions(full=True), on_progress=stop)
    assert bench.run().changed == 2


def test_two_passes_at_once_do_the_work_once(bench, tmp_path: Path) -> None:
    for number in range(60):
        bench.put(f"n{number:02d}.md", f"# N\n\n[[n{(number + 1) % 60:02d}]]\n")
    both = [start(bench), start(bench)]
    changed = sorted(int(process.communicate(timeout=120)[0]) for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert changed == [0, 60]
    bench.run()
    assert bench.digests() == bench.fresh_digests(tmp_path / "fresh")


def test_the_change_feed_names_each_changed_note_once(bench) -> None:
    bench.put("a.md", "[[b]]\n")
    bench.run()
    bench.put("b.md", "")
    bench.run()
    feed = bench.rows("SELECT path FROM changes ORDER BY rev, path")
    assert sorted(path for (path,) in feed) == ["a.md", "b.md"]
    with IndexStore(bench.index / "index.duckdb").transaction() as connection:
        assert int(get_meta(connection, "rev") or 0) >= 2


def test_a_derived_alias_is_no_link_target(bench) -> None:
    bench.put("a.md", "[[client]]\n")
    bench.put("b.md", "# B\n\nuse `http_client`\n")
    bench.run()
    assert ("client",) in bench.rows("SELECT alias FROM aliases WHERE origin = 'derived'")
    assert bench.links() == {("a.md", "client"): None}
