"""The HTTP server as a stranger meets it: raw requests, and the official client."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.client import Client

from agentm_assets.mcp.http import PortTaken, loopback_sockets, read_token

Machine = Any  # the class in conftest.py, which cannot be imported from here

INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
).encode()


class Answer:
    def __init__(self, data: bytes) -> None:
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value for name, value in (h.split(": ", 1) for h in rest)}


class Server:
    def __init__(self, url: str, port: int) -> None:
        self.url = url
        self.port = port

    def send(
        self, body: bytes = INITIALIZE, *, method: str = "POST", path: str = "/mcp", **more: str
    ) -> Answer:
        """One raw request; `more` are headers, "" leaves one out."""
        headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        lines = [f"{method} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items() if v)]
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall("\r\n".join((*lines, "", "")).encode("latin-1"))
            sender = threading.Thread(target=_push, args=(connection, body))
            sender.start()
            pieces = []
            try:
                while piece := connection.recv(65_536):
                    pieces.append(piece)
            except ConnectionResetError:
                pass  # refused before the body was read; the answer came first
            sender.join()
        return Answer(b"".join(pieces))


def _push(connection: socket.socket, body: bytes) -> None:
    try:
        connection.sendall(body)
    except OSError:
        return


@pytest.fixture(scope="module")
def server(demo: Machine) -> Iterator[Server]:
    yield Server(*demo.http())
    demo.stop()


def test_a_program_of_this_machine_is_served(server: Server) -> None:
    answer = server.send()
    assert answer.status == 200
    assert json.loads(answer.body)["result"]["serverInfo"]["name"] == "agentm"
    assert answer.headers["mcp-session-id"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_searches_and_captures(server: Server, mode: str) -> None:
    async def session() -> None:
        with anyio.fail_after(60):
            async with Client(server.url, mode=mode) as client:
                assert len((await client.list_tools()).tools) == 7
                text = f"The {mode} mode speaks to the bandicoot."
                saved = await client.call_tool("memory_capture", {"text": text})
                assert saved.structured_content["path"].endswith(".md")
                found = await client.call_tool("memory_search", {"query": f"bandicoot {mode} mode"})
                paths = [hit["path"] for hit in found.structured_content["hits"]]
                assert saved.structured_content["path"] in paths

    anyio.run(session)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "127.0.0.1.nip.io:{port}",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "192.168.0.7:{port}",
        "[::]:{port}",
        "evil.example",
        "evil.example:{port}",
    ],
)
def test_another_host_is_a_rebinding_and_refused(server: Server, host: str) -> None:
    assert server.send(Host=host.format(port=server.port)).status in (400, 421)


@pytest.mark.parametrize("host", ["localhost:{port}", "[::1]:{port}"])
def test_the_other_names_of_loopback_are_ours(server: Server, host: str) -> None:
    assert server.send(Host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "file://",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
        "http://localhost",
        "https://127.0.0.1:{port}",
        "https://evil.example",
        "null",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
def test_a_page_of_another_origin_is_refused(server: Server, origin: str, method: str) -> None:
    answer = server.send(method=method, Origin=origin.format(port=server.port))
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_stranger_is_refused_before_anything_of_the_request_is_read(server: Server) -> None:
    body = b"x" * 10_000_000
    stranger = f"evil.example:{server.port}"
    assert server.send(body, Host=stranger).status == 421
    assert server.send(body, Origin="https://evil.example").status == 403
    assert server.send(method="GET", path="/", Host=stranger).status == 421
    assert server.send(method="GET", path="/", Origin="https://evil.example").status == 403


def test_two_hosts_or_origins_are_one_too_many(server: Server) -> None:
    ours = f"http://127.0.0.1:{server.port}"
    assert server.send(Origin=ours).status == 200
    assert server.send(Origin=f"{ours}\r\nOrigin: https://evil.example").status == 403
    assert server.send(Host=f"127.0.0.1:{server.port}\r\nHost: evil.example").status in (400, 421)


def test_a_body_over_the_limit_is_refused_before_it_is_parsed(server: Server) -> None:
    assert server.send(b"x" * 10_000_000).status == 413
    assert server.send(b"", Content_Length="10000000").status == 413
    chunk = b"%x\r\n" % 1_000_000 + b"x" * 1_000_000 + b"\r\n"
    chunked = server.send(chunk * 6, Content_Length="", Transfer_Encoding="chunked")
    assert chunked.status == 413
    assert server.send().status == 200


def test_a_form_is_no_json(server: Server) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
        assert server.send(Content_Type=kind).status == 415
    assert server.send(Content_Type="application/json; charset=utf-8").status == 200


def test_other_methods_paths_and_rubbish(server: Server) -> None:
    assert server.send(b"", method="GET").status == 400  # no session
    assert server.send(b"", method="DELETE").status == 400
    assert server.send(b"", method="PUT").status == 405
    assert server.send(b"", method="OPTIONS").status == 405
    assert server.send(path="/").status == 404
    assert server.send(path="/mcp/../etc").status == 404
    assert server.send(b"{nope").status == 400
    assert server.send(b"[" * 100_000).status == 400
    assert server.send(Mcp_Session_Id="0" * 32).status == 404


def test_a_session_ends_with_delete(server: Server) -> None:
    session = server.send().headers["mcp-session-id"]
    assert server.send(b"", method="DELETE", Mcp_Session_Id=session).status == 200
    listed = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode()
    assert server.send(listed, Mcp_Session_Id=session).status == 404


def test_only_loopback_is_listened_on() -> None:
    sockets = loopback_sockets(0)
    try:
        assert {each.getsockname()[0] for each in sockets} <= {"127.0.0.1", "::1"}
        assert len({each.getsockname()[1] for each in sockets}) == 1
        sockets[0].listen()
        with pytest.raises(PortTaken, match="--port"):
            loopback_sockets(sockets[0].getsockname()[1])
    finally:
        for each in sockets:
            each.close()


def test_a_port_in_use_is_one_sentence(demo: Machine, server: Server) -> None:
    done = demo.agentm("mcp", "--http", "--port", str(server.port))
    assert done.returncode == 3
    assert str(server.port) in done.stderr and "Traceback" not in done.stderr


def test_no_option_binds_anything_else(demo: Machine) -> None:
    assert demo.agentm("mcp", "--http", "--host", "0.0.0.0").returncode == 2


def test_with_a_token_nobody_else_is_served(demo: Machine) -> None:
    server = Server(*demo.http("--token"))
    file = demo.state / "mcp-token"
    assert file.stat().st_mode & 0o777 == 0o600
    token = read_token(file)
    assert len(token) > 30
    answer = server.send()
    assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
    assert server.send(Authorization=f"Bearer {token[:-1]}").status == 401
    assert server.send(Authorization=f"Bearer {token}").status == 200
    assert read_token(file) == token
