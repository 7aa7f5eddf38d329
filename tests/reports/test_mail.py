"""Mail over TLS or not at all, against servers with a certificate of their own making."""

import datetime as clock
import os
import socket
import ssl
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.mail_table import MailTable
from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.scratch import build_index
from agentm_assets.reports.mail import MailFailed, compose, find_password, send
from agentm_assets.reports.publish import report_morning
from agentm_assets.storage.seam import StorageBackend

PASSWORD = "kettle-and-spout"
NOTE = "---\nkind: telemetry\n---\n\n# Morning note\n\n.\n\n| a | b |\n| --- | --- |\n| <b> | 1 |\n"


class Inbox:
    """Keeps what a server was handed."""

    def __init__(self) -> None:
        self.got: list[tuple[list[str], bytes]] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.got.append((list(envelope.rcpt_tos), bytes(envelope.content)))
        return "250 OK"

    def received(self) -> EmailMessage:
        ((_to, content),) = self.got
        parsed = BytesParser(policy=default).parsebytes(content)
        assert isinstance(parsed, EmailMessage)
        return parsed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of our own for localhost, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = clock.datetime.now(clock.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - clock.timedelta(days=1))
        .not_valid_after(now + clock.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "own.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


Start = Callable[..., tuple[Inbox, MailTable]]


@pytest.fixture
def server(certificate: Path) -> Iterator[Start]:
    """`server(tls)` starts one: "starttls", "implicit" or "none" (offers no encryption)."""
    running: list[Controller] = []

    def start(tls: str = "starttls", **more: Any) -> tuple[Inbox, MailTable]:
        inbox = Inbox()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)

        def authenticator(
            _server: Any, _session: Any, _envelope: Any, _how: Any, data: Any
        ) -> AuthResult:
            return AuthResult(success=data.password == PASSWORD.encode())

        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        options: dict[str, Any] = {
            "hostname": "localhost",
            "port": port,
            "authenticator": authenticator,
        }
        if tls == "starttls":
            options |= {"tls_context": context, "require_starttls": True}
        elif tls == "implicit":
            options |= {"ssl_context": context, "auth_require_tls": False}
        controller = Controller(inbox, **options)
        controller.start()
        running.append(controller)
        given = {
            "host": "localhost", "port": port, "to": ("op@example.org",),
            "ca_file": str(certificate), "timeout_seconds": 10.0,
            "tls": "implicit" if tls == "implicit" else "starttls",
        }  # fmt: skip
        return inbox, MailTable(**{**given, **more})

    yield start
    for controller in running:
        controller.stop()


def message(table: MailTable) -> EmailMessage:
    at = clock.datetime(2026, 8, 14, 5, 40, tzinfo=clock.UTC)
    return compose(table, "agentm morning note", NOTE, at)


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
@pytest.mark.parametrize("user", [None, "op"])
def test_mail_is_handed_over_encrypted(server: Start, tls: str, user: str | None) -> None:
    inbox, table = server(tls, user=user)
    send(table, message(table), PASSWORD if user else None)
    assert inbox.got[0][0] == ["op@example.org"]
    assert inbox.received()["Subject"] == "agentm morning note"
    plain, html = inbox.received().get_body(("plain",)), inbox.received().get_body(("html",))
    assert plain is not None
    assert html is not None
    assert "\n.\n" in plain.get_content().replace("\r\n", "\n"), "a lone dot ends no mail"
    shown = html.get_content()
    assert "<table>" in shown
    assert "&lt;b&gt;" in shown
    assert "kind: telemetry" not in shown


def test_a_server_without_encryption_gets_nothing(server: Start) -> None:
    inbox, table = server("none", user="op")
    with pytest.raises(MailFailed, match="offers no encryption") as failed:
        send(table, message(table), PASSWORD)
    assert not inbox.got
    assert PASSWORD not in str(failed.value)


def test_a_certificate_that_nobody_vouches_for_ends_it(server: Start) -> None:
    for tls in ("starttls", "implicit"):
        inbox, table = server(tls, ca_file=None)
        with pytest.raises(MailFailed, match="can't be trusted"):
            send(table, message(table), None)
        assert not inbox.got


def test_a_certificate_of_another_name_ends_it(server: Start) -> None:
    inbox, table = server("starttls", host="127.0.0.1")
    with pytest.raises(MailFailed, match="can't be trusted"):
        send(table, message(table), None)
    assert not inbox.got


