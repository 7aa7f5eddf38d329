"""Transcripts of Antigravity: `brain/<session>/.system_generated/logs/transcript.jsonl`.

A line is a step. The id of the session stands in the path alone. Arguments of tools are JSON inside
of texts.
"""

import json
import re
from pathlib import PurePath
from typing import Final
from urllib.parse import unquote

from agentm_assets.ingest.account import Account, Record, names, parts_of, text_of

AGENT: Final = "antigravity"
NAMESPACE: Final = "antigravity-session"

_TOOL_STEPS: Final = names("""
    RUN_COMMAND VIEW_FILE LIST_DIRECTORY CODE_ACTION GREP_SEARCH MCP_TOOL GENERIC FIND
    SEARCH_WEB READ_URL_CONTENT COMMAND_STATUS VIEW_CONTENT_CHUNK VIEW_CODE_ITEM CODEBASE_SEARCH
    BROWSER_SUBAGENT GENERATE_IMAGE SEND_COMMAND_INPUT TASK_BOUNDARY ERROR_MESSAGE
""")
_SYSTEM_STEPS: Final = names("""
    CONVERSATION_HISTORY EPHEMERAL_MESSAGE CHECKPOINT SYSTEM_MESSAGE KNOWLEDGE_ARTIFACTS
""")
_WRITING_TOOLS: Final = frozenset(
    {"write_to_file", "replace_file_content", "multi_replace_file_content", "edit_file"}
)
_OPENED, _CLOSED = "<USER_REQUEST>", "</USER_REQUEST>"
_WRAPPED: Final = re.compile(r"<[A-Z_]{4,40}>")
_FOLDER: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,199}")


def is_record(record: Record) -> bool:
    """Is it a line of such a log?"""
    return type(record.get("step_index")) is int and bool(text_of(record, "type"))


def session_id(record: Record) -> str:
    """None stands in a record."""
    return ""


def session_id_of_path(path: PurePath) -> str:
    """The folder under `brain/`; "" for a log that lies elsewhere."""
    parts = path.parts
    for at in range(len(parts) - 2, 0, -1):
        if parts[at] == ".system_generated" and _FOLDER.fullmatch(parts[at - 1]):
            return parts[at - 1]
    return ""


def read(record: Record, account: Account) -> None:
    """Add what a record tells."""
    kind = text_of(record, "type")
    at = text_of(record, "created_at")
    account.moment(at)
    # The index of a step stands for its id, and a step may be told again when it is done.
    key = str(record.get("step_index", ""))
    if kind in ("USER_INPUT", "USER_MESSAGE"):
        account.says(key, _asked(_content(record)), at)
    elif kind in ("PLANNER_RESPONSE", "NOTIFY_USER"):
        account.answers_with(key, _content(record), at)
        for call in parts_of(record.get("tool_calls")):
            if text_of(call, "name") in _WRITING_TOOLS:
                account.touches(_path(call.get("args")))
    elif kind not in _SYSTEM_STEPS and kind not in _TOOL_STEPS:
        account.does_not_know(kind)


def _content(record: Record) -> str:
    content = record.get("content")
    return content if isinstance(content, str) else text_of(content, "text")


def _asked(content: str) -> str:
    """The operator's own words, without what the host adds around or behind them."""
    start = content.find(_OPENED)
    if start >= 0:
        return content[start + len(_OPENED) :].partition(_CLOSED)[0]
    return _WRAPPED.split(content, maxsplit=1)[0]


def _path(given: object) -> str:
    written = text_of(given, "TargetFile") or text_of(given, "AbsolutePath")
    if written.startswith('"'):
        try:
            plain = json.loads(written)
        except ValueError:
            return ""
        written = plain if isinstance(plain, str) else ""
    return unquote(written.removeprefix("file://")) if written.startswith("file://") else written
