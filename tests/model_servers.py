"""Local servers that speak the wire formats of model providers, for tests of every room.

`with anthropic_server() as server:` gives a server in a thread at `server.url`. It answers each
question with what `server.answer` makes of it (a text, or a function from `Asked` to a text), after
the `server.trouble` that is queued was had: one entry a request, the oldest first.

    server = anthropic_server(answer=lambda asked: json.dumps({...}))
    server.trouble += [Busy(429, retry_after="3"), Drop()]
    server.asked        every question, `Asked(system, user, schema, body, in_batch)`
    server.requests     every request, `Request(method, path, headers, body)`
    server.seen(b"…")   whether these bytes came in any request
    server.drops_what_it_takes   so many requests are carried out and their answers lost
    server.now          the day on which batches are made
    server.finish()     end the batches that are under way (`server.batch_answers` says how)

`openai_server()` is the same for chat completions, files and batches. The servers count, hold what
came and judge nothing. Nothing of them waits for a clock.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-9f86d081884c7d659a2feaa0"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Asked:
    """A question as it came. `body`: the whole of it in the provider's own format."""

    system: str
    user: str
    schema: dict[str, Any] | None
    body: dict[str, Any]
    in_batch: bool = False
    key: str = ""


@dataclass(frozen=True)
class Busy:
    """An error instead of an answer. `code` and `message` stand in the error object."""

    status: int = 429
    retry_after: str | None = None
    code: str = "rate_limit_error"
    message: str = "slow down"


@dataclass(frozen=True)
class Drop:
    """The connection breaks: before the answer, or in the middle of its body."""

    in_body: bool = False