def test_a_wrong_password_is_said_and_not_shown(server: Start) -> None:
    inbox, table = server("starttls", user="op")
    with pytest.raises(MailFailed, match="refused user and password") as failed:
        send(table, message(table), "another-secret")
    assert "another-secret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert not inbox.got


def test_nobody_there_is_said(server: Start) -> None:
    _inbox, table = server()
    gone = table.model_copy(update={"port": 1})
    with pytest.raises(MailFailed, match="can't be used for mail"):
        send(gone, message(gone), None)


def test_no_header_is_put_in_by_a_subject(server: Start) -> None:
    _inbox, table = server()
    with pytest.raises(MailFailed, match="line break"):
        compose(table, "x\r\nBcc: other@example.org", NOTE, clock.datetime.now(clock.UTC))


@pytest.mark.parametrize(
    "mail",
    ['host = "smtp.example.org"', 'to = ["me@example.org"]',
     'host = "a b"\nto = ["me@example.org"]',
     'host = "a"\nto = ["Me <me@example.org>"]',
     'host = "a"\nto = ["me@example.org\\nBcc: x@y.org"]',
     'host = "a"\nto = ["me@example.org"]\ntls = "none"', 'host = "smtp://u:p@h"\nto = ["m@e.org"]',
     'host = "a"\nto = ["me@example.org"]\npassword = "x"'],
)  # fmt: skip
def test_what_is_no_safe_mail_configuration_is_refused(
    vault: Path, tmp_path: Path, mail: str
) -> None:
    file = tmp_path / "config/agentm/agentm.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f"[profiles.default.mail]\n{mail}\n")
    with pytest.raises(ConfigError) as refused:
        Settings.load(os.environ)
    assert "u:p" not in str(refused.value)


def test_the_password_comes_from_the_environment_or_the_secrets(tmp_path: Path) -> None:
    config, table = tmp_path / "agentm.toml", MailTable(host="h", to=("m@e.org",), user="u")
    with pytest.raises(MailFailed, match="AGENTM_SMTP_PASSWORD"):
        find_password({}, config, table)
    assert find_password({"AGENTM_SMTP_PASSWORD": " x "}, config, table) == "x"
    secrets = tmp_path / "secrets.toml"
    secrets.write_text('AGENTM_SMTP_PASSWORD = "y"\n')
    secrets.chmod(0o600)
    assert find_password({}, config, table) == "y"
    secrets.chmod(0o644)
    with pytest.raises(MailFailed, match="chmod 600"):
        find_password({}, config, table)
    assert find_password({}, config, MailTable(host="h", to=("m@e.org",))) is None


def test_the_note_is_mailed_once_a_day_with_the_graph(
    notes: None, backend: StorageBackend, server: Start, now: clock.datetime
) -> None:
    inbox, table = server()
    settings = Settings.load(os.environ).model_copy(update={"mail": table})
    build_index(settings, os.environ, None)
    from agentm_assets.reports.publish import report_graph

    report_graph(settings, backend, os.environ, now)
    done = report_morning(settings, backend, os.environ, now, with_mail=True)
    assert done.mailed == "sent to 1"
    body = inbox.received().get_body(("plain",))
    assert body is not None
    assert "## What needs you" in body.get_content()
    assert "agentm:report" not in body.get_content()
    names = {part.get_filename() for part in inbox.received().iter_attachments()}
    assert names == {"latest_memory_graph.svg", "latest_memory_graph.html"}
    again = report_morning(settings, backend, os.environ, now, with_mail=True)
    assert again.mailed == "sent before"
    assert len(inbox.got) == 1


def test_a_failed_mail_is_said_and_tried_again_and_none_is_quiet(
    vault: Path, notes: None, backend: StorageBackend, server: Start, now: clock.datetime
) -> None:
    inbox, table = server()
    settings = Settings.load(os.environ)
    build_index(settings, os.environ, None)
    assert report_morning(settings, backend, os.environ, now, with_mail=True).mailed is None
    gone = settings.model_copy(update={"mail": table.model_copy(update={"port": 1})})
    done = report_morning(gone, backend, os.environ, now, with_mail=True)
    assert (done.mailed or "").startswith("not sent:")
    assert (vault / "Agent/diagnostics/morning/2026-08-14.md").exists(), "the note is the report"
    right = settings.model_copy(update={"mail": table})
    report_morning(right, backend, os.environ, now, with_mail=True)
    assert len(inbox.got) == 1
