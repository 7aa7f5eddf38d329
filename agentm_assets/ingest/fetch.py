"""Getting a page from the web, and from nowhere else.

A name is resolved once, each of its addresses must be a public one, and the connection goes to the
very address that was checked; every redirect is checked the same way. Size and time are limited.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from agentm_assets.ingest.web import MOST_BYTES

MOST_SECONDS: Final = 30.0
MOST_REDIRECTS: Final = 5
_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as texts. Raises OSError."""


class FetchRefused(Exception):
    """The page was not read; the text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """`url`: where the page really came from, behind all redirects."""

    url: str
    data: bytes


def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses that this machine's resolver knows. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def is_public(address: str) -> bool:
    """Is it an address of the open internet, and not one of this machine, its network or one that
    hides another?"""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and (ip.sixtofour or ip.teredo):
        return False
    # What maps or translates IPv4 is reserved.
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def fetch(
    url: str,
    *,
    resolve: Resolve = resolve,
    is_allowed: Callable[[str], bool] = is_public,
    most_bytes: int = MOST_BYTES,
    most_seconds: float = MOST_SECONDS,
    trust: ssl.SSLContext | None = None,
) -> Fetched:
    """The page at `url`. `trust`: whose certificates count, None: those that this machine's
    browsers know. Raises FetchRefused."""
    import httpx2

    deadline = time.monotonic() + most_seconds
    with httpx2.Client(verify=trust or True, trust_env=False, follow_redirects=False) as client:
        for _ in range(MOST_REDIRECTS + 1):
            parts, host, port, address = _checked(url, resolve, is_allowed)
            shown = f"[{address}]" if ":" in address else address
            place = parts._replace(netloc=f"{shown}:{port}", fragment="").geturl()
            left = deadline - time.monotonic()
            if left <= 0:
                raise _too_slow(most_seconds)
            request = client.build_request(
                "GET",
                place,
                headers={
                    "Host": host if port == _PORTS[parts.scheme.lower()] else f"{host}:{port}",
                    "User-Agent": "agentm",
                    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.8",
                },
                timeout=left,
                # The certificate is to be the host's, though an address is connected to.
                extensions={"sni_hostname": host},
            )
            try:
                response = client.send(request, stream=True)
                try:
                    if response.status_code in _REDIRECTS:
                        url = _next(url, response.headers.get("location", ""))
                        continue
                    _check(response.status_code, response.headers.get("content-type", ""))
                    data = bytearray()
                    for piece in response.iter_bytes():
                        data += piece
                        if len(data) > most_bytes:
                            raise FetchRefused(
                                f"the page is over {most_bytes:,} bytes; save what matters of it "
                                "as a file and ingest that"
                            )
                        if time.monotonic() > deadline:
                            raise _too_slow(most_seconds)
                    return Fetched(url, bytes(data))
                finally:
                    response.close()
            except httpx2.TimeoutException as error:
                raise _too_slow(most_seconds) from error
            except httpx2.HTTPError as error:
                raise FetchRefused(
                    f"the page can't be read ({type(error).__name__}); try again later"
                ) from error
    raise FetchRefused(f"the page redirects more than {MOST_REDIRECTS} times; give its own address")


_PORTS: Final = {"http": 80, "https": 443}


def _checked(
    url: str, resolve: Resolve, is_allowed: Callable[[str], bool]
) -> tuple[SplitResult, str, int, str]:
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        host, port = parts.hostname or "", parts.port or _PORTS.get(scheme, 0)
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as error:
        raise FetchRefused("the address can't be read; give one such as https://a.example/") from (
            error
        )
    if scheme not in _PORTS or not host:
        raise FetchRefused("only http:// and https:// addresses are read; give one of those")
    try:
        addresses = resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise FetchRefused("the host of the page is not known; check the address") from error
    if not addresses or not all(is_allowed(each) for each in addresses):
        raise FetchRefused(
            "the host lies on this machine or a private network, which is not read; save the page "
            "as a file and ingest that"
        )
    return parts, host, port, addresses[0]


def _next(url: str, location: str) -> str:
    if not location:
        raise FetchRefused("the page redirects to nowhere; give its own address")
    target = urljoin(url, location)
    if urlsplit(url).scheme.lower() == "https" and urlsplit(target).scheme.lower() != "https":
        raise FetchRefused("the page redirects from https to an open connection; give its address")
    return target


def _check(status: int, content_type: str) -> None:
    if status != 200:
        raise FetchRefused(f"the server answers with status {status}; check the address")
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind not in _TYPES:
        raise FetchRefused(
            "that is no web page (its type is another); save its text as a file and ingest that"
        )


def _too_slow(seconds: float) -> FetchRefused:
    return FetchRefused(f"the page took longer than {seconds:g} s; try again later")
