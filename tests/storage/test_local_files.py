"""A folder of this machine as a store: links, full and shut disks, and a root that goes away."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentm_assets.storage.atomic import create_file
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.mutex import Ownership, VaultMutex
from agentm_assets.storage.personal import PERSONAL
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    Expect,
    NoteUnreadable,
    OwnershipLost,
    StorageError,
    StoreUnreachable,
    WriteRefused,
    content_hash,
)
from agentm_assets.storage.vault_backend import VaultBackend

HOW: list[Expect] = [None, ABSENT, content_hash(b"secret")]
IDS = ["overwrite", "absent", "swap"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def store(root: Path, tmp_path: Path) -> VaultBackend:
    return VaultBackend.open(str(root), str(tmp_path / "locks"))


@pytest.fixture
def outside(root: Path, tmp_path: Path) -> Path:
    """A folder beside the vault, with links from the vault into it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(b"secret")
    (root / "link").symlink_to(folder, target_is_directory=True)
    (root / "link.md").symlink_to(folder / "secret.md")
    (root / "new.md").symlink_to(folder / "new.md")
    (root / "deep").mkdir()
    (root / "deep" / "link").symlink_to(folder, target_is_directory=True)
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# --- links ----------------------------------------------------------------------------------------

LEADING_OUT = ["link/secret.md", "link/new.md", "link.md", "new.md", "deep/link/a/b/new.md"]


@pytest.mark.parametrize("expect", HOW, ids=IDS)
@pytest.mark.parametrize("key", LEADING_OUT)
def test_nothing_is_written_through_a_link(
    store: VaultBackend, outside: Path, root: Path, key: str, expect: Expect
) -> None:
    before = everything(outside)
    with pytest.raises((StorageError, FileExistsError)):
        store.write(Locator(key), "x", expect=expect)
    with pytest.raises((StorageError, FileNotFoundError)):
        store.rename_unlinked(Locator(key), Locator("moved.md"), expect=content_hash(b"secret"))
    kept = store.write(Locator("kept.md"), "kept")
    with pytest.raises((StorageError, FileExistsError)):
        store.rename_unlinked(Locator("kept.md"), Locator(key), expect=kept)
    assert everything(outside) == before
    assert store.read(Locator("kept.md")) == "kept"
    assert (root / "link.md").is_symlink() and (root / "new.md").is_symlink()


@pytest.mark.parametrize("key", ["link/made", "deep/link/made/more", "new.md/made"])
def test_no_folder_is_made_through_a_link(store: VaultBackend, outside: Path, key: str) -> None:
    with pytest.raises(WriteRefused, match="symbolic link"):
        store.mkdir(Locator(key))
    assert sorted(os.listdir(outside)) == ["secret.md"]


def test_nothing_is_seen_through_a_link(store: VaultBackend, outside: Path) -> None:
    for key in ("link/secret.md", "link.md", "deep/link/secret.md"):
        for read in (store.read_bytes, store.info):
            with pytest.raises(NoteUnreadable) as refused:
                read(Locator(key))
            assert refused.value.code == "symlink-skipped"
    assert not store.exists(Locator("link/secret.md"))
    assert store.exists(Locator("link.md")), "its name is taken"
    assert store.list(Locator("link")) == []
    assert store.list(ROOT) == [Locator("deep")]
    assert {(entry.path, entry.kind) for entry in store.walk(ROOT)} == {
        ("link", "link"),
        ("link.md", "link"),
        ("new.md", "link"),
        ("deep/link", "link"),
    }


def test_the_root_itself_may_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "by-link").symlink_to(root)
    store = VaultBackend.open(str(tmp_path / "by-link"), str(tmp_path / "locks"))
    store.write(Locator("a/b.md"), "x")
    assert (root / "a/b.md").read_text() == "x"
    assert store.identity == str(root)


