"""Getting pages, from a server of the test's own."""

import gzip
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentm_assets.ingest.fetch import FetchRefused, fetch, is_public

PAGE = b"<html><body><p>Hello.</p></body></html>"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.hosts.append(self.headers["Host"])
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.end_headers()
            return
        if self.path == "/slow":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>")
            self.wfile.flush()
            server.stop.wait(20)
            return
        body = PAGE
        self.send_response(404 if self.path == "/gone" else 200)
        kind = "application/pdf" if self.path == "/pdf" else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        if self.path == "/large":
            body = gzip.compress(b"a" * 3_000_000)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hosts: list[str] = []
        self.stop = threading.Event()
        self.daemon_threads = True


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.stop.set()
        running.shutdown()
        thread.join()


class Names:
    """A resolver that counts its answers, and an allowance for the test's own server."""

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self.table:
            raise OSError("unknown")
        return self.table[host]


def get(server: Server, path: str, names: Names | None = None, **more: object) -> object:
    url = f"http://a.example:{server.server_port}{path}"
    names = names or Names({"a.example": ["127.0.0.1"]})
    return fetch(url, resolve=names, is_allowed=lambda ip: ip == "127.0.0.1", **more)  # type: ignore[arg-type]


def test_a_page_is_read_from_the_address_that_was_checked(server: Server) -> None:
    names = Names({"a.example": ["127.0.0.1"]})
    page = get(server, "/page", names)
    assert page.data == PAGE  # type: ignore[attr-defined]
    assert page.url == f"http://a.example:{server.server_port}/page"  # type: ignore[attr-defined]
    # Asked once: a second answer could be another one.
    assert names.asked == ["a.example"]
    assert server.hosts == [f"a.example:{server.server_port}"]


def test_a_redirect_is_followed_and_checked(server: Server) -> None:
    port = server.server_port
    names = Names(
        {"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"], "c.example": ["10.0.0.1"]}
    )
    page = get(server, f"/to/http://b.example:{port}/page", names)
    assert page.url == f"http://b.example:{port}/page"  # type: ignore[attr-defined]
    with pytest.raises(FetchRefused, match="private network"):
        get(server, f"/to/http://c.example:{port}/page", names)
    with pytest.raises(FetchRefused, match="only http"):
        get(server, "/to/file:///etc/passwd", names)
    assert server.hosts[-1].startswith("a.example")


def test_redirects_end(server: Server) -> None:
    with pytest.raises(FetchRefused, match="more than 5 times"):
        get(server, "/to/" * 9 + "page")


def test_one_private_address_among_several_is_enough_to_refuse(server: Server) -> None:
    names = Names({"a.example": ["127.0.0.1", "192.168.1.1"]})
    with pytest.raises(FetchRefused, match="private network"):
        get(server, "/page", names)
    assert server.hosts == []


@pytest.mark.parametrize(
    ("path", "why"),
    [("/gone", "status 404"), ("/pdf", "no web page"), ("/large", "over 1,000,000")],
)
def test_what_is_no_page_or_too_much_is_refused(server: Server, path: str, why: str) -> None:
    with pytest.raises(FetchRefused, match=why):
        get(server, path, most_bytes=1_000_000)


def test_a_server_that_takes_its_time_is_left(server: Server) -> None:
    with pytest.raises(FetchRefused, match="longer than"):
        get(server, "/slow", most_seconds=0.3)


def certificates(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A certificate for `name` with its key, and who trusts just that."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    (folder / "server.pem").write_bytes(public + private)
    return folder / "server.pem", ssl.create_default_context(cadata=public.decode())


@pytest.mark.parametrize("name", ["a.example", "b.example"])
def test_a_certificate_must_be_that_of_the_host(server: Server, tmp_path: Path, name: str) -> None:
    file, trust = certificates(tmp_path, name)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    url = f"https://a.example:{server.server_port}/page"
    names = Names({"a.example": ["127.0.0.1"]})
    if name == "a.example":
        found = fetch(url, resolve=names, is_allowed=lambda ip: True, trust=trust)
        assert found.data == PAGE
        return
    with pytest.raises(FetchRefused, match="ConnectError"):
        fetch(url, resolve=names, is_allowed=lambda ip: True, trust=trust)
    assert server.hosts == []


def test_a_page_does_not_lead_from_https_to_http(server: Server, tmp_path: Path) -> None:
    file, trust = certificates(tmp_path, "a.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    url = f"https://a.example:{server.server_port}/to/http://a.example/page"
    names = Names({"a.example": ["127.0.0.1"]})
    with pytest.raises(FetchRefused, match="from https to an open"):
        fetch(url, resolve=names, is_allowed=lambda ip: True, trust=trust)


def test_without_a_stand_in_this_machine_is_not_read(server: Server) -> None:
    with pytest.raises(FetchRefused, match="private network"):
        fetch(f"http://127.0.0.1:{server.server_port}/page")
    assert server.hosts == []


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::1", "::", "fe80::1"),
        *(
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
        ),
        *("2002:7f00:1::", "2002:808:808::", "2001:0:1::1", "localhost", "", "fe80::1%eth0"),
    ],
)
def test_addresses_that_are_not_of_the_open_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "151.101.1.69", "2606:4700::6810:84e5"])
def test_addresses_of_the_open_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "http://", "http://a.example:99999/", "http://[::1", "x"]
)
def test_addresses_that_cannot_be_read(url: str) -> None:
    names: Callable[[str, int], list[str]] = lambda host, port: ["127.0.0.1"]  # noqa: E731
    with pytest.raises(FetchRefused):
        fetch(url, resolve=names, is_allowed=lambda ip: True)
