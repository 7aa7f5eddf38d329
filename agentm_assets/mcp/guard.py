"""What a request must look like before any of it is parsed: from this machine's own programs only.

A web page can make a browser send requests to a loopback port (DNS rebinding, cross-site posts), so
the Host must be the address that we listen on and an Origin, which browsers send, must be ours. No
CORS header is ever given.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import PlainTextResponse

MOST_BODY_BYTES = 4 * 1024 * 1024
"""Of one request. A capture takes at most a million characters."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application in front of another one.

    `hosts` are the accepted Host headers ("127.0.0.1:8377", …), lower-case. `token` None: no
    token is asked for.
    """

    def __init__(self, app: App, hosts: frozenset[str], token: str | None) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            return  # no WebSockets here
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = [(key.lower(), value.decode("latin-1")) for key, value in scope["headers"]]

        def only(name: bytes) -> str | None:
            found = [value for key, value in headers if key == name]
            return found[0] if len(found) == 1 else None if not found else "\0"

        if (only(b"host") or "").lower() not in self._hosts:
            return _plain("this server answers to its own loopback address only", 421)
        origin = only(b"origin")
        if origin is not None and origin.lower() not in self._origins:
            return _plain("requests from other origins are refused", 403)
        if self._token is not None:
            given = (only(b"authorization") or "").encode("latin-1")
            if not hmac.compare_digest(given, f"Bearer {self._token}".encode("latin-1")):
                return _plain("give the token of this server: Authorization: Bearer …", 401)
        if scope["method"] == "POST":
            kind = (only(b"content-type") or "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return _plain("send application/json", 415)
        return None


def _plain(text: str, status: int) -> PlainTextResponse:
    headers = {"Connection": "close"}  # a refused body is not read
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return PlainTextResponse(f"{text}\n", status_code=status, headers=headers)
