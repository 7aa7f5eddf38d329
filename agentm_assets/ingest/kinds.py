"""Telling what a file is: which agent's session log, mail, or a web page."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from agentm_assets.ingest import antigravity, claude_code, codex, gemini
from agentm_assets.ingest.account import Account, Record
from agentm_assets.ingest.tail import MOST_LINE_BYTES

Kind = Literal["claude-code", "codex", "gemini", "antigravity", "mail", "web"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

MOST_DOCUMENT_BYTES: Final = 256 * 1024 * 1024

_HEAD_LINES: Final = 200
_HEAD_BYTES: Final = 8 * 1024 * 1024
"""Of lines that name no session, after which no more are looked at."""
_SNIFFED: Final = 4_096
_HEADER: Final = re.compile(
    rb"\A(?:>?From [^\r\n]*\r?\n)?(?:[!-9;-~]+:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n){2,}"
)
_MAIL_HEADERS: Final = re.compile(
    rb"^(?:from|received|message-id|date|return-path|delivered-to):", re.IGNORECASE | re.MULTILINE
)
_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body|article)[\s>]", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Reader:
    """How the logs of one agent are read."""

    agent: str
    namespace: str
    is_record: Callable[[Record], bool]
    session_id: Callable[[Record], str]
    read: Callable[[Record, Account], None]


READERS: Final[Mapping[Kind, Reader]] = {
    "claude-code": Reader(
        claude_code.AGENT,
        claude_code.NAMESPACE,
        claude_code.is_record,
        claude_code.session_id,
        claude_code.read,
    ),
    "codex": Reader(codex.AGENT, codex.NAMESPACE, codex.is_record, codex.session_id, codex.read),
    "gemini": Reader(
        gemini.AGENT, gemini.NAMESPACE, gemini.is_record, gemini.session_id, gemini.read
    ),
    "antigravity": Reader(
        antigravity.AGENT,
        antigravity.NAMESPACE,
        antigravity.is_record,
        antigravity.session_id,
        antigravity.read,
    ),
}


@dataclass(frozen=True, slots=True)
class Sniffed:
    """`session`: the id that the log names, "" when it names none (yet) or is no session.
    `folder` and `is_subagent`: what its head says, as in `Account`. `is_document`: one JSON
    document and no log of lines. `is_mbox`: many mails."""

    kind: Kind
    session: str = ""
    folder: str = ""
    is_subagent: bool = False
    is_document: bool = False
    is_mbox: bool = False


def sniff(file: Path, asked: Kind | None = None) -> Sniffed | None:
    """What the file is, None when it is nothing that is read. `asked`: what the operator says that
    it is. Raises OSError."""
    with file.open("rb") as opened:
        head = opened.read(_SNIFFED)
    if asked in (None, "mail") and head.startswith(b"From ") and b"\n" in head:
        return Sniffed("mail", is_mbox=True)
    if asked == "mail" or (asked is None and _is_mail(head)):
        return Sniffed("mail")
    if asked == "web":
        return Sniffed("web")
    if asked is None and _is_page(file, head):
        return Sniffed("web")
    readers: Mapping[Kind, Reader] = READERS if asked is None else {asked: READERS[asked]}
    if head.lstrip(b"\xef\xbb\xbf\0 \t\r\n")[:1] != b"{":
        return None
    return _session_log(file, readers)


def _is_mail(head: bytes) -> bool:
    found = _HEADER.match(head)
    return found is not None and _MAIL_HEADERS.search(found[0]) is not None


def _is_page(file: Path, head: bytes) -> bool:
    return file.suffix.lower() in (".html", ".htm", ".xhtml") or _HTML.search(head) is not None


def _session_log(file: Path, readers: Mapping[Kind, Reader]) -> Sniffed | None:
    kind: Kind | None = None
    session, read = "", 0
    head = Account()
    with file.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(MOST_LINE_BYTES), b"")):
            read += len(line)
            if number == 0 and (document := _document(file, line)) is not None:
                if "gemini" in readers and gemini.is_record(document):
                    gemini.read_head(document, head)
                    session = gemini.session_id(document)
                    return Sniffed(
                        "gemini", session, head.folder, head.is_subagent, is_document=True
                    )
                return None
            record = _object(line)
            if record is None:
                continue
            kind = kind or next((k for k, each in readers.items() if each.is_record(record)), None)
            if kind is not None:
                session = readers[kind].session_id(record)
                readers[kind].read(record, head)
            if session or number >= _HEAD_LINES or read > _HEAD_BYTES:
                break
    if kind is None:
        return None
    if kind == "antigravity":
        session = antigravity.session_id_of_path(file.absolute())
    elif kind == "claude-code":
        session = _own_id(file, session)
    return Sniffed(kind, session, head.folder, head.is_subagent)


def _own_id(file: Path, first: str) -> str:
    """A log that begins with another session's lines, as a forked one does, is named by its file,
    where its own last lines say the same; a renamed one by what stands in it."""
    stem = file.stem.lower()
    if not _UUID.fullmatch(stem) or stem == first:
        return first
    with file.open("rb") as log:
        log.seek(0, 2)
        log.seek(max(0, log.tell() - 65_536))
        named = f'"sessionId":"{stem}"'.encode() in log.read().replace(b": ", b":")
    return stem if named or not first else first


def _document(file: Path, first: bytes) -> dict[str, Any] | None:
    """The whole file as one object that holds messages, when its first line is not one by itself or
    the only one."""
    if file.suffix == ".jsonl" or (_object(first) is not None and b'"messages"' not in first):
        return None
    if file.stat().st_size > MOST_DOCUMENT_BYTES:
        return None
    found = _object(file.read_bytes())
    return found if found is not None and isinstance(found.get("messages"), list) else None


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data.strip(b"\0 \t\r\n").decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
