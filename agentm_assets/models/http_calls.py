"""HTTP calls to a model's server: tried again where that helps, within a deadline, capped in size.

httpx2 is used directly. The vendors' own clients (anthropic 2.14, openai 3.57) were weighed: they
sleep by themselves, know a time-out per read and none for the whole call, read answers of any
length, and take 0.8 to 1.7 s to import.

Neither an error nor a log line holds what was sent or what came back: of a server's answer only its
status and a code made of small letters are ever told.
"""

import logging
import re
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, Final

import httpx2

from agentm_assets.models.answers import parsed_json
from agentm_assets.models.base_url import host_of, is_loopback
from agentm_assets.models.pace import MOST_TRIES, Pace
from agentm_assets.models.protocol import (
    ModelMisconfigured,
    ModelUnavailable,
    PerhapsTaken,
)

MOST_BODY_BYTES = 4 * 1024 * 1024
"""Of one answer as it comes over the wire: an answer of a megabyte, escaped, and its frame."""

_CODE = re.compile(r"[a-z][a-z0-9_]{2,48}\Z")
_BUSY: Final = frozenset({408, 409, 425, 429})
_UNPAID: Final = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"})


for _name in ("connection", "http11", "http2", "proxy", "socks"):
    # At DEBUG these write down a server's headers, in which it may say anything, also what we sent.
    logging.getLogger(f"httpcore2.{_name}").addFilter(lambda _record: False)


