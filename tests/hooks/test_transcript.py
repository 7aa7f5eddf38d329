"""What a transcript tells of a session."""

import json
from pathlib import Path
from typing import Any

from agentm_assets.hooks.host import read_event
from agentm_assets.hooks.transcript import read_transcript


def said(content: Any, at: str = "2026-08-01T10:00:00Z", **more: Any) -> dict[str, Any]:
    return {"type": "user", "timestamp": at, "message": {"content": content}, **more}


def used(name: str, **given: str) -> dict[str, Any]:
    part = {"type": "tool_use", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "ok"}, part]}}


def write(file: Path, *lines: Any) -> Path:
    file.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    )
    return file


def test_prompts_times_and_written_files(tmp_path: Path) -> None:
    told = read_transcript(
        write(
            tmp_path / "t.jsonl",
            {"type": "file-history"},
            said("<command-name>/clear</command-name>", "2026-08-01T09:59:00Z"),
            said("Mend the  boil\nsensor", "2026-08-01T10:00:00Z"),
            used("Read", file_path="/src/read.py"),
            used("Edit", file_path="/src/boil.py"),
            used("Write", file_path="/src/new.py"),
            used("Edit", file_path="/src/boil.py"),
            used("NotebookEdit", notebook_path="/src/n.ipynb"),
            said([{"type": "tool_result", "content": "done"}]),
            said([{"type": "text", "text": "Thanks"}], "2026-08-01T11:30:00Z"),
            said("hidden", isMeta=True),
            "{torn",
            "[]",
        )
    )
    assert told is not None
    assert told.prompts == 2
    assert told.title == "Mend the boil sensor"
    assert (told.started, told.ended) == ("2026-08-01T09:59:00Z", "2026-08-01T10:00:00Z")
    assert told.touched == ("/src/boil.py", "/src/new.py", "/src/n.ipynb")


def test_a_summary_names_the_session_and_a_long_title_is_cut(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.jsonl", said("x" * 500), {"type": "summary", "summary": "Boil sensor"}
    )
    told = read_transcript(file)
    assert told is not None and told.title == "Boil sensor"
    told = read_transcript(write(tmp_path / "u.jsonl", said("x" * 500)))
    assert told is not None and len(told.title) == 120


def test_no_file_and_no_prompt(tmp_path: Path) -> None:
    assert read_transcript(tmp_path / "absent") is None
    assert read_transcript(tmp_path) is None
    told = read_transcript(write(tmp_path / "t.jsonl", {"type": "assistant"}))
    assert told is not None and told.prompts == 0


def test_hosts_are_read_leniently() -> None:
    event = read_event(b'{"prompt": "Hi", "session_id": "s", "cwd": "/c", "source": "resume"}')
    assert (event.prompt, event.session_id, event.cwd, event.reason) == ("Hi", "s", "/c", "resume")
    assert read_event(b'{"prompt": 7, "user_prompt": "Hi"}').prompt == "Hi"
    assert read_event(b"plain words\n").prompt == "plain words"
    assert read_event(b"[1, 2]").prompt == "[1, 2]"
    assert read_event(b"").prompt == read_event(b" \n").prompt == ""
    assert read_event(b"[" * 100_000).session_id == ""
    assert read_event(b"\xff{").prompt == "\ufffd{"
