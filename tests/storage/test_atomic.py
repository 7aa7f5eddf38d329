"""Whole files or none: names, modes, links that fail, writers that die."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.storage import atomic
from agentm_assets.storage.atomic import (
    FOREIGN_REMAINS_SECONDS,
    TEMP_NAME,
    create_file,
    replace_file,
    sweep_temps,
)

ROOT = Path(__file__).resolve().parents[2]


def nothing() -> None:
    pass


def temps(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def raising(code: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_new_file_is_whole_has_the_umasks_mode_and_leaves_nothing_beside_it(
    tmp_path: Path,
) -> None:
    old = os.umask(0o027)
    try:
        create_file(tmp_path / "a" / "b" / "note.md", b"\0text\r\n", root=tmp_path)
    finally:
        os.umask(old)
    made = tmp_path / "a" / "b" / "note.md"
    assert made.read_bytes() == b"\0text\r\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o640
    assert os.listdir(made.parent) == ["note.md"]


@pytest.mark.parametrize("taken", ["file", "folder", "broken link"])
def test_a_taken_name_is_refused_and_what_has_it_stays(tmp_path: Path, taken: str) -> None:
    place = tmp_path / "note.md"
    if taken == "file":
        place.write_bytes(b"first")
    elif taken == "folder":
        place.mkdir()
    else:
        place.symlink_to(tmp_path / "nowhere")
    before = place.lstat()
    with pytest.raises(FileExistsError):
        create_file(place, b"second")
    assert place.lstat() == before
    assert not (tmp_path / "nowhere").exists()
    assert not temps(tmp_path)


def test_a_root_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    with pytest.raises(FileNotFoundError):
        create_file(root / "Agent" / "note.md", b"text", root=root)
    assert not root.exists()


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "Agent").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match="Agent"):
        create_file(tmp_path / "Agent" / "note.md", b"text", root=tmp_path)


def test_a_name_of_255_bytes_can_be_made_and_replaced(tmp_path: Path) -> None:
    name = "名" * 84 + ".md"
    assert len(name.encode()) == 255
    create_file(tmp_path / name, b"one")
    replace_file(tmp_path / name, b"two", before_rename=nothing)
    assert (tmp_path / name).read_bytes() == b"two"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_hard_links_the_name_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(os, "link", raising(code))
    create_file(tmp_path / "note.md", b"text")
    assert (tmp_path / "note.md").read_bytes() == b"text"
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "note.md", b"other")
    assert (tmp_path / "note.md").read_bytes() == b"text"
    assert os.listdir(tmp_path) == ["note.md"]


def test_a_reservation_whose_rename_fails_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", raising(errno.EPERM))
    monkeypatch.setattr(Path, "replace", raising(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        create_file(tmp_path / "note.md", b"text")
    assert os.listdir(tmp_path) == []


def test_a_link_whose_answer_was_lost_counts_as_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def linked_but_told_otherwise(*arguments: str, **options: bool) -> None:
        real(*arguments, **options)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    monkeypatch.setattr(os, "link", linked_but_told_otherwise)
    create_file(tmp_path / "note.md", b"text")
    assert (tmp_path / "note.md").read_bytes() == b"text"


def test_a_replaced_file_keeps_its_mode_and_owner(tmp_path: Path) -> None:
    place = tmp_path / "note.md"
    place.write_bytes(b"old")
    place.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(place, 12345, 12346)
    before = place.stat()
    replace_file(place, b"new", before_rename=nothing)
    after = place.stat()
    assert place.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_an_objection_before_the_rename_leaves_the_old_file_and_no_temp(tmp_path: Path) -> None:
    place = tmp_path / "note.md"
    place.write_bytes(b"old")
    seen: list[bytes] = []

    def object_to_it() -> None:
        raise InterruptedError("changed")

    with pytest.raises(InterruptedError):
        replace_file(
            place,
            b"new",
            before_rename=object_to_it,
            on_temp=lambda temp: seen.append(temp.read_bytes()),
        )
    assert place.read_bytes() == b"old"
    assert seen == [b"new"]
    assert os.listdir(tmp_path) == ["note.md"]


def test_a_full_disk_leaves_the_old_file_and_no_temp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "note.md"
    place.write_bytes(b"old")
    monkeypatch.setattr(atomic.os, "fsync", raising(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        replace_file(place, b"new", before_rename=nothing)
    with pytest.raises(OSError, match="No space"):
        create_file(tmp_path / "other.md", b"new")
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["note.md"]


_DYING = """
import os, signal, sys
from pathlib import Path
from agentm_assets.storage.atomic import replace_file
def stop():
    print("ready", flush=True)
    sys.stdin.read()
