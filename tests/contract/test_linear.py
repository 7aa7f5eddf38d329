"""Time grows with the size of a note and not faster (processor time: the machine may be busy)."""

import time
from collections.abc import Callable

import pytest

from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import read_frontmatter


def _seconds(data: bytes) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read_frontmatter(data)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: "---\n" + "".join(f"k{i}: é\n" for i in range(n // 40)) + "---\n",
        lambda n: "---\nk:\n" + "- é\n" * (n // 20) + "---\n",
        lambda n: "---\nk: [" + "é, " * (n // 20) + "x]\n---\n",
        lambda n: "---\nk: &w é\nl: [" + "*w , é, " * (n // 10) + "x]\n---\n",
        lambda n: "---\nk: &w é\n" + "".join(f"k{i}: *w\n" for i in range(n // 60)) + "---\n",
        lambda n: "---\nk:\n- &w x\n- *w\n" + "# c\n" * n + "---\n",
        lambda n: "---\nk: x" + " " * n + "\nl: y\n---\n",
        lambda n: "---\n" + "--- x\n" * n,
        lambda n: "---" + " " * n + "x\n",
        lambda n: "---\nk: |\n" + "  é\n\n" * (n // 4) + "---\n",
        lambda n: "---\n" + "a\x07\x00\n" * (n // 4) + "---\n",
    ],
)
def test_reading_is_linear(shape: Callable[[int], str]) -> None:
    n = 40_000
    small, large = (_seconds(shape(size).encode()) for size in (n, 4 * n))
    # A machine under load is slow for both; what grows with the square takes seconds here.
    assert large < 8 * max(small, 0.05)


def _edit_seconds(data: bytes, key: str, value: str | list[str]) -> float:
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        set_key(data, key, value)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    ("shape", "key", "added"),
    [
        (lambda n: "---\n" + "".join(f"k{i}: é\n" for i in range(n)) + "---\n", "k7", []),
        (lambda n: "---\n" + "# c\n" * n + "tags: x\n---\n", "type", []),
        (lambda n: "---\nk:\n" + "".join(f"# c\n- é{i}\n" for i in range(n)) + "---\n", "k", ["z"]),
        (lambda n: "---\nk: [" + ", ".join(f"é{i}" for i in range(n)) + "]\n---\n", "k", ["z"]),
        (lambda n: "---\nk: x\n---\n" + "\r\r---\r" * n, "k", []),
        (lambda n: "text\r" * n, "k", []),
        (lambda n: "\n" * n + "---\n" + "a: b\n" * n, "k", []),
    ],
)
def test_editing_is_linear(shape: Callable[[int], str], key: str, added: list[str]) -> None:
    n = 3_000
    seconds = []
    for size in (n, 4 * n):
        # A list is turned round, so that every item moves.
        old = [f"é{i}" for i in range(size)]
        value: str | list[str] = [*added, *reversed(old)] if added else "other"
        seconds.append(_edit_seconds(shape(size).encode(), key, value))
    assert seconds[1] < 8 * max(seconds[0], 0.05)
