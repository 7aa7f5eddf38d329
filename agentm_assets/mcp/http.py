"""Serving any program of this machine over streamable HTTP, on loopback alone."""

import os
import secrets
import socket
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from agentm_assets.mcp.guard import MOST_BODY_BYTES, Guard
from agentm_assets.mcp.memory import Memory
from agentm_assets.mcp.server import build_server

PATH = "/mcp"
TOKEN_FILE = "mcp-token"
_SESSIONS = 256
_IDLE_SECONDS = 30 * 60
_NAMES = ("127.0.0.1", "localhost", "[::1]")


class PortTaken(Exception):
    """The port can't be listened on; the text names the cure."""


def serve_http(memory: Memory, port: int, *, with_token: bool) -> None:
    """Serve until a signal. `port` 0 takes a free one; the address is printed on standard error.

    Raises PortTaken; ConfigError and StorageError when a token is asked for and its vault can't be
    found.
    """
    token = read_token(memory.location().state_dir / TOKEN_FILE) if with_token else None
    with ExitStack() as stack:
        sockets = [stack.enter_context(each) for each in loopback_sockets(port)]
        for each in sockets:
            each.listen()  # so that whoever reads the address below can connect at once
        port = sockets[0].getsockname()[1]
        hosts = frozenset(f"{name}:{port}" for name in _NAMES)
        server = uvicorn.Server(
            uvicorn.Config(
                _application(memory, hosts, token),
                log_level="warning",
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=3,
            )
        )
        memory.warm_up()
        print(f"agentm mcp: http://127.0.0.1:{port}{PATH}", file=sys.stderr, flush=True)  # noqa: T201
        anyio.run(partial(server.serve, sockets=sockets))


def loopback_sockets(port: int) -> list[socket.socket]:
    """Listening on 127.0.0.1 and, where the machine has it, on ::1. Nothing else is ever bound.

    Raises PortTaken.
    """
    # The protocol is named because asyncio switches Nagle's delay (40 ms an answer) off by it.
    first = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        first.bind(("127.0.0.1", port))
    except OSError as error:
        first.close()
        raise PortTaken(
            f"port {port} on 127.0.0.1 can't be listened on ({error.strerror}). Name another with "
            "--port, or stop what uses it."
        ) from error
    found = [first]
    if socket.has_ipv6:
        second = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            second.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            second.bind(("::1", first.getsockname()[1]))
        except OSError:
            second.close()  # no IPv6 on this machine, or the port is another's there
        else:
            found.append(second)
    return found


def read_token(file: Path) -> str:
    """The token of this vault's server; made, readable by its owner alone, when there is none.

    Raises OSError.
    """
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return file.read_text("ascii").strip()
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        return read_token(file)
    with os.fdopen(handle, "w", encoding="ascii") as made:
        made.write(secrets.token_urlsafe(32))
    return file.read_text("ascii").strip()


def _application(memory: Memory, hosts: frozenset[str], token: str | None) -> Guard:
    app = build_server(memory).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=MOST_BODY_BYTES,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_SESSIONS,
        transport_security=TransportSecuritySettings(
            allowed_hosts=sorted(hosts),
            allowed_origins=sorted(f"http://{host}" for host in hosts),
        ),
    )
    return Guard(app, hosts, token)