def test_a_folder_that_is_swapped_for_a_link_again_and_again_never_leads_out(
    store: VaultBackend, root: Path, outside: Path
) -> None:
    """The swap runs beside the writes; whatever falls between, nothing arrives outside."""
    real, aside = root / "swapped", root / "aside"
    real.mkdir()
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            real.rename(aside)
            try:
                real.symlink_to(outside, target_is_directory=True)
                real.unlink()
                aside.rename(real)
            except OSError:
                shutil.rmtree(aside)  # a writer has made the folder in between

    swapper = threading.Thread(target=swap)
    swapper.start()
    written = refused = 0
    try:
        for number in range(20_000):
            if number >= 300 and written:
                break  # on a busy machine the swap is in the way for long
            try:
                place = Locator(f"swapped/n{number}.md")
                store.write(place, "x", expect=ABSENT if number % 2 else None)
                written += 1
            except (StorageError, FileNotFoundError):
                refused += 1
    finally:
        done.set()
        swapper.join()
    assert sorted(os.listdir(outside)) == ["secret.md"]
    assert written, "the swap was always in the way, so nothing was tried"


# --- what stands in the way -----------------------------------------------------------------------


def test_devices_pipes_and_folders_are_not_overwritten(store: VaultBackend, root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    (root / "file").write_text("x")
    for key in ("pipe.md", "folder.md"):
        for expect in (None, content_hash(b"")):
            with pytest.raises(StorageError):
                store.write(Locator(key), "x", expect=expect)
        with pytest.raises(FileExistsError):
            store.write(Locator(key), "x", expect=ABSENT)
    for key in ("file/below.md", "file/deep/er.md"):
        with pytest.raises(StorageError, match="a file stands where a folder is needed"):
            store.write(Locator(key), "x")
    with pytest.raises(StorageError, match="a file stands where a folder is needed"):
        store.mkdir(Locator("file"))
    assert stat.S_ISFIFO((root / "pipe.md").stat().st_mode)


def test_the_mode_of_a_note_stays_and_a_new_one_gets_the_umasks(
    store: VaultBackend, root: Path
) -> None:
    (root / "old.md").write_text("x")
    (root / "old.md").chmod(0o640)
    store.write(Locator("old.md"), "y")
    assert stat.S_IMODE((root / "old.md").stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        store.write(Locator("new.md"), "y", expect=ABSENT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "new.md").stat().st_mode) == 0o640


def test_an_editor_that_saves_at_the_last_moment_wins(
    store: VaultBackend, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes are compared once more when the new ones are on the disk, before the rename."""
    held = store.write(Locator("a.md"), "read")
    real_fsync, calls = os.fsync, iter([1])

    def save_meanwhile(handle: int) -> None:
        real_fsync(handle)
        if next(calls, None):
            (root / "a.md").write_text("typed by hand")

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    with pytest.raises(ConcurrentModificationError):
        store.write(Locator("a.md"), "by a pass", expect=held)
    assert (root / "a.md").read_text() == "typed by hand"
    assert os.listdir(root) == ["a.md"]


def test_a_new_note_needs_no_lock_and_a_rewrite_does(
    store: VaultBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = store.write(Locator("old.md"), "x")
    monkeypatch.setattr("agentm_assets.storage.mutex.ACQUIRE_TIMEOUT", 0.0)
    waiting: list[str] = []

    def write(expect: Expect, key: str) -> None:
        mutex = VaultMutex(store.identity, tmp_path / "locks", timeout=0.0)
        monkeypatch.setattr(store, "_mutex", lambda: mutex)
        try:
            store.write(Locator(key), "y", expect=expect)
        except StorageError as error:
            waiting.append(type(error).__name__)

    with VaultMutex(store.identity, tmp_path / "locks").held():
        for expect, key in ((ABSENT, "new.md"), (None, "old.md"), (held, "old.md")):
            other = threading.Thread(target=write, args=(expect, key))
            other.start()
            other.join()
    assert waiting == ["LockTimeout", "LockTimeout"]
    assert store.read(Locator("new.md")) == "y"
    assert store.read(Locator("old.md")) == "x"


# --- a root that goes away ------------------------------------------------------------------------


def test_a_root_that_is_gone_is_said_and_never_made(store: VaultBackend, root: Path) -> None:
    root.rmdir()
    place = Locator("Agent/a.md")
    looks: list[Callable[[], object]] = [
        lambda: store.read_bytes(place),
        lambda: store.exists(place),
        lambda: store.info(place),
        lambda: store.list(ROOT),
        lambda: list(store.walk(ROOT)),
        lambda: store.mkdir(Locator("Agent")),
        lambda: next(store.watch(lambda: True, 10)),
        lambda: store.rename_unlinked(place, Locator("b.md"), expect=content_hash(b"x")),
        *(lambda expect=expect: store.write(place, "x", expect=expect) for expect in HOW),
    ]
    for look in looks:
        with pytest.raises(StoreUnreachable, match=r"check that the folder exists and is mounted"):
            look()
    assert not root.exists()


def test_a_root_that_is_back_is_used_again(store: VaultBackend, root: Path) -> None:
    root.rename(root.with_name("unmounted"))
    with pytest.raises(StoreUnreachable):
        store.write(Locator("a.md"), "x", expect=ABSENT)
    root.with_name("unmounted").rename(root)
    store.write(Locator("a.md"), "x", expect=ABSENT)
    assert store.read(Locator("a.md")) == "x"


# --- disks ----------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount(["-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)])
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def mount(arguments: list[str]) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this needs the right to mount a disk: {done.stderr.strip()}")


def test_a_full_disk_leaves_what_was_there_and_no_half_note(disk: Path, tmp_path: Path) -> None:
    store = VaultBackend.open(str(disk), str(tmp_path / "locks"))
    held = store.write(Locator("a.md"), "before")
    for expect, key in ((None, "a.md"), (held, "a.md"), (ABSENT, "new.md"), (None, "other.md")):
        with pytest.raises(StorageError, match="the disk is full, nothing was written; free some"):
            store.write_bytes(Locator(key), b"x" * 400_000, expect=expect)
    assert os.listdir(disk) == ["a.md"]
    assert store.read(Locator("a.md")) == "before"
    store.write(Locator("a.md"), "after", expect=held)


def test_a_read_only_disk_is_said(disk: Path, tmp_path: Path) -> None:
    store = VaultBackend.open(str(disk), str(tmp_path / "locks"))
    held = store.write(Locator("a.md"), "before")
    mount(["-o", "remount,ro", str(disk)])
    for expect, key in ((None, "a.md"), (held, "a.md"), (ABSENT, "new.md"), (None, "b/c.md")):
        with pytest.raises(StorageError, match="the file system is read-only"):
            store.write(Locator(key), "x", expect=expect)
    with pytest.raises(StorageError, match="the file system is read-only"):
        store.rename_unlinked(Locator("a.md"), Locator("b.md"), expect=held)
    assert store.read(Locator("a.md")) == "before"


def test_another_name_for_the_operators_space_is_refused_too(
    store: VaultBackend, root: Path
) -> None:
    """As where a file system takes two spellings for one name."""
    (root / PERSONAL).mkdir()
    (root / "other spelling").mkdir()
    mount(["--bind", str(root / PERSONAL), str(root / "other spelling")])
    try:
        with pytest.raises(WriteRefused, match=r"personal lies in personal/"):
            store.write(Locator("other spelling/a.md"), "x", expect=ABSENT)
        with pytest.raises(WriteRefused):
            store.mkdir(Locator("other spelling/deeper"))
    finally:
        subprocess.run(["umount", str(root / "other spelling")], check=True)
    assert os.listdir(root / PERSONAL) == []


_AS_NOBODY = """
import os, sys
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, NoteUnreadable, StorageError
from agentm_assets.storage.vault_backend import VaultBackend
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
store = VaultBackend.open(sys.argv[1], sys.argv[2])
for key in ("shut/new.md", "entered/new.md"):
    try:
        store.write(Locator(key), "x", expect=ABSENT)
    except StorageError as error:
        print(error)
print(store.read(Locator("entered/known.md")))
print([entry.kind for entry in store.walk(Locator(""))])
"""


def test_shut_folders_are_said_and_one_that_may_be_entered_is_read(
    root: Path, tmp_path: Path
) -> None:
    for name in ("shut", "entered"):
        (root / name).mkdir()
    (root / "entered" / "known.md").write_text("known")
    (root / "shut").chmod(0o500 if os.geteuid() else 0o700)
    (root / "entered").chmod(0o711)
    for folder in (root, *root.parents):
        if folder.is_relative_to(Path("/tmp")) and folder != Path("/tmp"):
            folder.chmod(0o755)
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks").chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, str(root), str(tmp_path / "locks")],
        capture_output=True,
        text=True,
        check=False,
    )
    (root / "shut").chmod(0o700)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("\n")
    assert said[0].startswith("shut/new.md: may not be written; give the user")
    if os.geteuid() == 0:
        assert said[1].startswith("entered/new.md: may not be written; give the user")
        assert said[2:4] == ["known", "['unlistable', 'unlistable']"]


def test_temp_files_of_a_writer_are_never_listed(store: VaultBackend, root: Path) -> None:
    create_file(root / "Agent" / "a.md", b"x")
    (root / "Agent" / ".agentm-0-1-2-3.tmp").write_bytes(b"half")
    assert store.list(Locator("Agent")) == [Locator("Agent/a.md")]
    kinds = [entry.kind for entry in store.walk(ROOT)]
    assert kinds == ["hidden", "file"]


def test_names_that_are_no_places_are_met_and_not_read(store: VaultBackend, root: Path) -> None:
    (root / "a\\b.md").write_text("x")
    (root / "C:").write_text("x")
    (root / "fine: a colon.md").write_text("x")
    met = {entry.path: entry.kind for entry in store.walk(ROOT)}
    assert met == {"a\\b.md": "nameless", "C:": "nameless", "fine: a colon.md": "file"}


@pytest.mark.parametrize("step", ["link", "rename", "unlink"])
def test_what_another_writes_while_a_move_is_stopped_is_not_lost(
    store: VaultBackend, root: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The mover is stopped before a step for so long that another took the lock and wrote."""
    (root / "n.md").write_bytes(b"old")
    really, written = getattr(os, step), []

    def stopped(name: str | Path, *given: object, **more: object) -> object:
        if name == "n.md" or (step == "unlink" and ".agentm-moved-" in os.fspath(name)):
            monkeypatch.setattr(os, step, really)
            if (root / "n.md").exists():  # else a writer that read the old bytes fails by itself
                temp = root / "by-another"
                temp.write_bytes(b"new")
                temp.replace(root / "n.md")
                written.append(name)
        return really(name, *given, **more)

    monkeypatch.setattr(os, step, stopped)
    if step == "unlink":
        store.rename_unlinked(Locator("n.md"), Locator("m.md"), expect=content_hash(b"old"))
        assert everything(root) == {"m.md": b"old"}
    else:
        with pytest.raises(ConcurrentModificationError):
            store.rename_unlinked(Locator("n.md"), Locator("m.md"), expect=content_hash(b"old"))
        assert written == ["n.md"]
        assert everything(root) == {"n.md": b"new"}


def test_a_mover_that_lost_the_lock_takes_its_new_name_back(
    store: VaultBackend, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "n.md").write_bytes(b"old")
    checks: list[int] = []

    def check(self: Ownership) -> None:
        checks.append(1)
        if len(checks) == 2:
            raise OwnershipLost("away too long")

    monkeypatch.setattr(Ownership, "check", check)
    with pytest.raises(OwnershipLost):
        store.rename_unlinked(Locator("n.md"), Locator("m.md"), expect=content_hash(b"old"))
    assert everything(root) == {"n.md": b"old"}
