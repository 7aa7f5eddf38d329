"""The vault's lock with real processes: stopped, killed, robbed, and threads."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.storage import mutex as module
from agentm_assets.storage.atomic import replace_file
from agentm_assets.storage.mutex import HEARTBEAT_EVERY, STALE_AFTER, VaultMutex
from agentm_assets.storage.process import Process
from agentm_assets.storage.seam import LockTimeout, OwnershipLost, StorageError

ROOT = Path(__file__).resolve().parents[2]

_PRELUDE = """
import os, sys
from pathlib import Path
from agentm_assets.storage import mutex as module
from agentm_assets.storage.atomic import replace_file
from agentm_assets.storage.mutex import VaultMutex
from agentm_assets.storage.seam import LockTimeout, OwnershipLost
locks, place = Path(sys.argv[1]), Path(sys.argv[2])
mutex = VaultMutex("vault", locks)
def wait(word):
    print(word, flush=True)
    sys.stdin.readline()
if sys.argv[3] == "without":
    module._lock = lambda handle: None
"""

KERNEL_LOCKS = pytest.mark.parametrize("kernel", ["with", "without"])


def in_another_thread(mutex: VaultMutex, timeout: float) -> bool:
    """Whether a thread of its own gets the lock."""
    got: list[bool] = []

    def work() -> None:
        try:
            with mutex.held(timeout) as mine:
                mine.check()
                got.append(True)
        except LockTimeout:
            got.append(False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return got == [True]


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def later(seconds: float) -> Callable[[], float]:
    """The clock of a waiter that is further on in time than the owner."""
    return lambda: time.monotonic() + seconds


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "locks"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    place = tmp_path / "note.md"
    place.write_bytes(b"old")
    return place


@pytest.fixture
def start(locks: Path, note: Path, tmp_path: Path, kernel: str) -> Callable[[str], "Child"]:
    def begin(code: str) -> Child:
        return Child(code, locks, note, kernel)

    return begin


@pytest.fixture
def without_kernel_locks(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernel == "without":
        monkeypatch.setattr(module, "_lock", lambda handle: None)


class Child:
    def __init__(self, code: str, locks: Path, note: Path, kernel: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PRELUDE + code, str(locks), str(note), kernel],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> str:
        out, _ = self.process.communicate("\n", timeout=30)
        assert self.process.returncode == 0
        return out.strip()


_HOLDING = """
with mutex.held() as ownership:
    wait("held")
print("ended", flush=True)
"""

_WRITING = """
with mutex.held() as ownership:
    wait("held")
    try:
        replace_file(place, b"late", before_rename=ownership.check, on_temp=ownership.pledge)
        print("wrote", flush=True)
    except OwnershipLost:
        print("lost", flush=True)
    wait("leaving")
print("ended", flush=True)
"""

_STOPPED_BEFORE_RENAME = """
def check():
    ownership.check()
    wait("checked")
with mutex.held() as ownership:
    try:
        replace_file(place, b"late", before_rename=check, on_temp=ownership.pledge)
        print("wrote", flush=True)
    except FileNotFoundError:
        print("lost", flush=True)