class BodyTooLong(ModelUnavailable):
    """More came than is ever read."""

    def __init__(self) -> None:
        super().__init__("the server sent more than is ever read of one answer.")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete answer. `status` is 2xx or one of the 4xx that say what was wrong with a request;
    the others were raised."""

    status: int
    content_type: str
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status < 300

    def json(self) -> Any:
        """The body as JSON, None for what is no JSON."""
        return parsed_json(self.body)


class HttpCalls:
    """Calls to one server. Thread-safe.

    Each call has a connection of its own: it takes milliseconds where an answer takes seconds, and
    a deadline can then shut it without hitting another call.
    """

    __slots__ = ("_client", "_pace", "base_url")

    def __init__(self, base_url: str, headers: Mapping[str, str], pace: Pace) -> None:
        self.base_url = base_url
        self._pace = pace
        local = is_loopback(host_of(base_url))
        self._client = httpx2.Client(
            # a proxy that the environment names is for what lies outside of this machine
            trust_env=not local,
            verify=ssl.create_default_context() if base_url.startswith("https:") else False,
            follow_redirects=False,  # the texts go where the operator said, nowhere else
            limits=httpx2.Limits(max_keepalive_connections=0),
            headers={**headers, "accept-encoding": "identity", "user-agent": "agentm"},
        )

    def __repr__(self) -> str:
        return f"HttpCalls({self.base_url})"

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        return self._call("GET", path, {}, timeout, is_repeatable=True)

    def post(
        self, path: str, body: Mapping[str, object], *, timeout: float, is_repeatable: bool
    ) -> HttpAnswer:
        """Send JSON. `is_repeatable` False: it is tried again only where the server surely has not
        taken it. Raises ModelUnavailable (BodyTooLong, PerhapsTaken), ModelMisconfigured."""
        return self._call("POST", path, {"json": body}, timeout, is_repeatable=is_repeatable)

    def post_file(
        self, path: str, fields: Mapping[str, str], file: IO[bytes], *, timeout: float
    ) -> HttpAnswer:
        """Send a form with a file (RFC 7578)."""
        parts = {"data": dict(fields), "files": {"file": ("batch.jsonl", file)}}
        return self._call("POST", path, parts, timeout, is_repeatable=True)

    @contextmanager
    def download(self, url: str, *, timeout: float, most_bytes: int) -> Iterator[IO[bytes]]:
        """What stands at a URL (or a path below the base URL), in a file without a name."""
        with tempfile.TemporaryFile() as file:
            answer = self._call(
                "GET", url, {}, timeout, is_repeatable=True, into=file, most=most_bytes
            )
            if not answer.ok:
                raise ModelUnavailable(f"{self._host} did not give the results ({answer.status}).")
            file.seek(0)
            yield file

    def _call(
        self,
        method: str,
        path: str,
        parts: Mapping[str, Any],
        timeout: float,
        *,
        is_repeatable: bool,
        into: IO[bytes] | None = None,
        most: int = MOST_BODY_BYTES,
    ) -> HttpAnswer:
        url = path if path.startswith("http") else f"{self.base_url}{path}"
        deadline = self._pace.clock() + timeout
        failed = 0
        while True:
            left = deadline - self._pace.clock()
            if left <= 0:
                raise ModelUnavailable(f"{self._host} did not answer within {timeout:g} s.")
            outcome = self._try(method, url, parts, left, into, most)
            if isinstance(outcome, HttpAnswer):
                return outcome
            failed += 1
            if not (is_repeatable or outcome.was_not_taken):
                raise PerhapsTaken(outcome.text, outcome.retry_after)
            if failed >= MOST_TRIES:
                raise ModelUnavailable(outcome.text, outcome.retry_after)
            delay = self._pace.delay(failed, outcome.retry_after)
            if delay >= deadline - self._pace.clock():
                raise ModelUnavailable(outcome.text, outcome.retry_after)
            self._pace.sleep(delay)

    def _try(
        self,
        method: str,
        url: str,
        parts: Mapping[str, Any],
        left: float,
        into: IO[bytes] | None,
        most: int,
    ) -> "HttpAnswer | _Failure":
        for sent in (parts.get("files") or {}).values():
            sent[1].seek(0)
        if into is not None:
            into.seek(0)
            into.truncate()
        # Errors of httpx2 hold the request, with key and text: none becomes the cause of ours.
        with _Shutter(left) as shutter:
            try:
                with self._client.stream(
                    method, url, timeout=left, extensions={"trace": shutter.trace}, **parts
                ) as response:
                    answer = self._read(response, into, most)
                # a body without a length ends where the connection does, also where we shut it
                return self._late() if shutter.is_shut else answer
            except httpx2.TransportError as error:
                failure = self._late() if shutter.is_shut else self._failure(error)
        return failure

    def _read(
        self, response: httpx2.Response, into: IO[bytes] | None, most: int
    ) -> "HttpAnswer | _Failure":
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ModelMisconfigured(
                f"{self._host} sends compressed answers though none were asked for. "
                "Switch that off in the server or the proxy before it."
            )
        pieces: list[bytes] = []
        size = 0
        keep = into if response.is_success else None
        for piece in response.iter_raw():
            size += len(piece)
            if size > most:
                raise BodyTooLong
            if keep is None:
                pieces.append(piece)
            else:
                keep.write(piece)
        answer = HttpAnswer(
            response.status_code, response.headers.get("content-type", ""), b"".join(pieces)
        )
        return self._judged(answer, response.headers.get("retry-after"))

    def _judged(self, answer: HttpAnswer, retry_after: str | None) -> "HttpAnswer | _Failure":
        status, code = answer.status, error_code(answer.json())
        said = f"{status}, {code}" if code else f"{status}"
        if code in _UNPAID or status == 402:
            raise ModelMisconfigured(
                f"{self._host} says that the account can't pay ({said}). Mend that with it."
            )
        if status in _BUSY or status >= 500:
            return _Failure(
                f"{self._host} is busy or broken ({said}).",
                self._pace.retry_after(retry_after),
                was_not_taken=status in (425, 429),
            )
        if status in (401, 403):
            raise ModelMisconfigured(
                f"{self._host} does not take the key ({said}). Check the key and what it may do."
            )
        if 300 <= status < 400 or status < 200:
            raise ModelMisconfigured(
                f"{self._host} sends callers elsewhere ({said}), where nothing is sent. "
                "Give the final address as base_url."
            )
        return answer

    def _late(self) -> "_Failure":
        return _Failure(f"{self._host} did not answer in time.", None, was_not_taken=False)

    def _failure(self, error: httpx2.TransportError) -> "_Failure":
        if isinstance(error, httpx2.TimeoutException):
            text = f"{self._host} did not answer in time."
        elif isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            text = f"{self._host} can't be reached. Is it running, and is base_url right?"
        else:
            text = f"{self._host} broke off its answer."
        before = httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError
        return _Failure(text, None, was_not_taken=isinstance(error, before))

    @property
    def _host(self) -> str:
        return host_of(self.base_url)


@dataclass(frozen=True, slots=True)
class _Failure:
    text: str
    retry_after: float | None
    was_not_taken: bool


class _Shutter:
    """Shuts a connection when its time is over.

    httpx2 counts a time-out from byte to byte: a server that drips could hold a caller for ever.
    """

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_shut = False

    def __enter__(self) -> "_Shutter":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Learn of the connection that is used (httpx2's `trace` extension)."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                late = self.is_shut
            if late:
                self._shut()

    def _shut(self) -> None:
        with self._lock:
            self.is_shut = True
            opened = self._socket
        if opened is not None:
            with suppress(OSError):  # closed in the meantime: then nobody waits for it
                opened.shutdown(socket.SHUT_RDWR)


def error_code(said: Any) -> str:
    """The code of a server's error, "" where there is none that is surely a code and no prose."""
    error = said.get("error") if isinstance(said, dict) else None
    if not isinstance(error, dict):
        return ""
    for name in ("code", "type"):
        value = error.get(name)
        if isinstance(value, str) and _CODE.match(value):
            return value
    return ""
