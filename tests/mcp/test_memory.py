"""The memory behind the tools: its threads, and what a fault of ours lets out."""

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

import anyio
import pytest

from agentm_assets.capture.request import CaptureRequest
from agentm_assets.mcp.memory import Memory
from agentm_assets.mcp.server import run_tool
from agentm_assets.reading.library import Library

Machine = Any  # the class in conftest.py, which cannot be imported from here

PATIENCE = 60.0


@pytest.fixture
def memory(bare: Machine) -> Iterator[Memory]:
    opened = Memory(bare.env)
    yield opened
    opened.close()


def test_a_slow_recall_delays_no_capture(memory: Memory) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(_library: Library) -> str:
        inside.set()
        assert go_on.wait(PATIENCE)
        return "done"

    recall = memory.read(slow)
    assert inside.wait(PATIENCE)
    saved = memory.capture(CaptureRequest("The quoll fence is electric.")).result(PATIENCE)
    assert saved.path.endswith(".md")
    assert not recall.done()
    waiting = memory.read(lambda _library: "never")
    assert waiting.cancel()
    go_on.set()
    assert recall.result(PATIENCE) == "done"
    with pytest.raises(CancelledError):
        waiting.result(PATIENCE)


def test_closing_lets_a_capture_end(bare: Machine) -> None:
    memory = Memory(bare.env)
    captures = [
        memory.capture(CaptureRequest(f"The quoll fence has {at} posts.")) for at in range(10)
    ]
    memory.close()
    for capture in captures:
        assert (bare.vault / capture.result(0).path).is_file()


def test_a_fault_of_ours_lets_nothing_out_and_ends_nothing(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty(Memory):
        def read(self, reading: Any) -> Any:
            raise RuntimeError("the wombat password")

    async def call() -> None:
        result = await run_tool(Faulty({}), "memory_recent", {})
        assert result.is_error
        assert "wombat" not in result.model_dump_json()
        result = await run_tool(memory, "memory_capture", {"text": "The quoll fence is electric."})
        assert not result.is_error

    anyio.run(call)
    assert "wombat" in caplog.text  # the operator finds it on standard error
