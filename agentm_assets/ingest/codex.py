"""Session logs of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`.

Each line is an envelope of `timestamp`, `type` and `payload`. Logs from before the envelope hold
the payloads of `response_item` bare, behind a first line with the id.
"""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from agentm_assets.ingest.account import Account, Record, names, parts_of, text_of

AGENT: Final = "codex"
NAMESPACE: Final = "codex-session"

_ENVELOPES: Final = frozenset(
    {"session_meta", "turn_context", "event_msg", "response_item", "compacted", "world_state"}
    | {"inter_agent_communication", "inter_agent_communication_metadata", "ghost_snapshot"}
)
_ITEMS: Final = names("""
    message reasoning function_call function_call_output custom_tool_call local_shell_call
    custom_tool_call_output web_search_call ghost_snapshot compaction image_generation_call
    tool_search_call tool_search_output
""")
_EVENTS: Final = names("""
    agent_message user_message agent_reasoning agent_reasoning_raw_content token_count
    exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin
    patch_apply_end task_started task_complete turn_started turn_complete turn_aborted
    web_search_begin web_search_end mcp_tool_call_begin mcp_tool_call_end context_compacted
    entered_review_mode exited_review_mode thread_rolled_back item_completed undo_completed
    agent_reasoning_section_break turn_diff background_event error warning stream_error
    view_image_tool_call thread_name_updated thread_settings_applied plan_update
""")
_NOT_SAID: Final = re.compile(r"<|# AGENTS\.md instructions")
"""How messages begin that stand in the operator's name and are the host's."""

_PATCHED: Final = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.{1,400})$", re.MULTILINE
)


def is_record(record: Record) -> bool:
    """Is it a line of such a log?"""
    if text_of(record, "type") in _ENVELOPES and isinstance(record.get("payload"), dict):
        return True
    return _is_old_head(record) or record.get("record_type") == "state"


def session_id(record: Record) -> str:
    if text_of(record, "type") == "session_meta":
        return text_of(record, "payload", "id")
    return text_of(record, "id") if _is_old_head(record) else ""


def read(record: Record, account: Account) -> None:
    """Add what a record tells."""
    kind, payload = text_of(record, "type"), record.get("payload")
    at = text_of(record, "timestamp")
    if isinstance(payload, dict) and kind in _ENVELOPES:
        account.moment(at)
        if kind == "session_meta":
            _head(payload, account)
        elif kind == "turn_context":
            account.folder = account.folder or text_of(payload, "cwd")
        elif kind == "response_item":
            _item(payload, account, at)
        elif kind == "event_msg" and text_of(payload, "type") not in _EVENTS:
            account.does_not_know(f"event_msg/{text_of(payload, 'type')}")
        elif kind == "event_msg" and text_of(payload, "type") == "thread_name_updated":
            account.title = text_of(payload, "thread_name") or account.title
    elif _is_old_head(record):
        account.moment(at)
        _head(record, account)
    elif kind in _ITEMS and "payload" not in record:
        _item(record, account, at)
    elif record.get("record_type") != "state":
        account.does_not_know(kind)


def _is_old_head(record: Record) -> bool:
    return (
        "type" not in record
        and isinstance(record.get("id"), str)
        and isinstance(record.get("timestamp"), str)
        and ("instructions" in record or "git" in record)
    )


def _head(head: Record, account: Account) -> None:
    if account.session_id:
        return  # of the session that this one was forked from
    account.session_id = text_of(head, "id")
    account.folder = text_of(head, "cwd") or account.folder
    source = head.get("source")
    account.is_subagent = isinstance(source, dict) and "subagent" in source


def _item(item: Record, account: Account, at: str) -> None:
    kind = text_of(item, "type")
    if kind == "message":
        role = text_of(item, "role")
        texts = [
            text_of(part, "text")
            for part in parts_of(item.get("content"))
            if text_of(part, "type") in ("input_text", "output_text", "text")
        ]
        key = text_of(item, "id")
        if role == "assistant":
            account.answers_with(key, "\n".join(texts), at)
        elif role == "user":
            said = [text for text in texts if not _NOT_SAID.match(text.lstrip())]
            account.says(key, "\n".join(said), at)
    elif kind in ("custom_tool_call", "function_call", "local_shell_call"):
        for path in _patched(item):
            account.touches(str(PurePosixPath(account.folder, path)) if account.folder else path)
    elif kind not in _ITEMS:
        account.does_not_know(f"response_item/{kind}")


def _patched(item: Record) -> Iterator[str]:
    """The files that a patch among the arguments of a tool changes."""
    for given in (text_of(item, "input"), text_of(item, "arguments")):
        if "*** Begin Patch" not in given:
            continue
        for text in _texts_in(given):
            for match in _PATCHED.finditer(text):
                yield match[1].strip()


def _texts_in(given: str) -> Iterator[str]:
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        yield given
        return
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, dict):
            waiting += reversed(list(each.values()))
