"""Time grows with the size of a note and not faster (processor time: the machine may be busy)."""

from collections.abc import Callable

import pytest

from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import read_frontmatter


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
def test_reading_is_linear(shape: Callable[[int], str], growth: Callable[..., float]) -> None:
    n = 40_000
    small, large = (shape(size).encode() for size in (n, 4 * n))
    assert growth(lambda: read_frontmatter(small), lambda: read_frontmatter(large), 0.05) < 8


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
def test_editing_is_linear(
    shape: Callable[[int], str], key: str, added: list[str], growth: Callable[..., float]
) -> None:
    def edit(size: int) -> Callable[[], object]:
        # A list is turned round, so that every item moves.
        old = [f"é{i}" for i in range(size)]
        value: str | list[str] = [*added, *reversed(old)] if added else "other"
        data = shape(size).encode()
        return lambda: set_key(data, key, value)

    assert growth(edit(3_000), edit(12_000), 0.05) < 8