"""


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
def test_one_owner_at_a_time_and_the_next_after_it(
    start: Callable[[str], Child], locks: Path
) -> None:
    owner = start(_HOLDING)
    assert owner.says() == "held"
    with (
        pytest.raises(LockTimeout, match=str(owner.process.pid)),
        VaultMutex("vault", locks).held(0),
    ):
        pytest.fail("two owners")
    with VaultMutex("another vault", locks).held(0):
        pass
    assert owner.end() == "ended"
    with VaultMutex("vault", locks).held(0) as mine:
        mine.check()


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
def test_the_lock_of_a_killed_owner_is_free_at_once(
    start: Callable[[str], Child], locks: Path
) -> None:
    owner = start(_HOLDING)
    assert owner.says() == "held"
    owner.kill()
    with VaultMutex("vault", locks).held(0) as mine:
        mine.check()


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
def test_a_stopped_owner_that_wakes_up_can_neither_write_nor_release(
    start: Callable[[str], Child], locks: Path, note: Path
) -> None:
    owner = start(_WRITING)
    assert owner.says() == "held"
    owner.stop()
    with VaultMutex("vault", locks, clock=later(STALE_AFTER + 1)).held(0) as mine:
        owner.wake()
        owner.go_on()
        assert owner.says() == "lost"
        assert note.read_bytes() == b"old"
        assert owner.says() == "leaving"
        assert owner.end() == "ended"
        mine.check()  # the release of the robbed one left it
        assert not in_another_thread(VaultMutex("vault", locks), 0)


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
def test_an_owner_stopped_between_its_check_and_its_rename_can_not_rename(
    start: Callable[[str], Child], locks: Path, note: Path
) -> None:
    owner = start(_STOPPED_BEFORE_RENAME)
    assert owner.says() == "checked"
    owner.stop()
    with VaultMutex("vault", locks, clock=later(STALE_AFTER + 1)).held(0) as mine:
        replace_file(note, b"mine", before_rename=mine.check, on_temp=mine.pledge)
    owner.wake()
    assert owner.end() == "lost"
    assert note.read_bytes() == b"mine"
    assert sorted(os.listdir(note.parent)) == ["cache", "note.md"]


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
@pytest.mark.parametrize("beats", [True, False])
def test_a_living_owner_is_robbed_only_when_its_heart_stands_still(
    locks: Path, beats: bool
) -> None:
    clock = FakeClock()
    with VaultMutex("vault", locks, clock=clock).held() as owner:

        def sleep(seconds: float) -> None:
            clock.now += 1.0
            if beats and clock.now % HEARTBEAT_EVERY == 0:
                owner.beat()

        waiter = VaultMutex("vault", locks, clock=clock, sleep=sleep)
        assert in_another_thread(waiter, 60.0) is not beats
        assert clock.now == (60.0 if beats else STALE_AFTER)


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
@pytest.mark.parametrize("beats", [True, False])
def test_the_heart_of_another_boot_is_watched_not_compared(
    locks: Path, beats: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clock is another: a stamp may be of any age, only its changing says something."""
    theirs, ours = FakeClock(), FakeClock()
    ours.now = 1e6
    with VaultMutex("vault", locks, clock=theirs).held() as owner:

        def sleep(seconds: float) -> None:
            ours.now += 1.0
            theirs.now += 1.0
            if beats and theirs.now % HEARTBEAT_EVERY == 0:
                owner.beat()

        monkeypatch.setattr(module, "this_process", lambda: Process("ffffffff", os.getpid(), 1))
        monkeypatch.setattr(Process, "lives", lambda self: None)
        waiter = VaultMutex("vault", locks, clock=ours, sleep=sleep)
        assert in_another_thread(waiter, 30.0) is not beats
        assert ours.now == 1e6 + (30.0 if beats else STALE_AFTER)


