"""The socket through which hooks get warm answers."""

import json
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.mcp.memory import Memory
from agentm_assets.mcp.warm import WarmEndpoint
from agentm_assets.recall.question import RecallOptions
from agentm_assets.warm.address import LOCK, SOCKET, address_of
from agentm_assets.warm.client import WarmRequest, WarmTrouble, ask

Machine = Any  # the class in conftest.py, which cannot be imported from here

REQUEST = WarmRequest("what switches it off once the water is hot", 3)
PATIENCE = 60.0


def answered(state: Path) -> dict[str, Any]:
    """The first answer of a server that is starting."""
    end = time.monotonic() + PATIENCE
    while (answer := ask(state, REQUEST, PATIENCE)) is None:
        assert time.monotonic() < end, "no server listens"
    return answer


@contextmanager
def serving(memory: Memory, state: Path) -> Iterator[Path]:
    served = WarmEndpoint(memory)
    served.start()
    answered(state)
    yield state
    served.close()
    with address_of(state) as address, socket.socket(socket.AF_UNIX) as last:
        last.settimeout(5)
        last.connect(address)  # wakes the listener, so that it sees that it is closed
    memory.close()


@pytest.fixture
def endpoint(demo: Machine) -> Iterator[Path]:
    with serving(Memory(demo.env), demo.state) as state:
        yield state


def test_a_question_gets_the_answer_of_recall_and_only_its_owner_can_ask(endpoint: Path) -> None:
    answer = ask(endpoint, REQUEST, PATIENCE)
    assert answer is not None
    assert len(answer["hits"]) == 3
    mode = (endpoint / SOCKET).stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def test_a_hook_is_not_kept_waiting_for_a_reranker(
    demo: Machine, tmp_path: Path, build_cross_encoder: Callable[..., Path]
) -> None:
    folder = build_cross_encoder(tmp_path / "overlap", (("water",), ("hot",)))
    memory = Memory({**demo.env, "AGENTM_RERANKER": str(folder)})
    options = RecallOptions(now=datetime(2026, 8, 19, tzinfo=UTC))
    with serving(memory, demo.state) as state:
        end = time.monotonic() + PATIENCE
        while (trace := memory.search(REQUEST.question, options).result().trace).rerank is None:
            assert time.monotonic() < end, "the model does not load"
        assert trace.rerank.pairs > 0
        answer = ask(state, REQUEST, PATIENCE)
        assert answer is not None
        assert answer["trace"]["rerank"]["pairs"] == 0
        assert "no time" in answer["trace"]["rerank"]["why"]
        assert "rerank" not in (answer["why"] or "")


def test_rubbish_is_answered_and_forgotten(endpoint: Path) -> None:
    for line in (b"{nope\n", b"[]\n", b'{"question": 1, "k": 2}\n', b'{"question": "x"}\n', b"\n"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(endpoint / SOCKET))
            connection.sendall(line)
            assert "error" in json.loads(connection.recv(65_536))
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(endpoint / SOCKET))
        assert ask(endpoint, REQUEST, PATIENCE) is not None  # while another says nothing
    with pytest.raises(WarmTrouble, match="k is 5000"):
        ask(endpoint, WarmRequest("water", 5_000), PATIENCE)


def test_the_remains_of_a_killed_server_are_replaced(demo: Machine) -> None:
    demo.http()
    answered(demo.state)
    demo.running[0].kill()
    demo.running[0].wait(20)
    assert (demo.state / SOCKET).exists()
    assert ask(demo.state, REQUEST, PATIENCE) is None
    demo.http()
    assert answered(demo.state)["hits"]
    demo.stop()


def test_the_next_server_takes_over(demo: Machine) -> None:
    demo.http()
    answered(demo.state)
    demo.http()
    demo.running[0].kill()
    demo.running[0].wait(20)
    assert answered(demo.state)["hits"]
    demo.stop()


def test_a_file_that_is_no_socket_is_left_alone(demo: Machine) -> None:
    (demo.state / SOCKET).unlink(missing_ok=True)
    (demo.state / SOCKET).write_text("mine")
    url, _port = demo.http()
    assert url.startswith("http")  # the server runs; hooks get no warm answers
    assert ask(demo.state, REQUEST, 1.0) is None
    demo.stop()
    assert (demo.state / SOCKET).read_text() == "mine"
    (demo.state / SOCKET).unlink()


def test_a_folder_with_a_long_path_is_reached_too(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        with address_of(folder) as address:
            assert len(address) < 100
            listener.bind(address)
        listener.listen()
        assert (folder / SOCKET).is_socket()
        with address_of(folder) as address, socket.socket(socket.AF_UNIX) as client:
            client.connect(address)


def test_nobody_there_is_no_error(tmp_path: Path) -> None:
    assert ask(tmp_path, REQUEST, 1.0) is None
    assert ask(tmp_path / "absent", REQUEST, 1.0) is None
    assert not (tmp_path / LOCK).exists()
