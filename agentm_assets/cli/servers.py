"""Starting and stopping the Dagster webserver and daemon of one vault."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from agentm_assets.config.dagster_home import ensure_dagster_home
from agentm_assets.config.vault import VaultLocation

READY_SECONDS = 90.0
STOP_SECONDS = 15.0
MODULE = "agentm_assets.definitions"

_LOADED_QUERY = (
    "{ workspaceOrError { __typename ... on Workspace { locationEntries { loadStatus "
    "locationOrLoadError { __typename ... on PythonError { message } } } } } }"
)


class ServersError(Exception):
    """The servers can't run; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class _Server:
    name: str
    process: subprocess.Popen[bytes]
    log: Path


def serve(location: VaultLocation, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Run webserver and daemon until a signal or until one of them ends.

    `port` 0 takes a free one. `on_ready` gets the address once the code location is loaded.
    Raises ServersError: already running, port taken, a server that ended by itself.
    """
    ensure_dagster_home(location.dagster_home)
    # Two daemons on one home run every schedule twice and corrupt its run storage.
    lock = FileLock(location.dagster_home / "agentm-up.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ServersError(
            f"agentm up is running for {location.root} already. Use its UI, or stop it first."
        ) from error
    with ExitStack() as stack:
        stack.callback(lock.release)
        port = _free_port(host, port)
        address = f"http://{host}:{port}"
        stop = _Stop()
        stack.enter_context(stop)
        servers: list[_Server] = []
        stack.callback(_stop_all, servers)
        servers.append(_start("dagster-webserver", ["-h", host, "-p", str(port)], location))
        servers.append(_start("dagster-daemon", ["run"], location))
        _wait_until_ready(address, servers, stop)
        if not stop.asked:
            on_ready(address)
        while not stop.asked:
            _raise_if_ended(servers)
            stop.wait(0.5)


class _Stop:
    """Turns SIGINT and SIGTERM into a request to stop, and puts the old handlers back."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "_Stop":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.asked and time.monotonic() < end:
            time.sleep(0.05)


def _start(program: str, arguments: Sequence[str], location: VaultLocation) -> _Server:
    location.log_dir.mkdir(parents=True, exist_ok=True)
    log = location.log_dir / f"{program}.log"
    environment = os.environ | {
        "DAGSTER_HOME": str(location.dagster_home),
        "AGENTM_VAULT": str(location.root),
        "PYTHONUNBUFFERED": "1",
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name(program)), *arguments, "-m", MODULE],
            # A stray module in the working directory would shadow one that Dagster imports.
            cwd=location.dagster_home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return _Server(program, process, log)


def _wait_until_ready(address: str, servers: Sequence[_Server], stop: _Stop) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not stop.asked:
        _raise_if_ended(servers)
        if _loaded(address):
            return
        if time.monotonic() > deadline:
            raise ServersError(
                f"the Dagster webserver did not get ready within {READY_SECONDS:.0f} s; "
                f"see {servers[0].log}"
            )
        stop.wait(0.25)


def _loaded(address: str) -> bool:
    """Is the webserver up and the graph loaded? Raises ServersError when the graph has an error."""
    request = urllib.request.Request(
        f"{address}/graphql",
        data=json.dumps({"query": _LOADED_QUERY}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            answer = json.load(response)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
    entries = answer["data"]["workspaceOrError"].get("locationEntries", [])
    for entry in entries:
        outcome = entry["locationOrLoadError"] or {}
        if outcome.get("__typename") == "PythonError":
            raise ServersError(f"the asset graph can't be loaded: {outcome['message'].strip()}")
    return bool(entries) and all(entry["loadStatus"] == "LOADED" for entry in entries)


def _raise_if_ended(servers: Sequence[_Server]) -> None:
    for server in servers:
        code = server.process.poll()
        if code is not None:
            raise ServersError(
                f"{server.name} ended by itself with code {code}; its log is {server.log}"
            )


def _stop_all(servers: Sequence[_Server]) -> None:
    """Ask all to stop, then insist. Each server is a session of its own, so its children go too."""
    for server in servers:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    for server in servers:
        try:
            server.process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            server.process.kill()
        try:
            os.killpg(server.process.pid, signal.SIGTERM)
        except ProcessLookupError:
            continue  # nothing of it is left


def _free_port(host: str, port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServersError(
                f"port {port} on {host} is taken ({error.strerror}). Name another with --port, or "
                "--port 0 for any free one."
            ) from error
        return int(probe.getsockname()[1])
