"""Answers that were paid for and whose notes are not written yet, kept on this machine.

A killed run would ask for them again. Each is a file of its own in `log/answers/`, readable by the
operator alone: it holds what a model made of a scrubbed note. It goes when the note is written or
the answer refused.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from agentm_assets.capture.files import replace_whole
from agentm_assets.config.vault import VaultLocation
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    ModelReply,
    ModelRequest,
    Provider,
    Usage,
)

KEPT_DAYS: Final = 30
"""After that an answer is to a question that nobody asks any more."""

_VERSION: Final = 1


class KeptAnswers:
    """The answers of one vault. Any method raises OSError when the folder can't be used."""

    def __init__(self, location: VaultLocation) -> None:
        self._folder = location.log_dir / "answers"

    def get(self, model_id: str, key: str) -> ModelReply | None:
        """The answer of that model to that question, None when there is none or it is damaged."""
        try:
            written = self._written(model_id, key)
            return ModelReply(
                str(written["text"]),
                str(written["model"]),
                _usage(written),
                float(written["seconds"]),
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def unusable(self, model_id: str, key: str) -> AnswerUnusable | None:
        """What was kept by `keep_unusable`: the question was asked, and this came of it."""
        try:
            written = self._written(model_id, key)
            return AnswerUnusable(str(written["unusable"]), _usage(written))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def keep(self, model_id: str, key: str, reply: ModelReply) -> None:
        """On return the answer is on the disk."""
        said = {"text": reply.text, "model": reply.model, "seconds": reply.seconds}
        self._write(model_id, key, said, reply.usage)

    def keep_unusable(self, model_id: str, key: str, why: str, usage: Usage) -> None:
        """A batch's answer that is none. It may be read by the run of another month than that of
        its note, which must hear of it and would ask again for ever."""
        self._write(model_id, key, {"unusable": why}, usage)

    def drop(self, model_id: str, key: str) -> None:
        self._file(model_id, key).unlink(missing_ok=True)

    def sweep(self, now_seconds: float) -> None:
        """Remove what is older than KEPT_DAYS. `now_seconds` since the epoch."""
        for file in self._folder.glob("*.json*"):
            with suppress(FileNotFoundError):
                if now_seconds - file.stat().st_mtime > KEPT_DAYS * 86_400:
                    file.unlink()

    def _written(self, model_id: str, key: str) -> Any:
        written: Any = json.loads(self._file(model_id, key).read_bytes())
        if written["v"] != _VERSION:
            raise ValueError("of another version")
        return written

    def _write(self, model_id: str, key: str, said: Mapping[str, object], used: Usage) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        usage = {"input": used.input_tokens, "output": used.output_tokens, "cost": used.cost}
        written = {"v": _VERSION, **said, "usage": usage}
        replace_whole(self._file(model_id, key), json.dumps(written))

    def _file(self, model_id: str, key: str) -> Path:
        name = sha256(f"{model_id}\0{key}".encode("utf-8", "replace")).hexdigest()[:40]
        return self._folder / f"{name}.json"


class KeepingProvider:
    """The same model; what it answers is kept, and what is kept is not asked about again."""

    def __init__(self, provider: Provider, kept: KeptAnswers) -> None:
        self._provider = provider
        self._kept = kept

    @property
    def model_id(self) -> str:
        return self._provider.model_id

    @property
    def batches(self) -> BatchProvider | None:
        return self._provider.batches

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises ModelError, and OSError when the answer can't be kept."""
        held = self._kept.get(self.model_id, request.key)
        if held is not None:
            return held
        reply = self._provider.ask(request, timeout=timeout)
        self._kept.keep(self.model_id, request.key, reply)
        return reply

    def reachable(self, *, timeout: float) -> str | None:
        return self._provider.reachable(timeout=timeout)


def _usage(written: Mapping[str, Any]) -> Usage:
    usage = written["usage"]
    return Usage(int(usage["input"]), int(usage["output"]), usage["cost"])


def named(request: ModelRequest, work: Mapping[str, str]) -> ModelRequest:
    """The request under a key that is that of the work: the same bytes under other rules, by
    another prompt or with other words of the asker are another question, and the same bytes under
    another name are not."""
    parts = json.dumps([request.schema_name, sorted(work.items())])
    digest = sha256(parts.encode("utf-8", "replace")).hexdigest()[:48]
    return replace(request, key=f"{request.schema_name[:12]}-{digest}")
