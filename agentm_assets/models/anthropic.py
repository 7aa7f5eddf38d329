"""Claude models by Anthropic's Messages API, and many questions at once by its Message Batches.

Wire format: platform.claude.com, API reference (version 2023-06-01). Answers are held to the schema
by `output_config.format`; a forced tool, the older way, is an error with the current models.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentm_assets.models.answers import (
    NOTHING_USED,
    ROOM_FOR_THOUGHT,
    count,
    cut_off,
    no_answer,
    over_long_question,
    parsed_json,
    refused,
    table,
    too_long,
    usable,
)
from agentm_assets.models.base_url import same_origin
from agentm_assets.models.http_calls import (
    BodyTooLong,
    HttpAnswer,
    HttpCalls,
    error_code,
)
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price, cost_of
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    BatchResult,
    BatchState,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
    Usage,
)
from agentm_assets.models.schema_modes import for_decoding

BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"

CLOCKS_APART = timedelta(minutes=10)
"""As far may a server's clock be from ours."""

MOST_BATCH_BYTES = 512 * 1024 * 1024

_TRANSIENT = frozenset({"api_error", "overloaded_error", "rate_limit_error", "timeout_error"})
_TOO_LONG = ("prompt is too long", "exceeds the context")


class AnthropicProvider:
    """One Claude model. `key` is sent to `base_url` alone."""

    def __init__(
        self,
        model: str,
        key: str,
        *,
        base_url: str = BASE_URL,
        price: Price | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._model = model
        self._price = price
        self._pace = pace or Pace()
        headers = {"x-api-key": key, "anthropic-version": API_VERSION}
        self._http = HttpCalls(base_url, headers, self._pace)

    @property
    def model_id(self) -> str:
        return f"anthropic/{self._model}"

    @property
    def batches(self) -> BatchProvider:
        return _Batches(self)

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        began = self._pace.clock()
        try:
            answer = self._http.post(
                "/v1/messages", self.body(request), timeout=timeout, is_repeatable=True
            )
        except BodyTooLong:
            raise too_long(NOTHING_USED) from None
        if not answer.ok:
            raise self.refusal(answer)
        return self.reply(answer.json(), self._pace.clock() - began, in_batch=False)

    def reachable(self, *, timeout: float) -> str | None:
        try:
            answer = self._http.get(f"/v1/models/{self._model}", timeout=timeout)
        except ModelError as error:
            return str(error)
        return None if answer.ok else str(self.refusal(answer))

    def body(self, request: ModelRequest) -> dict[str, object]:
        return {
            "model": self._model,
            "max_tokens": request.max_output_tokens + ROOM_FOR_THOUGHT,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
            "output_config": {
                "format": {"type": "json_schema", "schema": for_decoding(request.schema)}
            },
        }

    def reply(self, message: Any, seconds: float, *, in_batch: bool) -> ModelReply:
        """A message as a reply. Raises AnswerUnusable."""
        if not isinstance(message, dict) or message.get("type") != "message":
            raise no_answer("not a message in JSON")
        used = table(message.get("usage"))
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = count(used, "input_tokens", *cached), count(used, "output_tokens")
        usage = Usage(*tokens, cost_of(self._price, *tokens, in_batch=in_batch))
        stopped = message.get("stop_reason")
        if stopped in ("max_tokens", "model_context_window_exceeded"):
            raise cut_off(usage)
        if stopped == "refusal":
            raise refused(usage)
        if stopped not in ("end_turn", "stop_sequence"):
            raise AnswerUnusable("the model stopped before it had answered.", usage)
        blocks = message.get("content")
        texts = [
            block["text"]
            for block in (blocks if isinstance(blocks, list) else [])
            if isinstance(block, dict)
            and block.get("type") == "text"
            and isinstance(block.get("text"), str)
        ]
        model = message.get("model")
        named = model if isinstance(model, str) else self._model
        return ModelReply(usable("".join(texts), usage), named, usage, seconds)

    def refusal(self, answer: HttpAnswer) -> ModelError:
        """Why a request was not taken."""
        if answer.status == 404:
            return ModelMisconfigured(
                f"the server knows no model {self._model} (404). Check the model's name and "
                "base_url."
            )
        return _error(answer.json(), too_large=answer.status == 413)

    @property
    def http(self) -> HttpCalls:
        return self._http


class _Batches:
    def __init__(self, provider: AnthropicProvider) -> None:
        self._of = provider

    def submit(self, requests: Sequence[ModelRequest], *, timeout: float) -> str:
        listed = [{"custom_id": each.key, "params": self._of.body(each)} for each in requests]
        # Sent twice, a batch is paid twice: so only what was surely not taken is sent again.
        answer = self._of.http.post(
            "/v1/messages/batches", {"requests": listed}, timeout=timeout, is_repeatable=False
        )
        if not answer.ok:
            raise self._of.refusal(answer)
        batch_id = table(answer.json()).get("id")
        if not isinstance(batch_id, str) or not batch_id:
            raise ModelUnavailable("the server took a batch and named no id for it.")
        return batch_id

    def find(self, keys: Sequence[str], *, since: datetime, timeout: float) -> str | None:
        answer = self._of.http.get("/v1/messages/batches?limit=100", timeout=timeout)
        if not answer.ok:
            raise self._of.refusal(answer)
        listed = table(answer.json()).get("data")
        may_be = False
        for batch in map(table, listed if isinstance(listed, list) else ()):
            batch_id = batch.get("id")
            counts = table(batch.get("request_counts"))
            is_recent = _moment(batch.get("created_at"), since) >= since - CLOCKS_APART
            if (
                not is_recent
                or count(counts, *counts) != len(keys)
                or not isinstance(batch_id, str)
            ):
                continue
            # A batch names its requests in its results, which it has once it has ended.
            if batch.get("processing_status") != "ended":
                may_be = True
            elif {each.key for each in self.results(batch_id, timeout=timeout)} == set(keys):
                return batch_id
        if may_be:
            raise ModelUnavailable("a batch is under way that may be the one. Ask when it ended.")
        return None

    def state(self, batch_id: str, *, timeout: float) -> BatchState:
        batch = self._batch(batch_id, timeout)
        counts = table(batch.get("request_counts"))
        answered = count(counts, "succeeded", "errored")
        expired, cancelled = count(counts, "expired"), count(counts, "canceled")
        done = answered + expired + cancelled
        total = done + count(counts, "processing")
        if batch.get("processing_status") != "ended":
            return BatchState("in_progress", done, total)
        if answered == 0 and expired:
            return BatchState("expired", done, total)
        if answered == 0 and cancelled:
            return BatchState("cancelled", done, total)
        return BatchState("ended", done, total)

    def results(self, batch_id: str, *, timeout: float) -> Iterator[BatchResult]:
        url = self._batch(batch_id, timeout).get("results_url")
        if not isinstance(url, str):
            raise ModelUnavailable(
                "the batch has no results to read: it has not ended, or they are too old to be "
                "kept."
            )
        if not same_origin(url, self._of.http.base_url):
            raise ModelMisconfigured(
                "the results of the batch lie on another server than base_url, and the key does "
                "not go there. Give that server as base_url."
            )
        with self._of.http.download(url, timeout=timeout, most_bytes=MOST_BATCH_BYTES) as file:
            for line in file:
                written = table(parsed_json(line))
                key = written.get("custom_id")
                if isinstance(key, str):
                    yield self._result(key, table(written.get("result")))

    def _result(self, key: str, result: Mapping[str, Any]) -> BatchResult:
        kind = result.get("type")
        try:
            if kind == "succeeded":
                reply = self._of.reply(result.get("message"), 0.0, in_batch=True)
                return BatchResult(key, reply, None)
        except AnswerUnusable as error:
            return BatchResult(key, None, error)
        if kind == "errored":
            return BatchResult(key, None, _error(result.get("error"), too_large=False))
        return BatchResult(key, None, ModelUnavailable("the batch ended before this was asked."))

    def _batch(self, batch_id: str, timeout: float) -> Mapping[str, Any]:
        answer = self._of.http.get(f"/v1/messages/batches/{batch_id}", timeout=timeout)
        if answer.status == 404:
            raise ModelMisconfigured(
                "the server knows no such batch (404): it was made with another key or elsewhere."
            )
        if not answer.ok:
            raise self._of.refusal(answer)
        batch = answer.json()
        if not isinstance(batch, dict) or "processing_status" not in batch:
            raise ModelUnavailable("what came is no state of a batch.")
        return batch


def _moment(written: Any, otherwise: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        return otherwise
    return otherwise if moment.tzinfo is None else moment


def _error(said: Any, *, too_large: bool) -> ModelError:
    """The error that an error object stands for."""
    code = error_code(said) or "no code"
    message = table(table(said).get("error")).get("message")
    if code in _TRANSIENT:
        return ModelUnavailable(f"the model's server is busy or broken ({code}).")
    if too_large or (
        isinstance(message, str) and any(words in message.lower() for words in _TOO_LONG)
    ):
        return over_long_question()
    return ModelMisconfigured(
        f"the model's server does not take the request ({code}). Check that this model has "
        "structured outputs and that the account may use it."
    )
