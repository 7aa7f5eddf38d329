"""Mails: a file each (RFC 5322), or many in an mbox (RFC 4155)."""

import mailbox
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.errors import HeaderParseError, MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from agentm_assets.capture.moment import iso
from agentm_assets.contract.lines import split_lines
from agentm_assets.ingest.web import page_text

MOST_BYTES: Final = 64 * 1024 * 1024
"""A larger mail is passed over and counted."""

_MOST_TEXT: Final = 200_000
_PEOPLE: Final = 10
_ATTRIBUTION: Final = re.compile(
    r"(?:On|Am|Le|El) .{6,200}(?:wrote|schrieb.{0,80}|a écrit|escribió) ?:"
    r"|-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht) ?-{2,}.*"
    r"|_{10,}",
    re.IGNORECASE,
)
_SIGNATURE: Final = re.compile(r"-- ?|(?:Sent|Gesendet) (?:from|von) (?:my|meinem) .{1,40}")
_QUOTED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)  # RFC 4155, as mboxrd has it
_REPLY: Final = re.compile(r"(?:(?:re|aw|fw|fwd|wg|sv|antw)(?:\[\d+\])? ?: ?)+", re.IGNORECASE)
_BROKEN_HEADER: Final = (
    *(MessageError, HeaderParseError, ValueError, LookupError, TypeError),
    *(AttributeError, RecursionError),
)
"""What the parser raises for headers that nobody can read."""

_CONTENT: Final = re.compile(
    rb"^content-[a-z-]{1,40}:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*", re.IGNORECASE | re.MULTILINE
)
_MOST_CONTENT_HEADER: Final = 2_000  # these the parser looks into by itself
_MOST_HEADER: Final = 20_000
"""The parser's work grows with the square of a header: of a longer one the beginning is taken as it
stands."""


@dataclass(frozen=True, slots=True)
class Mail:
    """`id`: its Message-ID without brackets, or a digest where it has none. `text`: what its sender
    wrote in it, without quotations and signature. `sent`: ISO, "" when it does not say.
    `digest`: of sender, date, subject and text. `is_automatic`: its headers say that a machine
    answered or sent it in bulk."""

    id: str
    sender: str
    recipients: str
    subject: str
    sent: str
    text: str
    attached: tuple[str, ...]
    is_automatic: bool
    digest: str


def read_mail(data: bytes) -> Mail:
    """A mail from its bytes, whatever they are: what can't be read is missing."""
    data = _CONTENT.sub(lambda found: found[0][:_MOST_CONTENT_HEADER], data)
    message = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(data)
    sender, recipients = _people(message, "from"), _people(message, "to", "cc")
    subject = _REPLY.sub("", _header(message, "subject"), count=1).strip()
    text = _own_words(_text(message))
    sent = _sent(_header(message, "date"))
    digest = sha256("\n".join((sender, sent, subject, text)).encode("utf-8", "replace")).hexdigest()
    named = _header(message, "message-id").strip().removeprefix("<").removesuffix(">").strip()
    usable = 0 < len(named) <= 900 and named.isprintable()
    return Mail(
        id=named if usable else f"sha256-{digest[:32]}",
        sender=sender,
        recipients=recipients,
        subject=subject,
        sent=sent,
        text=text,
        attached=_attached(message),
        is_automatic=_is_automatic(message),
        digest=digest,
    )


def mails_in(file: Path) -> Iterator[bytes | None]:
    """The mails of an mbox, one by one; None for one that is too large. Raises OSError."""
    with closing(mailbox.mbox(file, create=False)) as box:
        for key in box.iterkeys():
            with box.get_file(key) as part:
                data = part.read(MOST_BYTES + 1)
            yield _QUOTED_FROM.sub(rb"\1", data) if len(data) <= MOST_BYTES else None


def _header(message: EmailMessage, name: str) -> str:
    raw = next((str(v) for k, v in message.raw_items() if k.lower() == name), "")
    if len(raw) <= _MOST_HEADER:
        try:
            return " ".join(str(message.get(name, "")).split())
        except _BROKEN_HEADER:
            pass
    return " ".join(raw[:_MOST_HEADER].split())


def _people(message: EmailMessage, *names: str) -> str:
    headers = [_header(message, name) for name in names]
    try:
        found = getaddresses(headers)
    except RecursionError:
        return ""  # brackets in brackets, a thousand deep
    shown = [f"{name} <{address}>" if name else address for name, address in found if address]
    return ", ".join(" ".join(each.split()) for each in shown[:_PEOPLE])


def _sent(written: str) -> str:
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    aware: datetime = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return iso(aware)


def _text(message: EmailMessage) -> str:
    try:
        part = message.get_body(preferencelist=("plain", "html"))
    except _BROKEN_HEADER:
        part = None
    if part is None:
        return ""
    try:
        content = part.get_content()
    except _BROKEN_HEADER:
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if not isinstance(content, str):
        return ""
    return page_text(content) if part.get_content_subtype() == "html" else content


def _own_words(text: str) -> str:
    """Without quoted lines, who is quoted, what follows a forward, and the signature."""
    kept: list[str] = []
    for line in split_lines(text[:_MOST_TEXT]):
        bare = line.strip()
        if _SIGNATURE.fullmatch(bare) or _ATTRIBUTION.fullmatch(bare):
            break
        if not bare.startswith(">"):
            kept.append(line.rstrip("\r\n"))
    return "\n".join(kept).strip()


def _attached(message: EmailMessage) -> tuple[str, ...]:
    try:
        names = [part.get_filename() for part in message.iter_attachments()]
    except _BROKEN_HEADER:
        return ()
    return tuple(" ".join(str(name).split())[:120] for name in names if name)[:_PEOPLE]


def _is_automatic(message: EmailMessage) -> bool:
    answered = _header(message, "auto-submitted").lower()
    precedence = _header(message, "precedence").lower()
    return answered.startswith("auto") or precedence in ("bulk", "junk", "auto_reply")
