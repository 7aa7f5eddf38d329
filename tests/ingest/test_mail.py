"""What is read of a mail."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.ingest.mail import mails_in, read_mail


def mail(*headers: str, body: str = "We meet at noon at the old mill.") -> bytes:
    return "\r\n".join([*headers, "", body]).encode()


def test_quotations_and_signatures_are_not_the_senders_words() -> None:
    body = (
        "I agree to the plan.\n\n> Shall we burn the mill?\n\nOn Mon, 4 May 2026 at 18:12, Op "
        "<op@op.example> wrote:\nShall we burn the mill?\n"
    )
    assert read_mail(mail("From: a@x.example", body=body)).text == "I agree to the plan."
    signed = read_mail(mail("From: a@x.example", body="The plan stands.\n-- \nAna, mill owner\n"))
    assert signed.text == "The plan stands."


def test_headers_in_other_encodings_are_read(samples: Path) -> None:
    read = read_mail((samples / "mail/minutes.eml").read_bytes())
    assert read.sender == "J\xf6rg Weber <joerg@club.example>"
    assert read.subject == "Protokoll Juni"
    assert read.recipients == '"Lund, Kari" <kari@club.example>' or "Kari" in read.recipients
    assert read.sent == "2026-06-12T21:30:00Z"
    assert read.attached == ("minutes.pdf",)
    assert "the boat house is open" in read.text and "<p>" not in read.text


def test_mails_of_one_thread_are_told_apart_and_copies_are_not() -> None:
    first = read_mail(mail("From: a@x.example", "Message-ID: <1@x>", "Received: by one"))
    copy = read_mail(mail("Received: by two", "Message-ID: <1@x>", "From: a@x.example"))
    other = read_mail(mail("From: a@x.example", "Message-ID: <2@x>", body="No, at one o'clock."))
    assert (first.id, first.digest) == (copy.id, copy.digest)
    assert first.id != other.id and first.digest != other.digest


def test_a_mail_without_an_id_gets_one_of_its_content() -> None:
    ids = {read_mail(mail("From: a@x.example", body=body)).id for body in ("One.", "One.", "Two.")}
    assert len(ids) == 2 and all(each.startswith("sha256-") for each in ids)


@pytest.mark.parametrize(
    "header", ["Auto-Submitted: auto-replied", "Precedence: bulk", "Precedence: junk"]
)
def test_what_a_machine_sent_is_automatic(header: str) -> None:
    assert read_mail(mail("From: a@x.example", header)).is_automatic
    assert not read_mail(mail("From: a@x.example", "Auto-Submitted: no")).is_automatic
    assert not read_mail(mail("From: a@x.example", "Precedence: list")).is_automatic


def test_an_mbox_gives_each_mail_with_its_own_lines(samples: Path) -> None:
    data = list(mails_in(samples / "mail/archive.mbox"))
    read = [read_mail(each) for each in data if each is not None]
    assert [each.subject for each in read] == ["Mast of the dinghy", "ok", "Trailer"]
    assert "From there it has to be fetched by car." in read[0].text


@pytest.mark.parametrize(
    "header",
    [
        b"From: " + b"(" * 5_000,
        b"To: " + b", ".join(b"u%d <u%d@x.example>" % (at, at) for at in range(9_000)),
        b"Subject: " + b"=?utf-8?q?a?= " * 9_000,
        b"Content-Type: multipart/mixed; boundary=" + b'"' * 9_000,
    ],
    ids=["deep", "many", "words", "quotes"],
)
def test_headers_that_nobody_can_read_cost_only_themselves(header: bytes) -> None:
    read = read_mail(header + b"\nMessage-ID: <1@x.example>\n\nWe meet at noon.\n")
    assert read.id == "1@x.example"


def test_the_work_grows_with_a_header_and_not_faster(
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    def work(words: int) -> Callable[[], object]:
        data = b"Subject: " + b"=?utf-8?q?a?= " * words + b"\n\nWe meet at noon.\n"
        return lambda: read_mail(data)

    assert growth(work(3_000), work(12_000), 0.02) < 8


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=400), head=st.sampled_from([b"", b"From: =?x?q?=FF?=\r\n", b"Date: "])
)
def test_no_bytes_break_it(data: bytes, head: bytes) -> None:
    read = read_mail(head + data)
    assert read.id and len(read.digest) == 64
