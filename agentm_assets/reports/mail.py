"""The morning note by mail: over TLS or not at all.

The note in the vault is the report; mail is a courtesy. Nobody asked for: nothing is sent and
nothing is said. A server that offers no encryption, or a certificate that is not its own, ends it
before a password, an address or a word of the note has left. Passwords are in no error.
"""

import json
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from agentm_assets.capture.files import append_line
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.mail_table import MailTable
from agentm_assets.config.secrets_file import read_secrets
from agentm_assets.config.vault import VaultLocation

LOG: Final = "mail.jsonl"


class MailFailed(Exception):
    """The mail was not handed over; the text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    kind: str
    subtype: str
    data: bytes


def compose(
    table: MailTable,
    subject: str,
    text: str,
    now: datetime,
    attachments: Sequence[Attachment] = (),
) -> EmailMessage:
    """The note as plain text and as HTML. Raises MailFailed for a subject that is no header."""
    message = EmailMessage()
    sender = table.sender or table.to[0]
    try:
        message["Subject"] = subject
        message["From"] = sender
        message["To"] = ", ".join(table.to)
    except ValueError as error:
        raise MailFailed("the subject or an address holds a line break") from error
    message["Date"] = format_datetime(now)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no absence notices in answer
    message.set_content(text)
    message.add_alternative(_html(text), subtype="html")
    for each in attachments:
        message.add_attachment(
            each.data, maintype=each.kind, subtype=each.subtype, filename=each.name
        )
    return message


def send(table: MailTable, message: EmailMessage, password: str | None) -> None:
    """Hand it over. Raises MailFailed."""
    place = f"{table.host}:{table.at_port}"
    context = _trust(table)
    try:
        with _connected(table, context) as server:
            if table.user is not None:
                _log_in(server, table, password or "")
            server.send_message(message)
    except ssl.SSLCertVerificationError as error:
        raise MailFailed(
            f"the certificate of {place} can't be trusted ({error.verify_message}). Name the "
            "server as its certificate does, or give mail.ca_file"
        ) from None
    except smtplib.SMTPNotSupportedError:
        raise MailFailed(
            f"{place} offers no encryption, or no way to log in under it; nothing was sent"
        ) from None
    except smtplib.SMTPRecipientsRefused:
        raise MailFailed(f"{place} refused every address in mail.to") from None
    except smtplib.SMTPResponseException as error:
        raise MailFailed(f"{place} refused the mail (code {error.smtp_code})") from None
    except (smtplib.SMTPException, ssl.SSLError, socket.gaierror, OSError) as error:
        kind = type(error).__name__
        raise MailFailed(
            f"{place} can't be used for mail ({kind}). Check host, port and tls"
        ) from None


def find_password(env: Mapping[str, str], config_file: Path, table: MailTable) -> str | None:
    """The password of `user`; None where there is no user. Raises MailFailed."""
    if table.user is None:
        return None
    if env.get(table.key, "").strip():
        return env[table.key].strip()
    try:
        kept = read_secrets(config_file).get(table.key, "").strip()
    except ConfigError as error:
        raise MailFailed(str(error)) from None
    if not kept:
        raise MailFailed(f"there is no password: set {table.key}, or put it into secrets.toml")
    return kept


def was_sent(location: VaultLocation, date: str) -> bool:
    """Whether the note of that day went out from this machine. Raises OSError."""
    try:
        data = (location.log_dir / LOG).read_bytes()
    except FileNotFoundError:
        return False
    wanted = json.dumps({"note": date})[1:-1].encode()
    return any(wanted in line for line in data.split(b"\n"))


def enter_sent(location: VaultLocation, date: str, now: datetime) -> None:
    """Remember that it went out. Raises OSError."""
    at = now.isoformat(timespec="seconds")
    append_line(location.log_dir / LOG, json.dumps({"note": date, "at": at}))


def _connected(table: MailTable, context: ssl.SSLContext) -> smtplib.SMTP:
    if table.tls == "implicit":
        return smtplib.SMTP_SSL(
            table.host, table.at_port, timeout=table.timeout_seconds, context=context
        )
    server = smtplib.SMTP(table.host, table.at_port, timeout=table.timeout_seconds)
    try:
        server.starttls(context=context)  # raises where the server, or who sits between, has none
        server.ehlo()
    except BaseException:
        server.close()
        raise
    return server


def _log_in(server: smtplib.SMTP, table: MailTable, password: str) -> None:
    try:
        server.login(table.user or "", password)
    except (smtplib.SMTPAuthenticationError, smtplib.SMTPServerDisconnected):
        # Some say no, others hang up.
        raise MailFailed(
            f"{table.host}:{table.at_port} refused user and password. Correct mail.user or "
            f"{table.key}"
        ) from None


def _trust(table: MailTable) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if table.ca_file is not None:
        try:
            context.load_verify_locations(Path(table.ca_file).expanduser())
        except (OSError, ssl.SSLError) as error:
            raise MailFailed(f"mail.ca_file can't be read: {type(error).__name__}") from None
    return context


def _html(text: str) -> str:
    """Markup of the text alone: HTML that stands in it is shown, not obeyed."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(_without_block(text))
    return f"<!doctype html><html><head><style>{_STYLE}</style></head><body>{body}</body></html>"


def _without_block(text: str) -> str:
    if not text.startswith("---\n"):
        return text
    return text.partition("\n---\n")[2]


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;color:#1d2329;max-width:56em;margin:1em auto}"
    "table{border-collapse:collapse}td,th{border:1px solid #d9dde1;padding:3px 8px;text-align:left}"
    "code{font-size:90%;background:#f2f3f1;padding:0 3px}"
)
