"""Extraction over several processes gives what one gives, and leaves no process behind."""

import multiprocessing
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentm_assets.index.extraction import (
    Batch,
    Extraction,
    Known,
    extract_batch,
    extract_batches,
)
from agentm_assets.storage.vault import FileEntry, Vault, content_hash
from agentm_assets.storage.vault_backend import VaultBackend

BUILD = "0:1:none"


def vault_at(root: Path) -> Vault:
    return Vault(VaultBackend(root, root / "no-locks"))


def make_vault(root: Path, count: int) -> list[FileEntry]:
    entries = []
    for number in range(count):
        path = root / f"note-{number:03d}.md"
        path.write_text(f"# Note {number}\n\nsees [[note-{number // 2:03d}]] and acme/kettle#7\n")
        status = path.stat()
        entries.append(FileEntry(path.name, status.st_size, status.st_mtime_ns))
    return entries


def batches_of(entries: Sequence[FileEntry], known: dict[str, Known], size: int = 5) -> list[Batch]:
    return [Batch(tuple(entries[at : at + size]), known) for at in range(0, len(entries), size)]


def test_several_processes_give_the_same_in_the_same_order(tmp_path: Path) -> None:
    entries = make_vault(tmp_path, 43)
    (tmp_path / "note-007.md").unlink()
    (tmp_path / "note-008.md").unlink()
    (tmp_path / "note-008.md").symlink_to(tmp_path / "note-001.md")
    digest = content_hash((tmp_path / "note-020.md").read_bytes())
    known = {
        "note-020.md": Known(digest, BUILD),
        "note-021.md": Known(digest, BUILD),  # other bytes
        "note-022.md": Known(content_hash((tmp_path / "note-022.md").read_bytes()), "older"),
    }
    work = Extraction(vault_at(tmp_path), None, BUILD)
    batches = batches_of(entries, known)

    alone = [extract_batch(work, batch) for batch in batches]
    assert list(extract_batches(work, batches, processes=2)) == alone

    assert [each.size for each in alone] == [5] * 8 + [3]
    notes = [path for each in alone for path in each.tables.paths]
    skipped = {"note-007.md", "note-008.md", "note-020.md", "note-022.md"}
    assert notes == [e.path for e in entries if e.path not in skipped]
    assert [e.path for each in alone for e in each.touched] == ["note-020.md", "note-022.md"]
    assert [e.path for each in alone for e in each.unreadable] == ["note-008.md"]
    assert [f.code for each in alone for f in each.findings] == ["symlink-skipped"]


def test_rules_that_hold_take_an_older_build_for_stale(tmp_path: Path) -> None:
    from agentm_assets.contract.rules import load_rules

    (entry,) = make_vault(tmp_path, 1)
    known = {entry.path: Known(content_hash((tmp_path / entry.path).read_bytes()), "older")}
    batch = Batch((entry,), known)
    rules = load_rules(None, {})
    assert extract_batch(Extraction(vault_at(tmp_path), rules, BUILD), batch).tables.paths
    assert extract_batch(Extraction(vault_at(tmp_path), None, BUILD), batch).touched


def test_a_killed_process_of_the_pool_costs_nothing_but_time(tmp_path: Path) -> None:
    work = Extraction(vault_at(tmp_path), None, BUILD)
    batches = batches_of(make_vault(tmp_path, 60), {})
    results = extract_batches(work, batches, processes=2)
    found = [next(results)]
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
    found += results
    assert found == [extract_batch(work, batch) for batch in batches]


def test_leaving_early_ends_the_processes(tmp_path: Path) -> None:
    batches = batches_of(make_vault(tmp_path, 60), {})
    results = extract_batches(Extraction(vault_at(tmp_path), None, BUILD), batches, processes=2)
    next(results)
    children = multiprocessing.active_children()
    assert len(children) == 2
    results.close()
    for child in children:
        child.join(30)
        assert child.exitcode is not None


SCRIPT = """
import multiprocessing, sys
from pathlib import Path
from agentm_assets.index.extraction import Batch, Extraction, extract_batches
from agentm_assets.storage.vault import FileEntry, Vault
from agentm_assets.storage.vault_backend import VaultBackend

if __name__ == "__main__":
    root = Path(sys.argv[1])
    entries = tuple(FileEntry(path.name, 1, 1) for path in sorted(root.glob("*.md")))
    batches = [Batch((entry,), {}) for entry in entries]
    work = Extraction(Vault(VaultBackend(root, root)), None, "x")
    results = extract_batches(work, batches, processes=2)
    next(results)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes by pidfd (Linux)")
def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    make_vault(tmp_path, 12)
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        handles = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(handles) == 2
        parent.kill()
        parent.wait()
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], 30)
        os.close(handle)
        assert ended
