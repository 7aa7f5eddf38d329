"""One call of an MCP tool, as a host makes it: a process, its standard input and output."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

TOOL: Final = "memory_recent"
"""A tool that only reads, and whose use is no use of a note."""

_PATIENCE: Final = 40.0
_PROTOCOL: Final = "2025-06-18"


class McpFailed(Exception):
    """The server did not answer; the text says what it did instead."""


@dataclass(frozen=True, slots=True)
class McpCall:
    """`start_ms`: until the server had greeted; `call_ms`: until it had answered the call."""

    start_ms: float
    call_ms: float


def call_once(environment: Mapping[str, str]) -> McpCall:
    """Start a server, greet it, call a tool, end it. Raises McpFailed."""
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "agentm_assets.cli.entry", "mcp"],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            asking = _Asking(server, began + _PATIENCE)
            asking.send("initialize", 1, _hello())
            asking.answer(1)
            started = time.monotonic()
            asking.send("notifications/initialized", None, {})
            asking.send("tools/call", 2, {"name": TOOL, "arguments": {}})
            result = asking.answer(2)
            ended = time.monotonic()
        finally:
            server.kill()
    if result.get("isError"):
        raise McpFailed(_words(result))
    return McpCall(round((started - began) * 1000, 1), round((ended - started) * 1000, 1))


class _Asking:
    def __init__(self, server: "subprocess.Popen[bytes]", until: float) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._in, self._out = server.stdin, server.stdout.fileno()
        self._until = until
        self._rest = b""

    def send(self, method: str, number: int | None, params: dict[str, Any]) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except OSError as error:
            raise McpFailed("the server ended before it was asked") from error

    def answer(self, number: int) -> dict[str, Any]:
        while True:
            while b"\n" not in self._rest:
                self._read()
            line, _, self._rest = self._rest.partition(b"\n")
            try:
                message = json.loads(line)
            except ValueError as error:
                raise McpFailed("the server wrote something that is no JSON") from error
            if message.get("id") != number:
                continue
            if "result" not in message:
                raise McpFailed("the server refused the call")
            result: dict[str, Any] = message["result"]
            return result

    def _read(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0 or not select.select([self._out], [], [], left)[0]:
            raise McpFailed(f"no answer within {_PATIENCE:.0f} s")
        data = os.read(self._out, 65_536)
        if not data:
            raise McpFailed("the server ended without an answer")
        self._rest += data


def _hello() -> dict[str, Any]:
    client = {"name": "agentm-reports", "version": "1"}
    return {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}


def _words(result: dict[str, Any]) -> str:
    content = result.get("content") or [{}]
    return str(content[0].get("text", "the call failed"))[:200]
