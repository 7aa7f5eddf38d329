"""Starting and stopping the Dagster webserver and daemon of one vault."""

import fcntl
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

from agentm_assets.cli.server_lock import ServerLock, ServersRunning, server_lock
from agentm_assets.cli.state_folder import disk_failures_named
from agentm_assets.config.dagster_home import RUN_BEGAN_FILE, ensure_dagster_home
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
    Raises ServersError: already running, port taken, a server that ended by itself; StateUnusable
    when its folders can't be written.
    """
    home = location.dagster_home
    with ExitStack() as stack:
        with disk_failures_named(location.state_dir):
            ensure_dagster_home(home)
            location.log_dir.mkdir(parents=True, exist_ok=True)
            lock = _locked(stack, location)
        port = _free_port(host, port)
        address = f"http://{host}:{port}"
        stop = _Stop()
        stack.enter_context(stop)
        if lock.unclean:
            _bury(home, "--all")
        lock.name([os.getpid()])
        servers: list[_Server] = []
        stack.callback(_stop_all, servers, lock)
        servers.append(_start("dagster-webserver", ["-h", host, "-p", str(port)], location, lock))
        servers.append(_start("dagster-daemon", ["run"], location, lock))
        lock.name([os.getpid(), *(server.process.pid for server in servers)])
        runs = _CommandLineRuns(home)
        runs.look()
        _wait_until_ready(address, servers, stop)
        if not stop.asked:
            on_ready(address)
        while not stop.asked:
            _raise_if_ended(servers)
            runs.look()
            stop.wait(0.5)


def _locked(stack: ExitStack, location: VaultLocation) -> ServerLock:
    try:
        return stack.enter_context(server_lock(location.dagster_home))
    except ServersRunning as error:
        raise ServersError(
            f"agentm up is running for {location.root} already. Use its UI, or stop it first "
            f"(processes: {error.processes or 'unknown'})."
        ) from error


class _CommandLineRuns:
    """Notices that a run of `agentm index` has ended. One that was killed must be buried, else the
    sensors wait for it for ever; whether it was, its records tell.

    A run may begin and be killed between two looks, so that nobody saw it hold its lock: each run
    marks its beginning in a file, too."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock_file = home / "agentm-index.lock"
        self._began = home / RUN_BEGAN_FILE
        self._buried: int | None = None
        self._first = True  # what was killed while nobody watched

    def look(self) -> None:
        began = self._last_beginning()
        if (self._first or began != self._buried) and not self._is_alive():
            self._first, self._buried = False, began
            _bury(self._home)

    def _last_beginning(self) -> int | None:
        try:
            return self._began.stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def _is_alive(self) -> bool:
        try:
            with self._lock_file.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False


def _bury(home: Path, *arguments: str) -> None:
    """End the records of killed runs, in a process of its own that may import Dagster."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "agentm_assets.index.assets.bury", str(home), *arguments],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # Ctrl-C is for us to act on
    )
    if done.returncode != 0:
        raise ServersError(f"Dagster can't use its records in {home}: {done.stderr.strip()[-300:]}")


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


def _start(
    program: str, arguments: Sequence[str], location: VaultLocation, lock: ServerLock
) -> _Server:
    log = location.log_dir / f"{program}.log"
    environment = os.environ | {
        "DAGSTER_HOME": str(location.dagster_home),
        **location.environment(),
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
            pass_fds=(lock.descriptor,),
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


def _stop_all(servers: Sequence[_Server], lock: ServerLock) -> None:
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
    lock.clear()


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
