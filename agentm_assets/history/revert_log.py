"""The revert log: one line for every file that an automated run changed, kept in the vault.

`Agent/_meta/revert-log.jsonl`. A line says which bytes were there before and after, by their
hashes, and in which commit the bytes before can be found. Lines are added and never taken away.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from agentm_assets.history.records import append_lines
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.seam import StorageBackend

LOG = Locator("Agent/_meta/revert-log.jsonl")
VERSION = 1
GONE = ""
"""What stands as `after` where a run took a name away: the file has another one since."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a run changed.

    `before` and `after` are content hashes; `before` None for a file that the run made. `base`: the
    commit that holds the bytes before, None where there is none. `at`: UTC, ISO 8601.
    `pass_name` stands as "pass" in the log. `moved_from`: the name that the file had before this
    run; another change of the run then says that nothing has that name any more (GONE).
    """

    run: str
    pass_name: str
    path: str
    before: str | None
    after: str
    base: str | None
    at: str
    moved_from: str | None = None

    def line(self) -> str:
        """The change as it stands in a log, without a line end."""
        written = asdict(self)
        written["pass"] = written.pop("pass_name")
        if self.moved_from is None:
            del written["moved_from"]
        return json.dumps({"v": VERSION, **written}, ensure_ascii=False, separators=(",", ":"))


def parse(line: bytes) -> Change | None:
    """What a line says; None for a blank or torn one and for one of a later version."""
    try:
        written = json.loads(line)
        if written["v"] != VERSION:
            return None
        texts = [written[name] for name in ("run", "pass", "path", "after", "at")]
        optional = [written["before"], written["base"], written.get("moved_from")]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    whole = all(isinstance(text, str) for text in texts)
    if not whole or not all(text is None or isinstance(text, str) for text in optional):
        return None
    run, pass_name, path, after, at = texts
    before, base, moved_from = optional
    return Change(run, pass_name, path, before, after, base, at, moved_from)


def read_log(backend: StorageBackend) -> tuple[list[Change], int]:
    """The changes, oldest first, and how many lines can't be understood. Raises StorageError."""
    changes, broken = read_lines(backend)
    return changes, len(broken)


def read_lines(backend: StorageBackend) -> tuple[list[Change], list[bytes]]:
    """The changes, oldest first, and the lines that can't be understood: torn, of a later version,
    or of a path that nothing can have. Raises StorageError."""
    try:
        data = backend.read_bytes(LOG)
    except FileNotFoundError:
        return [], []
    changes: list[Change] = []
    broken: list[bytes] = []
    for line in data.split(b"\n"):
        change = parse(line)
        if change is not None and all(map(_is_place, (change.path, change.moved_from or "-"))):
            changes.append(change)
        elif line.strip():
            broken.append(line)
    return changes, broken


def may_be_of(line: bytes, run_id: str) -> bool:
    """Whether a line that was torn can be one of that run: it begins as such a line does."""
    begin = json.dumps({"v": VERSION, "run": run_id}, ensure_ascii=False, separators=(",", ":"))
    wanted = begin.removesuffix("}").encode("utf-8", "replace") + b","
    return line.startswith(wanted) or wanted.startswith(line)


def _is_place(path: str) -> bool:
    try:
        Locator(path)
    except LocatorInvalid:
        return False
    return True


def append(backend: StorageBackend, changes: Sequence[Change]) -> bytes:
    """Add lines, and return the log's bytes as they are now. Raises StorageError."""
    return append_lines(
        backend, LOG, [change.line().encode("utf-8", "replace") for change in changes]
    )


def stamp(now: datetime) -> str:
    """A moment as the log and run ids write it: UTC, seconds, "Z"."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
