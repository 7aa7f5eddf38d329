"""Several processes at one store. Their start is the barrier's; nothing here waits by the clock."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Barrier

from agentm_assets.storage.conformance.store import NotPromised, Store, require
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, ConcurrentModificationError, content_hash

WRITERS = 4
ROUNDS = 12
LONGEST = 200_000
NOTE = Locator("Agent/shared.md")
_TOGETHER_SECONDS = 60.0

Work = Callable[[Store, int], list[str]]
"""What one writer does; the strings it gives back are faults or names it got."""


def whole_payload(store: Store) -> None:
    store.open().write_bytes(NOTE, _payload(0, 0))
    faults = [fault for faults in _together(store, _overwrite) for fault in faults]
    require(not faults, "; ".join(sorted(set(faults))[:3]))
    require(_is_whole(store.open().read_bytes(NOTE)), "the last note is no writer's")
    left = [entry.path for entry in store.open().walk(Locator("Agent"))]
    require(left == [NOTE.key], f"writers leave files behind: {left}")


def no_lost_update(store: Store) -> None:
    store.open().write(NOTE, "")
    added = {line for lines in _together(store, _append) for line in lines}
    kept = store.open().read(NOTE).split("\n")[:-1]
    require(len(added) == WRITERS * ROUNDS, "a writer gave up")
    require(len(kept) == len(set(kept)), "an update is there twice")
    lost = len(added - set(kept))
    require(not lost, f"{lost} of {len(added)} updates are lost")


def one_reservation(store: Store) -> None:
    taken = [name for names in _together(store, _reserve) for name in names]
    require(len(taken) == len(set(taken)), "two writers have got one name")
    require(len(taken) == ROUNDS, "nobody has got a name that was free")
    backend = store.open()
    for name in taken:
        key, _, writer = name.partition(" ")
        require(backend.read(Locator(key)) == writer, "another's bytes are under a name")


def _overwrite(store: Store, writer: int) -> list[str]:
    backend = store.open()
    faults: list[str] = []
    for number in range(ROUNDS):
        backend.write_bytes(NOTE, _payload(writer, number))
        if not _is_whole(backend.read_bytes(NOTE)):
            faults.append("a reader met a torn note")
    return faults


def _append(store: Store, writer: int) -> list[str]:
    backend = store.open()
    added: list[str] = []
    for number in range(ROUNDS):
        line = f"{writer}:{number}"
        while line not in added:
            before = backend.read_bytes(NOTE)
            try:
                data = before + f"{line}\n".encode()
                backend.write_bytes(NOTE, data, expect=content_hash(before))
            except ConcurrentModificationError:
                continue
            added.append(line)
    return added


def _reserve(store: Store, writer: int) -> list[str]:
    backend = store.open()
    taken: list[str] = []
    for number in range(ROUNDS):
        key = f"Agent/slug-{number}.md"
        try:
            backend.write(Locator(key), str(writer), expect=ABSENT)
        except FileExistsError:
            continue
        taken.append(f"{key} {writer}")
    return taken


def _payload(writer: int, number: int) -> bytes:
    size = 1 + (7919 * (writer + 1) * (number + 1)) % LONGEST
    body = bytes([97 + writer]) * size
    return f"{size}\n".encode() + body


def _is_whole(data: bytes) -> bool:
    head, _, body = data.partition(b"\n")
    return head.isdigit() and len(body) == int(head) and len(set(body)) == 1


def _together(store: Store, work: Work) -> list[list[str]]:
    """The results of all writers, who begin at once. Spawned: clients of networks do not fork."""
    if not store.open().capabilities.concurrent_writers:
        raise NotPromised("the backend does not promise concurrent_writers")
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(WRITERS)
    with context.Pool(WRITERS, initializer=_ready, initargs=(barrier,)) as pool:
        jobs = [pool.apply_async(_begin, (work, store, writer)) for writer in range(WRITERS)]
        return [job.get(timeout=_TOGETHER_SECONDS) for job in jobs]


_barrier: Barrier
"""Set in the processes of a pool alone."""


def _ready(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _begin(work: Work, store: Store, writer: int) -> list[str]:
    store.open()  # what is imported on the way is not part of the race
    _barrier.wait(_TOGETHER_SECONDS)
    return work(store, writer)
