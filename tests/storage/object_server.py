"""An S3 server of the test's own, on the loopback, that does one request at a time.

S3 judges a conditional put and does it in one step; the server's threads would not.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from s3fs import S3FileSystem
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
def team_notes() -> Iterator[Any]:
    """A server with one empty bucket, which this process and those it starts find by their
    environment; a client of it. It ends with the block."""
    with pytest.MonkeyPatch.context() as patch, object_server() as address:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "NO_PROXY": "127.0.0.1",
        }.items():
            patch.setenv(name, value)
        S3FileSystem.clear_instance_cache()  # one of them may know the server of other tests
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client
        S3FileSystem.clear_instance_cache()


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
