import json
from datetime import UTC, datetime

import pytest

from agentm_assets.traces.session import MAX_INPUT_BYTES, TraceRefused, read_session

NOW = datetime(2026, 8, 14, 9, 30, tzinfo=UTC)


def test_everything_but_the_id_may_be_missing() -> None:
    session = read_session(b'{"session_id": " a-1 ", "hook_event_name": "SessionEnd"}', NOW)
    assert session.session_id == "a-1" and session.source == "session:a-1"
    assert session.started == session.ended == NOW
    assert (session.title, session.summary, session.touched) == ("", "", ())


def test_texts_are_cleaned_and_moments_keep_their_offset() -> None:
    given = {
        "session_id": "a",
        "agent": "claude-code",
        "title": "Two\nlines \x1b[31m",
        "summary": "\n---\nstatus: active\r\n\x00",
        "started": "2026-08-14T01:20:00+02:00",
        "touched": ["a.md", "a.md", " ", "b\nc"],
    }
    session = read_session(json.dumps(given).encode(), NOW)
    assert session.title == "Two lines \ufffd[31m" and session.source == "claude-code-session:a"
    assert session.summary == "---\nstatus: active\r\n\ufffd"
    assert session.started.isoformat() == "2026-08-14T01:20:00+02:00"
    assert session.ended == NOW and session.touched == ("a.md", "b c")


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"3",
        b"{}",
        b'{"session_id": ""}',
        b'{"session_id": 3}',
        b'{"session_id": "a", "title": []}',
        b'{"session_id": "a", "touched": "x"}',
        b'{"session_id": "a", "touched": [1]}',
        b'{"session_id": "a", "started": "yesterday"}',
        b'{"session_id": "a", "started": "2026-08-14"}',
        b'{"session_id": "a", "started": "2026-08-14T10:00:00"}',
        b'{"session_id": "' + b"x" * 201 + b'"}',
        b'{"session_id": "a", "x": "' + b"x" * MAX_INPUT_BYTES + b'"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_session(given: bytes) -> None:
    with pytest.raises(TraceRefused):
        read_session(given, NOW)
