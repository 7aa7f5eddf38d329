"""The running server answers hooks, too: recall over a socket that only the operator can open.

One line of JSON a connection: a request in, an answer or an error out. The first server of a vault
listens; another one waits until that one is gone and takes its place.
"""

import fcntl
import json
import logging
import os
import socket
import stat
import threading
from concurrent.futures import TimeoutError as AnswerLate
from datetime import datetime
from pathlib import Path
from typing import Any

from agentm_assets.config.errors import ConfigError
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.mcp.memory import Memory
from agentm_assets.recall.errors import IndexMissing, QuestionRefused
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.shape import json_of
from agentm_assets.storage.seam import StorageError
from agentm_assets.warm.address import LOCK, SOCKET, address_of, read_line

_CLIENT_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_RETRY_SECONDS = 5.0
_WAITING = 16

_log = logging.getLogger(__name__)


class WarmEndpoint:
    """Listens beside the server, on threads that end with the process."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._closed = threading.Event()
        self._listener: socket.socket | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="agentm-warm", daemon=True).start()

    def close(self) -> None:
        """Stop listening. A socket that is left behind by a killed server harms nobody."""
        self._closed.set()
        if self._listener is not None:
            self._listener.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                state = self._memory.location().state_dir
                state.mkdir(parents=True, exist_ok=True)
                with (state / LOCK).open("ab") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)  # held by the first server of this vault
                    self._listen(state)
                return
            except (ConfigError, StorageError):
                self._closed.wait(_RETRY_SECONDS)  # no vault yet: the tools say why
            except OSError as error:
                if not self._closed.is_set():
                    _log.warning("hooks get no warm answers: %s", error)
                return

    def _listen(self, state: Path) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with listener:
            _remove_stale(state / SOCKET)
            os.fchmod(listener.fileno(), 0o600)  # Linux makes the file with these bits
            with address_of(state) as address:
                listener.bind(address)
            (state / SOCKET).chmod(0o600)
            listener.listen(_WAITING)
            self._listener = listener
            while not self._closed.is_set():
                connection, _ = listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(_CLIENT_SECONDS)
            try:
                reply = self._reply(read_line(connection))
                connection.sendall(json.dumps(reply).encode() + b"\n")
            except (OSError, ValueError):
                return  # a hook that gave up: it had its deadline

    def _reply(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            question, k = request["question"], request["k"]
        except (ValueError, KeyError, TypeError):
            return {"error": "the request is not a question with k"}
        if not isinstance(question, str) or not isinstance(k, int):
            return {"error": "the request is not a question with k"}
        options = RecallOptions(now=datetime.now().astimezone(), k=k, rerank=False)
        asked = self._memory.search(question, options)
        try:
            answer: dict[str, Any] = json_of(asked.result(_ANSWER_SECONDS))
        except AnswerLate:
            asked.cancel()
            return {"error": "recall took too long"}
        except _FAILURES as error:
            return {"error": str(error)}
        return answer


_FAILURES = (ConfigError, StorageError, IndexMissing, QuestionRefused, ServingUnreadable)


def _remove_stale(path: Path) -> None:
    """Remove a socket that a killed server left. Only its successor, which holds the lock, does."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISSOCK(mode):
        path.unlink()
