"""An S3 server of the test's own, on the loopback, that does one request at a time.

S3 judges a conditional put and does it in one step; the server's threads would not.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "team-notes"


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        pass


class _OneAtATime:
    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self._turn = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        with self._turn:
            return list(self._app(environ, start))


@contextmanager
def object_server() -> Iterator[str]:
    """The server's URL. It ends with the block."""
    server = make_server("127.0.0.1", 0, _OneAtATime(), threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
