"""Session logs of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, a record a line."""

import re
from typing import Final

from agentm_assets.ingest.account import Account, Record, names, parts_of, text_of

AGENT: Final = "claude-code"
NAMESPACE: Final = "claude-session"

_BOOKKEEPING: Final = names("""
    attachment file-history-snapshot file-history-delta queue-operation mode last-prompt pr-link
    progress system permission-mode worktree-state agent-name agent-color agent-setting tag
    speculation-accept content-replacement attribution-snapshot marble-origami-commit task-
    summary started result
""")
_TITLES: Final = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_WRITING_TOOLS: Final = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_NOT_TALK: Final = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_NOT_SAID: Final = re.compile(
    r"<|\[Request interrupted by user|Caveat: The messages below|API Error"
    r"|This session is being continued from a previous conversation"
)
"""How texts begin that stand in the operator's name and are the host's."""


def is_record(record: Record) -> bool:
    """Is it a line of such a log?"""
    kind = text_of(record, "type")
    if kind == "summary":
        return "leafUuid" in record
    if kind in ("user", "assistant", "system", "attachment"):
        return isinstance(record.get("sessionId"), str) and "uuid" in record
    return kind in _TITLES or kind in ("file-history-snapshot", "queue-operation", "last-prompt")


def session_id(record: Record) -> str:
    return text_of(record, "sessionId")


def read(record: Record, account: Account) -> None:
    """Add what a record tells."""
    kind = text_of(record, "type")
    if kind in _TITLES:
        account.title = text_of(record, _TITLES[kind]) or account.title
        return
    if kind not in ("user", "assistant"):
        if kind not in _BOOKKEEPING:
            account.does_not_know(kind)
        return
    account.session_id = account.session_id or session_id(record)
    account.folder = account.folder or text_of(record, "cwd")
    at = text_of(record, "timestamp")
    account.moment(at)
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    _touched(content, account)
    if any(record.get(flag) for flag in _NOT_TALK):
        return
    key = text_of(record, "uuid")
    texts = [content] if isinstance(content, str) else _texts(content)
    if kind == "assistant":
        account.answers_with(key, "\n".join(texts), at)
        return
    account.says(key, "\n".join(each for each in texts if not _NOT_SAID.match(each.lstrip())), at)


def _texts(content: object) -> list[str]:
    return [text_of(part, "text") for part in parts_of(content) if text_of(part, "type") == "text"]


def _touched(content: object, account: Account) -> None:
    for part in parts_of(content):
        if text_of(part, "type") == "tool_use" and text_of(part, "name") in _WRITING_TOOLS:
            given = part.get("input")
            account.touches(text_of(given, "file_path") or text_of(given, "notebook_path"))