@dataclass(frozen=True)
class Raw:
    """These bytes instead of an answer."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Hang:
    """Nothing comes until the server is closed. `drip`: the headers come, and one byte of a body
    each 20 ms, which keeps a time-out from byte to byte from ever running out."""

    def __init__(self, *, drip: bool = False) -> None:
        self.drip = drip


@dataclass(frozen=True)
class Stop:
    """An answer that ended otherwise than it should: Anthropic's stop_reason or OpenAI's
    finish_reason."""

    reason: str
    text: str = '{"type": "fi'
    refusal: str | None = None


Trouble = Busy | Drop | Raw | Hang | Stop
Answer = str | Stop | Busy
"""What becomes of one question: a text, an end that is none, or an error (in a batch: of that one
question)."""

NOT_RUN = Busy(0, code="expired")
"""In a batch: the question was not asked before the batch ended."""


@dataclass
class ModelServer:
    """What both servers have. Everything may be changed while it runs."""

    answer: Answer | Callable[[Asked], Answer] = '{"ok": true}'
    trouble: list[Trouble] = field(default_factory=list)
    tokens: tuple[int, int] = (1000, 200)
    model: str = "test-model"
    takes_json_schema: bool = True
    batch_answers: Answer | Callable[[Asked], Answer] | None = None
    requests: list[Request] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    now: datetime = datetime(2026, 3, 4, 12, tzinfo=UTC)
    drops_what_it_takes: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def seen(self, data: bytes) -> bool:
        """Whether the bytes came in, as they are or escaped as JSON has them."""
        escaped = json.dumps(data.decode("utf-8", "replace"))[1:-1].encode()
        return any(data in each.body or escaped in each.body for each in self.requests)

    def count(self, method: str, path: str) -> int:
        """How many requests of that method came to a path that begins so."""
        found = [r for r in self.requests if r.method == method and r.path.startswith(path)]
        return len(found)

    def answered(self, asked: Asked) -> Answer:
        with self.lock:
            self.asked.append(asked)
        wanted = self.answer
        if asked.in_batch and self.batch_answers is not None:
            wanted = self.batch_answers
        return wanted(asked) if callable(wanted) else wanted

    def finish(self, status: str = "ended") -> None:
        """End every batch. `status`: ended, expired, cancelled or failed; what was not answered is
        named by `batch_answers` giving NOT_RUN."""
        raise NotImplementedError

    def handle(self, handler: "_Handler", request: Request) -> None:
        raise NotImplementedError

    def stopped(self, handler: "_Handler", stop: Stop) -> None:
        raise NotImplementedError


class _Handler(BaseHTTPRequestHandler):
    model_server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._served()

    def do_POST(self) -> None:
        self._served()

    def _served(self) -> None:
        server = self.model_server
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        with server.lock:
            server.requests.append(request)
            trouble = server.trouble.pop(0) if server.trouble else None
        if trouble is None:
            server.handle(self, request)
        elif isinstance(trouble, Busy):
            self.fail(trouble)
        elif isinstance(trouble, Drop):
            self._drop(trouble)
        elif isinstance(trouble, Raw):
            self.give(trouble.status, trouble.body, trouble.content_type, dict(trouble.headers))
        elif isinstance(trouble, Stop):
            server.stopped(self, trouble)
        else:
            self._hang(trouble)

    def give(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        with self.model_server.lock:
            is_lost = self.model_server.drops_what_it_takes > 0 and self.command == "POST"
            self.model_server.drops_what_it_takes -= is_lost
        if is_lost:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the caller has read enough

    def give_json(self, status: int, said: object) -> None:
        self.give(status, json.dumps(said).encode())

    def fail(self, busy: Busy) -> None:
        headers = {} if busy.retry_after is None else {"retry-after": busy.retry_after}
        error = {"type": "error", "error": {"type": busy.code, "message": busy.message}}
        self.give(busy.status, json.dumps(error).encode(), headers=headers)

    def _drop(self, drop: Drop) -> None:
        self.close_connection = True
        if drop.in_body:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"type": "mess')

    def _hang(self, hang: Hang) -> None:
        self.close_connection = True
        closed = self.model_server.closed
        if not hang.drip:
            closed.wait(30)
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            while not closed.wait(0.02):
                self.wfile.write(b" ")
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            return  # the caller shut it: what the test waits for

    def log_message(self, format: str, *args: object) -> None:
        del format, args  # a test's output is its own


class AnthropicServer(ModelServer):
    """Messages, Message Batches and the list of models."""

    def handle(self, handler: _Handler, request: Request) -> None:
        path = request.path
        if path == "/v1/messages":
            body = request.json()
            answer = self.answered(_asked_of_messages(body))
            if isinstance(answer, Busy):
                handler.fail(answer)
            else:
                handler.give_json(200, self._message(answer, body))
        elif path == "/v1/messages/batches" and request.method == "POST":
            with self.lock:
                batch_id = f"msgbatch_{len(self.batches) + 1}"
                self.batches[batch_id] = {
                    "requests": request.json()["requests"],
                    "status": "in_progress",
                    "results": [],
                }
            handler.give_json(200, self._batch(batch_id))
        elif path.startswith("/v1/messages/batches?"):
            handler.give_json(200, {"data": [self._batch(each) for each in reversed(self.batches)]})
        elif path.startswith("/v1/messages/batches/"):
            batch_id, _, rest = path.removeprefix("/v1/messages/batches/").partition("/")
            if batch_id not in self.batches:
                handler.fail(Busy(404, code="not_found_error"))
            elif rest == "results":
                lines = self.batches[batch_id]["results"]
                data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
                handler.give(200, data, "application/x-jsonl")
            else:
                handler.give_json(200, self._batch(batch_id))
        elif path.startswith("/v1/models/"):
            if path.removeprefix("/v1/models/") == self.model:
                handler.give_json(200, {"type": "model", "id": self.model})
            else:
                handler.fail(Busy(404, code="not_found_error"))
        else:
            handler.fail(Busy(404, code="not_found_error"))

    def finish(self, status: str = "ended") -> None:
        for batch in self.batches.values():
            if batch["status"] == "ended":
                continue
            batch["status"] = "ended"
            for one in batch["requests"]:
                batch["results"].append(
                    {"custom_id": one["custom_id"], "result": self._result(one, status)}
                )

    def stopped(self, handler: _Handler, stop: Stop) -> None:
        handler.give_json(200, self._message(stop, {}))

    def _result(self, one: dict[str, Any], status: str) -> dict[str, Any]:
        if status != "ended":
            return {"type": {"cancelled": "canceled"}.get(status, "expired")}
        answer = self.answered(
            _asked_of_messages(one["params"], in_batch=True, key=one["custom_id"])
        )
        if answer is NOT_RUN:
            return {"type": "expired"}
        if isinstance(answer, Busy):
            error = {"type": answer.code, "message": answer.message}
            return {"type": "errored", "error": {"type": "error", "error": error}}
        return {"type": "succeeded", "message": self._message(answer, one["params"])}

    def _message(self, answer: str | Stop, body: dict[str, Any]) -> dict[str, Any]:
        text = answer if isinstance(answer, str) else answer.text
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", self.model),
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": text},
            ],
            "stop_reason": "end_turn" if isinstance(answer, str) else answer.reason,
            "usage": {
                "input_tokens": self.tokens[0],
                "output_tokens": self.tokens[1],
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": None,
            },
        }

    def _batch(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        kinds = [line["result"]["type"] for line in batch["results"]]
        names = ("succeeded", "errored", "canceled", "expired")
        counts = {name: kinds.count(name) for name in names}
        counts["processing"] = len(batch["requests"]) - len(kinds)
        ended = batch["status"] == "ended"
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": batch["status"],
            "request_counts": counts,
            "created_at": self.now.isoformat(),
            "results_url": f"{self.url}/v1/messages/batches/{batch_id}/results" if ended else None,
        }


class OpenAIServer(ModelServer):
    """Chat completions, files, batches and the list of models, below /v1."""

    def handle(self, handler: _Handler, request: Request) -> None:
        path = request.path.removeprefix("/v1")
        if path == "/chat/completions":
            self._chat(handler, request.json())
        elif path == "/files":
            with self.lock:
                file_id = f"file-{len(self.files) + 1}"
                self.files[file_id] = _uploaded(request)
            handler.give_json(200, {"id": file_id, "object": "file", "purpose": "batch"})
        elif path.startswith("/files/"):
            file_id = path.removeprefix("/files/").removesuffix("/content")
            if file_id in self.files:
                handler.give(200, self.files[file_id], "application/octet-stream")
            else:
                handler.fail(Busy(404, code="not_found"))
        elif path.startswith("/batches?"):
            handler.give_json(200, {"data": [self._batch(each) for each in reversed(self.batches)]})
        elif path == "/batches":
            with self.lock:
                batch_id = f"batch_{len(self.batches) + 1}"
                self.batches[batch_id] = {
                    "input": request.json()["input_file_id"],
                    "metadata": request.json().get("metadata"),
                    "status": "in_progress",
                    "counts": {"total": 0, "completed": 0, "failed": 0},
                }
            handler.give_json(200, self._batch(batch_id))
        elif path.startswith("/batches/"):
            batch_id = path.removeprefix("/batches/")
            if batch_id in self.batches:
                handler.give_json(200, self._batch(batch_id))
            else:
                handler.fail(Busy(404, code="not_found"))
        elif path == "/models":
            handler.give_json(200, {"object": "list", "data": [{"id": self.model}, {"id": "b"}]})
        else:
            handler.fail(Busy(404, code="not_found"))

    def finish(self, status: str = "ended") -> None:
        for batch_id, batch in self.batches.items():
            if batch["status"] != "in_progress":
                continue
            lines = [json.loads(each) for each in self.files[batch["input"]].splitlines()]
            good, bad = [], []
            for one in lines if status != "failed" else []:
                written = self._line(one, status)
                (good if written["error"] is None else bad).append(written)
            batch["status"] = "completed" if status == "ended" else status
            batch["counts"] = {"total": len(lines), "completed": len(good), "failed": len(bad)}
            for name, listed in (("output", good), ("error", bad)):
                if listed:
                    file_id = f"file-{name}-{batch_id}"
                    self.files[file_id] = b"".join(
                        json.dumps(line).encode() + b"\n" for line in listed
                    )
                    batch[f"{name}_file_id"] = file_id

    def stopped(self, handler: _Handler, stop: Stop) -> None:
        handler.give_json(200, self._completion(stop, {}))

    def _chat(self, handler: _Handler, body: dict[str, Any]) -> None:
        wanted = body.get("response_format", {}).get("type")
        if wanted == "json_schema" and not self.takes_json_schema:
            handler.fail(Busy(422, code="invalid_request_error"))
            return
        answer = self.answered(_asked_of_chat(body))
        if isinstance(answer, Busy):
            handler.fail(answer)
        else:
            handler.give_json(200, self._completion(answer, body))

    def _line(self, one: dict[str, Any], status: str) -> dict[str, Any]:
        key = one["custom_id"]
        written: dict[str, Any] = {"id": f"r-{key}", "custom_id": key, "response": None}
        answer: Answer = NOT_RUN
        if status == "ended":
            answer = self.answered(_asked_of_chat(one["body"], in_batch=True, key=key))
        if answer is NOT_RUN:
            return {**written, "error": {"code": "batch_expired", "message": "too late"}}
        if isinstance(answer, Busy):
            body = {"error": {"code": answer.code, "message": answer.message}}
            response = {"status_code": answer.status, "body": body}
            return {**written, "response": response, "error": {"code": answer.code}}
        response = {"status_code": 200, "body": self._completion(answer, one["body"])}
        return {**written, "response": response, "error": None}

    def _completion(self, answer: str | Stop, body: dict[str, Any]) -> dict[str, Any]:
        text = answer if isinstance(answer, str) else answer.text
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if isinstance(answer, Stop):
            message["refusal"] = answer.refusal
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": body.get("model", self.model),
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "stop" if isinstance(answer, str) else answer.reason,
                }
            ],
            "usage": {
                "prompt_tokens": self.tokens[0],
                "completion_tokens": self.tokens[1],
                "total_tokens": sum(self.tokens),
            },
        }

    def _batch(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        return {
            "id": batch_id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "status": batch["status"],
            "input_file_id": batch["input"],
            "output_file_id": batch.get("output_file_id"),
            "error_file_id": batch.get("error_file_id"),
            "request_counts": batch["counts"],
            "metadata": batch["metadata"],
            "created_at": int(self.now.timestamp()),
        }


@contextmanager
def anthropic_server(
    answer: Answer | Callable[[Asked], Answer] = '{"ok": true}',
) -> Iterator[AnthropicServer]:
    server = AnthropicServer(answer)
    with _running(server) as address:
        server.url = address
        yield server


@contextmanager
def openai_server(
    answer: Answer | Callable[[Asked], Answer] = '{"ok": true}',
) -> Iterator[OpenAIServer]:
    """`url` ends in /v1."""
    server = OpenAIServer(answer)
    with _running(server) as address:
        server.url = f"{address}/v1"
        yield server


class _Listening(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a caller may have read enough
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def _running(server: ModelServer) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"model_server": server})
    listening = _Listening(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}"
    finally:
        server.closed.set()
        listening.shutdown()
        listening.server_close()
        thread.join()


def _asked_of_messages(body: dict[str, Any], *, in_batch: bool = False, key: str = "") -> Asked:
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    user = body["messages"][-1]["content"]
    return Asked(body.get("system", ""), user, schema, body, in_batch, key)


def _asked_of_chat(body: dict[str, Any], *, in_batch: bool = False, key: str = "") -> Asked:
    said = {each["role"]: each["content"] for each in body["messages"]}
    wanted = body.get("response_format", {})
    schema = wanted.get("json_schema", {}).get("schema") or wanted.get("schema")
    return Asked(said.get("system", ""), said["user"], schema, body, in_batch, key)


def _uploaded(request: Request) -> bytes:
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    for part in message_from_bytes(head + request.body).walk():
        if part.get_param("name", header="content-disposition") == "file":
            data = part.get_payload(decode=True)
            assert isinstance(data, bytes)
            return data
    raise AssertionError("no file was uploaded")
