"""Batch files as OpenAI has them: a file of requests goes up, two files of results come down."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, Protocol

from agentm_assets.models.answers import parsed_json, table
from agentm_assets.models.http_calls import HttpAnswer, HttpCalls, error_code
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchResult,
    BatchState,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
)

CLOCKS_APART_SECONDS = 600
"""As far may a server's clock be from ours."""

_MARK = "agentm"
MOST_BATCH_BYTES = 512 * 1024 * 1024

_ENDED: Mapping[str, Literal["ended", "expired", "cancelled", "failed"]] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_NOT_RUN = frozenset({"batch_expired", "batch_cancelled", "server_error", "rate_limit_exceeded"})


class _Reply(Protocol):
    def __call__(self, completion: Any, seconds: float, *, in_batch: bool) -> ModelReply: ...


class OpenAIBatches:
    """The batches of one model. `body`, `reply` and `refusal` are the provider's own."""

    def __init__(
        self,
        http: HttpCalls,
        body: Callable[[ModelRequest], dict[str, object]],
        reply: _Reply,
        refusal: Callable[[HttpAnswer], ModelError],
    ) -> None:
        self._http = http
        self._body = body
        self._reply = reply
        self._refusal = refusal

    def submit(self, requests: Sequence[ModelRequest], *, timeout: float) -> str:
        with tempfile.TemporaryFile() as file:
            for each in requests:
                line = {
                    "custom_id": each.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self._body(each),
                }
                file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            uploaded = self._http.post_file("/files", {"purpose": "batch"}, file, timeout=timeout)
        file_id = self._id_of(uploaded)
        wanted = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_MARK: _digest([each.key for each in requests])},
        }
        # Sent twice, a batch is paid twice: so only what was surely not taken is sent again.
        return self._id_of(
            self._http.post("/batches", wanted, timeout=timeout, is_repeatable=False)
        )

    def find(self, keys: Sequence[str], *, since: datetime, timeout: float) -> str | None:
        answer = self._http.get("/batches?limit=100", timeout=timeout)
        if not answer.ok:
            raise self._refusal(answer)
        listed = table(answer.json()).get("data")
        first = since.timestamp() - CLOCKS_APART_SECONDS
        for batch in map(table, listed if isinstance(listed, list) else ()):
            batch_id, made = batch.get("id"), batch.get("created_at")
            is_recent = not isinstance(made, int | float) or made >= first
            is_marked = table(batch.get("metadata")).get(_MARK) == _digest(keys)
            if is_recent and is_marked and isinstance(batch_id, str):
                return batch_id
        return None

    def state(self, batch_id: str, *, timeout: float) -> BatchState:
        batch = self._batch(batch_id, timeout)
        counts = table(batch.get("request_counts"))
        numbers = [counts.get(name) for name in ("completed", "failed", "total")]
        completed, failed, total = (n if isinstance(n, int) else 0 for n in numbers)
        status = _ENDED.get(str(batch["status"]))
        return BatchState(status or "in_progress", completed + failed, total)

    def results(self, batch_id: str, *, timeout: float) -> Iterator[BatchResult]:
        batch = self._batch(batch_id, timeout)
        for name in ("output_file_id", "error_file_id"):
            file_id = batch.get(name)
            if isinstance(file_id, str) and file_id:
                yield from self._lines(file_id, timeout)

    def _lines(self, file_id: str, timeout: float) -> Iterator[BatchResult]:
        path = f"/files/{file_id}/content"
        with self._http.download(path, timeout=timeout, most_bytes=MOST_BATCH_BYTES) as file:
            for line in file:
                written = table(parsed_json(line))
                key = written.get("custom_id")
                if isinstance(key, str):
                    yield self._result(key, written)

    def _result(self, key: str, written: Mapping[str, Any]) -> BatchResult:
        response = table(written.get("response"))
        status = response.get("status_code")
        body = response.get("body")
        if status == 200:
            try:
                return BatchResult(key, self._reply(body, 0.0, in_batch=True), None)
            except AnswerUnusable as error:
                return BatchResult(key, None, error)
        code = error_code(written) or error_code(body)
        told = f"{status}, {code or 'no code'}" if isinstance(status, int) else code or "no code"
        if not isinstance(status, int):
            not_run = code in _NOT_RUN or not code
        else:
            not_run = status == 429 or status >= 500
        if not_run:
            return BatchResult(
                key, None, ModelUnavailable(f"the batch ended before this was answered ({told}).")
            )
        refused = HttpAnswer(
            status if isinstance(status, int) else 400, "", json.dumps(body).encode()
        )
        return BatchResult(key, None, self._refusal(refused))

    def _batch(self, batch_id: str, timeout: float) -> Mapping[str, Any]:
        answer = self._http.get(f"/batches/{batch_id}", timeout=timeout)
        if answer.status == 404:
            raise ModelMisconfigured(
                "the server knows no such batch (404): it was made with another key or elsewhere."
            )
        if not answer.ok:
            raise self._refusal(answer)
        batch = answer.json()
        if not isinstance(batch, dict) or not isinstance(batch.get("status"), str):
            raise ModelUnavailable("what came is no state of a batch.")
        return batch

    def _id_of(self, answer: HttpAnswer) -> str:
        if not answer.ok:
            raise self._refusal(answer)
        named = table(answer.json()).get("id")
        if not isinstance(named, str) or not named:
            raise ModelUnavailable("the server took a batch and named no id for it.")
        return named


def _digest(keys: Sequence[str]) -> str:
    """What marks a batch as the one of these requests."""
    return sha256("\n".join(sorted(keys)).encode()).hexdigest()[:32]
