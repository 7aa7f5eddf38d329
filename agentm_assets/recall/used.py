"""Genuine recalls: `log/recalls.jsonl`, one line for an answer that somebody got.

Only they reset the clock by which a memory fades. Who asks for maintenance (evaluation, benchmarks,
tests) calls `recall` and not this.
"""

import json
import os
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

from agentm_assets.capture.files import append_line
from agentm_assets.config.vault import VaultLocation
from agentm_assets.recall.answer import Answer

LOG = "recalls.jsonl"
_READ_AT_FIRST = 8 * 1024 * 1024  # bytes, the newest: some 25,000 answers


def note_recall(location: VaultLocation, answer: Answer, now: datetime) -> bool:
    """Enter the notes of a trusted answer; one that is weak or none used nothing.

    False when the log can't be written: an answer is worth more than its entry.
    """
    if answer.verdict != "answer" or not answer.hits:
        return True
    entry = {
        "at": now.isoformat(timespec="seconds"),
        "paths": [hit.path for hit in answer.hits],
    }
    try:
        append_line(location.log_dir / LOG, json.dumps(entry, ensure_ascii=False))
    except OSError:
        return False
    return True


class LastRecalled:
    """The day of each note's last genuine recall, kept up to date by reading what was appended."""

    def __init__(self, location: VaultLocation) -> None:
        self._file: Path = location.log_dir / LOG
        self._read = 0
        self._days: dict[str, date] = {}

    def current(self) -> Mapping[str, date]:
        """Empty without a log, and with one that can't be read: then capture alone counts."""
        try:
            with self._file.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._read:  # another log was put in its place
                    self._read, self._days = 0, {}
                file.seek(self._read or max(0, size - _READ_AT_FIRST))
                data = file.read(size - file.tell())
        except OSError:
            return {}
        whole = data.rfind(b"\n") + 1
        for line in data[:whole].split(b"\n"):
            self._take(line)
        self._read = size - (len(data) - whole)
        return self._days

    def _take(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            day = datetime.fromisoformat(entry["at"]).date()
            paths = [str(path) for path in entry["paths"]]
        except (ValueError, TypeError, KeyError):
            return  # blank, or torn
        for path in paths:
            if day > self._days.get(path, date.min):
                self._days[path] = day
