"""Sessions of Gemini CLI in `~/.gemini/tmp/<project>/chats/`.

Older versions keep a JSON document (`session-*.json`); newer ones a log of lines
(`session-*.jsonl`), in which a message is told again when it changes, `$set` changes what the head
says and may tell all messages anew, and `$rewindTo` takes messages back.
"""

from typing import Final

from agentm_assets.ingest.account import Account, Record, parts_of, text_of

AGENT: Final = "gemini"
NAMESPACE: Final = "gemini-session"

_WRITING_TOOLS: Final = frozenset({"write_file", "replace", "edit"})
_KINDS: Final = frozenset({"user", "gemini", "info", "error", "warning"})
_METADATA: Final = frozenset({"session_metadata", "message_update"})


def is_record(record: Record) -> bool:
    """Is it the head of such a log, or a whole document?"""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def session_id(record: Record) -> str:
    return text_of(record, "sessionId") if is_record(record) else ""


def read(record: Record, account: Account) -> None:
    """Add what a record tells."""
    if isinstance(record.get("$rewindTo"), str):
        account.forgets_from(record["$rewindTo"])
        return
    changed = record.get("$set")
    if isinstance(changed, dict):
        _head(changed, account)
        for message in parts_of(changed.get("messages")):
            read_message(message, account)
    elif is_record(record):
        _head(record, account)
    elif isinstance(record.get("id"), str) and "type" in record:
        read_message(record, account)
    elif text_of(record, "type") not in _METADATA:
        account.does_not_know(text_of(record, "type"))


def read_head(document: Record, account: Account) -> None:
    """What a JSON document says beside its messages."""
    _head(document, account)


def read_message(message: Record, account: Account) -> None:
    """Add what a message tells."""
    kind, at = text_of(message, "type"), text_of(message, "timestamp")
    if kind not in _KINDS:
        if kind not in _METADATA:
            account.does_not_know(kind)
        return
    account.moment(at)
    key, text = text_of(message, "id"), _text(message.get("content"))
    if kind == "user" and not text.lstrip().startswith("<"):
        account.says(key, text, at)
    elif kind == "gemini":
        account.answers_with(key, text, at)
        for call in parts_of(message.get("toolCalls")):
            if text_of(call, "name") in _WRITING_TOOLS and text_of(call, "status") != "error":
                given = call.get("args")
                account.touches(text_of(given, "file_path") or text_of(given, "absolute_path"))


def _head(head: Record, account: Account) -> None:
    account.session_id = account.session_id or text_of(head, "sessionId")
    account.started = account.started or text_of(head, "startTime")
    account.title = text_of(head, "summary") or account.title
    account.is_subagent = account.is_subagent or head.get("kind") == "subagent"
    folders = head.get("directories")
    if isinstance(folders, list) and folders and isinstance(folders[0], str):
        account.folder = account.folder or folders[0]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    texts = [part if isinstance(part, str) else text_of(part, "text") for part in _list(content)]
    return "\n".join(text for text in texts if text)


def _list(content: object) -> list[object]:
    return content if isinstance(content, list) else []
