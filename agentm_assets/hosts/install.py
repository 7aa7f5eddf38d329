"""Adding agentm to a host and taking it back: planned first, backed up, written whole.

What was added is recorded beside the state of agentm (`hosts/<host>.json`), so that taking it back
knows what is ours, even when agentm has moved since.
"""

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentm_assets.config.directories import engine_dir
from agentm_assets.hosts.edits import Edit, EditImpossible, JsonHook, JsonServer, TomlServer
from agentm_assets.hosts.errors import HostRefused
from agentm_assets.hosts.hosts import HostFile
from agentm_assets.storage.atomic import create_file, replace_file

_BOM = "\ufeff"
_WIDEST = 160  # characters of a line that an eye can follow
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """What one file would become. `before` None: there is none; `after` None: it goes away."""

    path: Path
    before: bytes | None
    after: bytes | None
    edits: tuple[Edit, ...]
    left: bool = False  # taking back leaves an entry that somebody changed since

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def diff(self) -> str:
        """Added and removed lines alone, each whole: what stands around them may be secret. A file
        that holds its JSON on one line is compared laid out, for the same reason."""
        lines = (_lines(self.before), _lines(self.after))
        if any(len(line) > _WIDEST for side in lines for line in side):
            before, after = _laid_out(self.before), _laid_out(self.after)
            if before is not None and after is not None:
                return self._compared(before, after)
        return self._compared(*lines)

    def _compared(self, before: list[str], after: list[str]) -> str:
        name = str(self.path)
        return "\n".join(difflib.unified_diff(before, after, name, name, "", "", 0, ""))


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was changed. `backup` None: there was no file before."""

    path: Path
    backup: Path | None


def plan_install(files: Sequence[HostFile]) -> tuple[Change, ...]:
    """What adding would change, in each file. Raises HostRefused; touches nothing."""
    changes: list[Change] = []
    for file in files:
        path = _real(file.path)
        before = _read(path)
        text = _text(path, before) if before is not None else ""
        try:
            after = text if text.strip() else file.empty
            for edit in file.edits:
                after = edit.apply(after)
        except EditImpossible as error:
            raise HostRefused(
                f"{path} is left as it is: {error}. Add the entry by hand (docs/agents.md), or "
                "mend the file first."
            ) from error
        changes.append(Change(path, before, _bytes(after, before), file.edits))
    return tuple(changes)


def plan_undo(host: str, env: Mapping[str, str]) -> tuple[Change, ...]:
    """What taking back would change: the whole old file where nobody changed it since, else only
    what we added. Raises HostRefused, also when nothing was ever added."""
    changes: list[Change] = []
    for written in _record(host, env):
        path, before = Path(written["path"]), _read(Path(written["path"]))
        edits = tuple(_edit(each) for each in written["edits"])
        if before is None:
            changes.append(Change(path, None, None, edits))
            continue
        after = _without_ours(path, before, edits)
        left = after is not None and any(edit.stands(_text(path, after)) for edit in edits)
        if sha256(before).hexdigest() == written["after"]:
            with suppress(_BackupGone):
                after, left = _old_bytes(written), False
        changes.append(Change(path, before, after, edits, left))
    return tuple(changes)


def _without_ours(path: Path, data: bytes, edits: Sequence[Edit]) -> bytes | None:
    text = _text(path, data)
    try:
        for edit in edits:
            text = edit.revert(text)
    except EditImpossible as error:
        raise HostRefused(f"{path} is left as it is: {error}. Mend it first.") from error
    return _bytes(text, data)


def apply_install(
    host: str, changes: Sequence[Change], env: Mapping[str, str], now: datetime
) -> tuple[Written, ...]:
    """Write what was planned, each file backed up first and recorded at once.

    Raises HostRefused for a file that is no longer what it was when it was planned, OSError.
    """
    done: list[Written] = []
    for change in changes:
        if change.is_none:
            continue
        backup = _write(change, now)
        _remember(host, env, change, backup)
        done.append(Written(change.path, backup))
    return tuple(done)


def apply_undo(
    host: str, changes: Sequence[Change], env: Mapping[str, str], now: datetime
) -> tuple[Written, ...]:
    """Take back what was planned. A file that we made and nobody changed since is removed, its
    bytes kept in the backup. Raises HostRefused, OSError."""
    done = [Written(change.path, _write(change, now)) for change in changes if not change.is_none]
    if not any(change.left for change in changes):
        _record_file(host, env).unlink(missing_ok=True)
    return tuple(done)


def _write(change: Change, now: datetime) -> Path | None:
    path = change.path
    if change.before is None:
        try:
            create_file(path, change.after or b"")
        except FileExistsError as error:
            raise _changed(path) from error
        return None
    backup = path.with_name(f"{path.name}.agentm-backup-{now:%Y%m%dT%H%M%S%f}")
    handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
        file.write(change.before)
        file.flush()
        os.fsync(file.fileno())

    def same() -> None:
        if _read(path) != change.before:
            backup.unlink()
            raise _changed(path)

    if change.after is None:
        same()
        path.unlink()
    else:
        replace_file(path, change.after, before_rename=same)
    return backup


def _changed(path: Path) -> HostRefused:
    return HostRefused(f"{path} was changed a moment ago by another program. Run this again.")


def _real(path: Path) -> Path:
    """Where the file really is: a link to a folder of dotfiles stays a link."""
    return Path(os.path.realpath(path))


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostRefused(f"{path} can't be read: {error.strerror}. Mend that first.") from error
    if len(data) > _MOST_BYTES:
        raise HostRefused(f"{path} is over {_MOST_BYTES} bytes. Add the entry by hand.")
    return data


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise HostRefused(f"{path} is not UTF-8, so it is left as it is.") from error


def _bytes(text: str, before: bytes | None) -> bytes:
    had_bom = before is not None and before.startswith(_BOM.encode())
    return (_BOM if had_bom else "").encode() + text.encode()


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").split("\n") if text else []


def _laid_out(data: bytes | None) -> list[str] | None:
    """The lines of a JSON file as a person would lay it out; None when it is none."""
    try:
        value = json.loads((data or b"{}").decode("utf-8").removeprefix(_BOM))
    except ValueError:
        return None
    return json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def _old_bytes(written: Mapping[str, Any]) -> bytes | None:
    """The bytes before our first change; None when there was no file. Raises _BackupGone."""
    if written["before"] is None:
        return None
    try:
        data = Path(written["backup"]).read_bytes()
    except OSError as error:
        raise _BackupGone from error
    if sha256(data).hexdigest() != written["before"]:
        raise _BackupGone
    return data


class _BackupGone(Exception):
    """The old bytes are nowhere to be had; what we added can still be taken out."""


def _record_file(host: str, env: Mapping[str, str]) -> Path:
    return engine_dir(env) / "hosts" / f"{host}.json"


def _record(host: str, env: Mapping[str, str]) -> list[dict[str, Any]]:
    file = _record_file(host, env)
    try:
        written = json.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise HostRefused(
            f"agentm was not added to {host} by `agentm install`; there is nothing to take back."
        ) from error
    except (OSError, ValueError) as error:
        raise HostRefused(
            f"the record {file} can't be read. Take the entry out by hand."
        ) from error
    return list(written["files"])


def _remember(host: str, env: Mapping[str, str], change: Change, backup: Path | None) -> None:
    """Enter a change. The oldest state stays the one to go back to, as long as only we wrote."""
    file = _record_file(host, env)
    files = _record(host, env) if file.exists() else []
    entry: dict[str, Any] = {
        "path": str(change.path),
        "before": None if change.before is None else sha256(change.before).hexdigest(),
        "backup": None if backup is None else str(backup),
        "after": sha256(change.after or b"").hexdigest(),
        "edits": [_described(edit) for edit in change.edits],
    }
    for old in files:
        if old["path"] == entry["path"] and old["after"] == entry["before"]:
            entry |= {"before": old["before"], "backup": old["backup"]}
    kept = [old for old in files if old["path"] != entry["path"]]
    data = json.dumps({"files": [*kept, entry]}, indent=2).encode()
    if file.exists():
        replace_file(file, data, before_rename=lambda: None)
    else:
        create_file(file, data)


def _described(edit: Edit) -> dict[str, Any]:
    if isinstance(edit, JsonServer):
        return {"kind": "json", "path": list(edit.path), "entry": edit.entry}
    if isinstance(edit, TomlServer):
        return {"kind": "toml", "entry": edit.entry}
    return {"kind": "hook", **asdict(edit)}


def _edit(written: Mapping[str, Any]) -> Edit:
    if written["kind"] == "json":
        return JsonServer(tuple(written["path"]), written["entry"])
    if written["kind"] == "toml":
        return TomlServer(written["entry"])
    return JsonHook(written["event"], written["name"], written["command"], written["timeout"])
