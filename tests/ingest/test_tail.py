"""Reading a growing log."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentm_assets.ingest.tail import MOST_LINE_BYTES, Tail, begins_like, continues, read_tail
from agentm_assets.ledger.source_records import Cursor

LINES = st.lists(
    st.one_of(
        st.dictionaries(st.text(max_size=4), st.text(max_size=20), max_size=2).map(
            lambda record: json.dumps(record).encode()
        ),
        st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
    ),
    max_size=8,
)


def cursor_of(tail: Tail) -> Cursor:
    return Cursor(
        "codex-session:x",
        tail.position,
        tail.lines,
        tail.head,
        tail.head_bytes,
        tail.check,
        0,
        "",
        "ingest-1",
        "",
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines=LINES, cuts=st.lists(st.integers(0, 300), max_size=5))
def test_read_in_pieces_or_at_once_a_log_gives_the_same(
    tmp_path: Path, lines: list[bytes], cuts: list[int]
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    file = tmp_path / "log.jsonl"
    file.write_bytes(data)
    whole: list[dict[str, Any]] = []
    end = read_tail(file, None, whole.append)
    assert (end.start, end.position, end.lines) == (0, len(data), len(lines))
    pieces: list[dict[str, Any]] = []
    cursor: Cursor | None = None
    broken = 0
    for cut in sorted({min(cut, len(data)) for cut in cuts} | {len(data)}):
        file.write_bytes(data[:cut])
        tail = read_tail(file, cursor, pieces.append)
        assert tail.restarted == ""
        broken += tail.broken
        cursor = cursor_of(tail)
    assert pieces == whole
    assert broken == end.broken
    assert cursor is not None
    assert continues(file, cursor)
    assert begins_like(file, cursor)


def test_a_log_with_another_beginning_is_another_one(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    data = b"".join(b'{"n": %d}\n' % number for number in range(2_000))
    file.write_bytes(data)
    cursor = cursor_of(read_tail(file, None, lambda record: None))
    assert cursor.position > 2 * cursor.head_bytes
    file.write_bytes(data.replace(b"0", b"7", 1) + b'{"n": 2000}\n')
    assert not continues(file, cursor)
    taken: list[dict[str, Any]] = []
    tail = read_tail(file, cursor, taken.append)
    assert (tail.restarted, len(taken)) == ("rewritten", 2_001)


def test_a_line_over_the_limit_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with file.open("wb") as log:
        log.write(b'{"a": 1}\n{"b": "')
        log.truncate(MOST_LINE_BYTES + 100)  # a hole: nothing of it takes room on the disk
        log.seek(0, 2)
        log.write(b'"}\n{"c": 3}\n')
    taken: list[dict[str, Any]] = []
    tail = read_tail(file, None, taken.append)
    assert (taken, tail.broken, tail.lines) == ([{"a": 1}, {"c": 3}], 1, 3)
    assert tail.position == file.stat().st_size