replace_file(Path(sys.argv[1]), b"new", before_rename=stop)
"""


def writer(place: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", _DYING, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_the_temp_of_a_killed_writer_is_swept_and_never_that_of_a_living_one(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "Agent" / "memory"
    folder.mkdir(parents=True)
    place = folder / "note.md"
    place.write_bytes(b"old")
    killed, alive = writer(place), writer(place)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(temps(folder)) == 2
    assert sweep_temps(tmp_path) == 1
    assert len(temps(folder)) == 1
    assert place.read_bytes() == b"old"
    alive.communicate(b"")
    assert alive.returncode == 0
    assert place.read_bytes() == b"new"
    assert not temps(folder)


def test_a_writer_that_was_killed_and_not_yet_waited_for_is_dead(tmp_path: Path) -> None:
    place = tmp_path / "note.md"
    place.write_bytes(b"old")
    zombie = writer(place)
    zombie.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    assert sweep_temps(tmp_path) == 1
    zombie.wait()


def test_a_process_id_that_was_used_again_is_another_process(tmp_path: Path) -> None:
    me = atomic.this_process()
    (tmp_path / f".agentm-{me.origin}-{me.pid}-{me.start + 1}-{'0' * 16}.tmp").write_bytes(b"")
    (tmp_path / f".agentm-{me.origin}-{me.pid}-{me.start}-{'1' * 16}.tmp").write_bytes(b"")
    assert sweep_temps(tmp_path) == 1
    assert [name[-21:] for name in temps(tmp_path)] == [f"-{'1' * 16}.tmp"]


def test_remains_of_another_machine_wait_a_day_and_other_temp_files_for_ever(
    tmp_path: Path,
) -> None:
    foreign = tmp_path / f".agentm-00000000-1-1-{'0' * 16}.tmp"
    for place in (foreign, tmp_path / ".agentm-x.tmp", tmp_path / "draft.tmp"):
        place.write_bytes(b"")
    written = foreign.stat().st_mtime
    assert sweep_temps(tmp_path, now=written + FOREIGN_REMAINS_SECONDS - 1) == 0
    assert sweep_temps(tmp_path, now=written - 5 * FOREIGN_REMAINS_SECONDS) == 0
    assert sweep_temps(tmp_path, now=written + FOREIGN_REMAINS_SECONDS + 1) == 1
    assert sorted(os.listdir(tmp_path)) == [".agentm-x.tmp", "draft.tmp"]


def test_a_sweep_enters_neither_links_nor_hidden_folders(tmp_path: Path) -> None:
    remnant = f".agentm-00000000-1-1-{'0' * 16}.tmp"
    outside, vault = tmp_path / "outside", tmp_path / "vault"
    for folder in (outside, vault / ".git"):
        folder.mkdir(parents=True)
        (folder / remnant).write_bytes(b"")
    (vault / "linked").symlink_to(outside)
    assert sweep_temps(vault, now=2e10) == 0
    assert (outside / remnant).exists()
    assert (vault / ".git" / remnant).exists()


def test_the_names_of_temp_files_are_short_hidden_and_recognised(tmp_path: Path) -> None:
    names = {atomic._temp_path(tmp_path).name for _ in range(100)}
    assert len(names) == 100
    assert all(TEMP_NAME.fullmatch(name) and len(name) <= 80 for name in names)
