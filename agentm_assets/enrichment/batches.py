"""Questions that are handed over at once and answered within a day.

Before a batch is handed over, a file in `log/batches/` says which questions are in it; afterwards
it says the batch's id. So a killed run neither asks twice nor loses what it asked: a batch whose id
nobody wrote down is found again by its questions. Answers are kept as they are read
(`enrichment.answers`), and only then is the batch forgotten.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.enrichment.answers import KeptAnswers
from agentm_assets.enrichment.judges import HandedOver
from agentm_assets.models.answers import NOTHING_USED
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    BatchState,
    ModelError,
    ModelMisconfigured,
    ModelRequest,
    ModelUnavailable,
    PerhapsTaken,
)

MOST_QUESTIONS: Final = 2_000
"""In one batch: what a failure costs, and what is held in memory."""

_LONGEST: Final = timedelta(days=29)
"""Providers give the results of a batch for so long."""

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class _Open:
    """A batch that was handed over, or was about to be: then `batch_id` is None."""

    file: Path
    model_id: str
    keys: tuple[str, ...]
    since: datetime
    batch_id: str | None

    def save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = {
            "v": _VERSION,
            "model": self.model_id,
            "keys": self.keys,
            "since": self.since.isoformat(),
            "id": self.batch_id,
        }
        replace_whole(self.file, json.dumps(written))


class Batches:
    """The batches of one model over one vault. Methods raise OSError when the folder can't be used.

    `now`: the wall clock. `timeout`: seconds for each request to the server.
    """

    def __init__(
        self,
        location: VaultLocation,
        model_id: str,
        provider: BatchProvider,
        kept: KeptAnswers,
        *,
        timeout: float,
        now: Callable[[], datetime],
    ) -> None:
        self._folder = location.log_dir / "batches"
        self._model_id = model_id
        self._provider = provider
        self._kept = kept
        self._timeout = timeout
        self._now = now
        self._held: set[str] = set()
        self._waiting: dict[str, ModelRequest] = {}
        self.remarks: list[str] = []

    def collect(self) -> None:
        """Read what has ended; note what is still being answered. What was not answered waits."""
        for batch in self._open_batches():
            try:
                self._collect(batch)
            except ModelUnavailable as error:
                self._held.update(batch.keys)
                self._remark(f"a batch could not be asked about: {error}")
            except ModelError as error:
                batch.file.unlink(missing_ok=True)
                self._remark(f"a batch is given up: {error}")

    def holds(self, key: str) -> bool:
        """Is the question in a batch that has not ended, or in the one that is being made?"""
        return key in self._held or key in self._waiting

    def add(self, request: ModelRequest) -> None:
        self._waiting[request.key] = request

    def submit(self) -> HandedOver:
        """Hand over what was added."""
        requests = list(self._waiting.values())
        self._waiting.clear()
        handed = failed = 0
        because: str | None = None
        for first in range(0, len(requests), MOST_QUESTIONS):
            some = requests[first : first + MOST_QUESTIONS]
            try:
                self._submit(some)
                handed += len(some)
            except ModelError as error:
                failed += len(some)
                because = str(error)
        return HandedOver(handed, failed, because)

    def _submit(self, requests: list[ModelRequest]) -> None:
        keys = tuple(request.key for request in requests)
        name = sha256("\n".join(sorted(keys)).encode()).hexdigest()[:32]
        batch = _Open(self._folder / f"{name}.json", self._model_id, keys, self._now(), None)
        batch.save()
        try:
            batch_id = self._provider.submit(requests, timeout=self._timeout)
        except PerhapsTaken as error:
            self._remark(f"whether a batch was taken is found out in the next run: {error}")
        except ModelError:
            batch.file.unlink(missing_ok=True)
            raise
        else:
            _Open(batch.file, batch.model_id, keys, batch.since, batch_id).save()
        self._held.update(keys)

    def _collect(self, batch: _Open) -> None:
        if batch.batch_id is None:
            found = self._provider.find(batch.keys, since=batch.since, timeout=self._timeout)
            if found is None:
                batch.file.unlink(missing_ok=True)  # it never was handed over
                return
            batch = _Open(batch.file, batch.model_id, batch.keys, batch.since, found)
            batch.save()
        assert batch.batch_id is not None
        state = self._provider.state(batch.batch_id, timeout=self._timeout)
        if not state.ended:
            self._held.update(batch.keys)
            return
        answered = self._read(batch.batch_id, frozenset(batch.keys))
        self._say_what_is_missing(state, answered, len(batch.keys))
        batch.file.unlink(missing_ok=True)

    def _read(self, batch_id: str, keys: frozenset[str]) -> int:
        answered = 0
        for result in self._provider.results(batch_id, timeout=self._timeout):
            if result.key not in keys:
                continue
            if result.reply is not None:
                self._kept.keep(self._model_id, result.key, result.reply)
                answered += 1
            elif isinstance(result.error, AnswerUnusable | ModelMisconfigured):
                error = result.error
                used = error.usage if isinstance(error, AnswerUnusable) else NOTHING_USED
                self._kept.keep_unusable(self._model_id, result.key, str(error), used)
                answered += 1
        return answered

    def _say_what_is_missing(self, state: BatchState, answered: int, asked: int) -> None:
        if answered < asked:
            self._remark(
                f"a batch ended ({state.status}) with {answered:,} of {asked:,} answers; the rest "
                "waits"
            )

    def _open_batches(self) -> Iterator[_Open]:
        for file in sorted(self._folder.glob("*.json")):
            batch = _parsed(file)
            if batch is None or self._now() - batch.since > _LONGEST:
                file.unlink(missing_ok=True)
                self._remark("the record of a batch was too old or damaged; its notes wait")
            elif batch.model_id == self._model_id:
                yield batch

    def _remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)


def _parsed(file: Path) -> _Open | None:
    try:
        written: Any = json.loads(file.read_bytes())
        if written["v"] != _VERSION:
            return None
        since = datetime.fromisoformat(written["since"]).astimezone(UTC)
        keys = tuple(str(key) for key in written["keys"])
        batch_id = written["id"]
        return _Open(file, str(written["model"]), keys, since, batch_id and str(batch_id))
    except (ValueError, KeyError, TypeError):
        return None
