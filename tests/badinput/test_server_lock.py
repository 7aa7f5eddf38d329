"""The lock that keeps a second launcher out, and what it remembers of those before."""

from pathlib import Path

import pytest

from agentm_assets.cli.server_lock import (
    ServersRunning,
    after_unclean_end,
    lock_file,
    server_lock,
)


def test_a_second_holder_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with server_lock(tmp_path) as lock:
        lock.name([123456, 7])
        lock.name([12, 34])
        with pytest.raises(ServersRunning) as refused, server_lock(tmp_path):
            pass
        assert refused.value.processes == "12 34"


def test_an_end_is_unclean_until_somebody_cleans_up(tmp_path: Path) -> None:
    cleaned: list[str] = []

    def look() -> int:
        after_unclean_end(tmp_path, lambda: cleaned.append("once"))
        return len(cleaned)

    assert look() == 0, "there was none yet"
    with server_lock(tmp_path) as lock:
        assert not lock.unclean
        lock.name([12])
        assert look() == 0, "it is alive"
    with server_lock(tmp_path) as lock:
        assert lock.unclean
    assert look() == 1
    assert look() == 1, "and it stays clean"
    with server_lock(tmp_path) as lock:
        lock.name([12])
        lock.clear()
    assert look() == 1
    assert lock_file(tmp_path).read_bytes() == b""


def test_what_fails_to_be_cleaned_is_tried_again(tmp_path: Path) -> None:
    with server_lock(tmp_path) as lock:
        lock.name([12])

    def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        after_unclean_end(tmp_path, fail)
    with server_lock(tmp_path) as lock:
        assert lock.unclean