def test_the_heart_beats_by_itself_while_the_lock_is_held_and_no_longer(
    locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_EVERY", 0.001)
    mine, beaten = threading.current_thread(), threading.Event()
    before = threading.active_count()

    def clock() -> float:
        if threading.current_thread() is not mine:
            beaten.set()
        return time.monotonic()

    with VaultMutex("vault", locks, clock=clock).held():
        assert beaten.wait(30)
    assert threading.active_count() == before


def test_the_wait_is_bounded_and_says_who_holds_the_lock(locks: Path) -> None:
    clock = FakeClock()
    holder = VaultMutex("vault", locks, clock=clock)
    waiter = VaultMutex("vault", locks, clock=clock, sleep=clock.sleep, timeout=7.0)
    problems: list[str] = []

    def wait() -> None:
        try:
            with waiter.held():
                problems.append("two owners")
        except LockTimeout as error:
            problems.append(str(error))

    with holder.held():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert 7.0 <= clock.now < 7.2
    assert len(problems) == 1
    assert f"process {os.getpid()}" in problems[0]
    assert "7 s" in problems[0]


def test_the_same_thread_is_refused_and_told_why(locks: Path) -> None:
    mutex = VaultMutex("vault", locks)
    with mutex.held():
        with pytest.raises(RuntimeError, match="holds"), VaultMutex("vault", locks).held():
            pytest.fail("re-entered")
        with VaultMutex("other", locks).held():
            pass
    with mutex.held(0):
        pass


def test_threads_exclude_each_other(locks: Path) -> None:
    inside, most = 0, 0
    start = threading.Barrier(4)

    def work() -> None:
        nonlocal inside, most
        start.wait()
        for _ in range(20):
            with VaultMutex("vault", locks).held() as mine:
                inside += 1
                most = max(most, inside)
                os.sched_yield()
                mine.check()
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


_COUNTING = """
for _ in range(25):
    with mutex.held(60.0) as ownership:
        text = str(int(place.read_text()) + 1).encode()
        replace_file(place, text, before_rename=ownership.check, on_temp=ownership.pledge)
"""


@KERNEL_LOCKS
def test_processes_lose_no_update(start: Callable[[str], Child], note: Path, locks: Path) -> None:
    note.write_text("0")
    children = [start(_COUNTING) for _ in range(4)]
    for child in children:
        assert child.end() == ""
    assert note.read_text() == "100"
    folder = VaultMutex("vault", locks).folder
    assert set(os.listdir(folder)) <= {"guard"}


@KERNEL_LOCKS
@pytest.mark.usefixtures("without_kernel_locks")
def test_of_waiters_that_judge_the_same_owner_dead_one_gets_the_lock(
    start: Callable[[str], Child], locks: Path
) -> None:
    owner = start(_HOLDING)
    assert owner.says() == "held"
    owner.kill()
    waiters = [
        start("with mutex.held(0) as o:\n    o.check()\n    wait('held')\n    o.check()\n")
        for _ in range(6)
    ]
    told = [waiter.says() for waiter in waiters]
    assert told.count("held") == 1
    for waiter in waiters:
        waiter.process.communicate("\n", timeout=30)
    assert sorted(waiter.process.returncode for waiter in waiters) == [0, 1, 1, 1, 1, 1]


def test_a_fresh_lock_that_was_taken_for_a_dead_one_is_put_back(
    locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_lock", lambda handle: None)
    mutex = VaultMutex("vault", locks)
    with mutex.held() as fresh:
        assert mutex.remove_owner("the token of one that is dead") is False
        fresh.check()
    with mutex.held(0):
        pass


def test_a_fork_neither_owns_nor_releases_what_its_parent_owns(locks: Path) -> None:
    told = 0
    with VaultMutex("vault", locks).held() as mine:
        child = os.fork()
        if child:
            told = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            mine.check()
        else:
            try:
                mine.check()
            except OwnershipLost:
                told = 7
    if not child:
        os._exit(told)
    assert told == 7


def test_a_cache_that_is_removed_meanwhile_is_a_lost_lock_and_no_crash(locks: Path) -> None:
    mutex = VaultMutex("vault", locks)
    with mutex.held() as mine:
        for file in mutex.folder.iterdir():
            file.unlink()
        mutex.folder.rmdir()
        with pytest.raises(OwnershipLost):
            mine.check()
    with mutex.held(0):
        pass


def test_an_owners_file_of_no_sense_does_not_block(locks: Path) -> None:
    mutex = VaultMutex("vault", locks)
    mutex.folder.mkdir(parents=True)
    (mutex.folder / "owner").write_bytes(b"\0\0\0")
    with mutex.held(0) as mine:
        mine.check()


def test_a_folder_of_locks_that_can_not_be_used_is_named_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    with (
        pytest.raises(StorageError, match="XDG_CACHE_HOME"),
        VaultMutex("vault", tmp_path / "cache" / "locks").held(),
    ):
        pytest.fail("held")


def test_a_pledge_names_nothing_but_a_temp_file(locks: Path, note: Path, tmp_path: Path) -> None:
    mutex = VaultMutex("vault", locks)
    with mutex.held() as mine:
        mine.pledge(note)
        (owner,) = [file for file in mutex.folder.iterdir() if file.name == "owner"]
        token = owner.read_bytes().split()[1].decode()
        assert mutex.remove_owner(token)
        with pytest.raises(OwnershipLost):
            mine.check()
    assert note.exists()


def test_the_kernels_own_refusals_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(code: int) -> Callable[[int, int], None]:
        def flock(handle: int, operation: int) -> None:
            raise OSError(code, os.strerror(code))

        return flock

    with (tmp_path / "file").open("wb") as file:
        for code, said in ((errno.ENOLCK, None), (errno.EWOULDBLOCK, False)):
            monkeypatch.setattr(fcntl, "flock", refuse(code))
            assert module._lock(file.fileno()) is said
        monkeypatch.setattr(fcntl, "flock", refuse(errno.EIO))
        with pytest.raises(OSError, match="Input/output"):
            module._lock(file.fileno())
