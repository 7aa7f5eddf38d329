"""Placeholders: what they stand for comes back, and nothing that must not be sent is left."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentm_assets.privacy.scrub import invented, left, restore, scrub, scrub_together

KEY = "-----BEGIN PRIVATE KEY-----\n" + "Mm7x" * 16 + "\n"

_BITS = st.sampled_from(
    [
        "ines@kettle.example",
        "\u27e6email-1\u27e7",
        "\u27e6email-",
        "1\u27e7",
        "\u27e6",
        "\u27e7",
        "postgres://a:b",
        "@host.example",
        "password: hunter2x",
        "hunter2x",
        "PASSWORD=Xy7&k=9qL",
        "password: 'a b\\",
        "pass: ",
        "tel 0151 23456789, ",
        "AKIAIOSFODNN7ABCDEFG/" + "aB3" * 13 + "x",
        "+49 30 901820",
        "4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00",
        "AKIAIOSFODNN7EXAMPLE",
        KEY,
        "-----END PRIVATE KEY-----",
        "sk-ant-",
        " ",
        "\n",
        "\r\n",
        "\u0301",
        "\udc80",
    ]
)
_TEXTS = st.lists(st.one_of(_BITS, st.text(max_size=8)), max_size=12).map("".join)


@given(_TEXTS)
@example("\u27e6email-1\u27e7 ines@kettle.example")
@example("postgres://u:p@x.example@db.example/kettle")
def test_a_scrubbed_text_comes_back(text: str) -> None:
    scrubbed = scrub(text)
    assert restore(scrubbed.text, scrubbed) == text


@given(_TEXTS, _TEXTS)
def test_two_texts_under_one_numbering_come_back(first: str, second: str) -> None:
    for text, scrubbed in zip((first, second), scrub_together(first, second), strict=True):
        assert restore(scrubbed.text, scrubbed) == text


@given(_TEXTS)
def test_what_was_found_is_nowhere_in_what_is_sent(text: str) -> None:
    scrubbed = scrub(text)
    for placeholder, original in scrubbed.originals.items():
        if "ines@kettle.example" in original:
            assert placeholder in scrubbed.text
    assert "ines@kettle.example" not in scrubbed.text


def test_equal_originals_have_equal_placeholders() -> None:
    scrubbed = scrub("a@x.example, b@x.example, then a@x.example again")
    assert (
        scrubbed.text == "\u27e6email-1\u27e7, \u27e6email-2\u27e7, then \u27e6email-1\u27e7 again"
    )
    assert scrubbed.kinds == {"email": 3}


def test_a_secret_is_taken_out_where_nothing_gives_it_away_too() -> None:
    scrubbed = scrub('DB_PASSWORD=kettle-77!x\nLog in as ines, "kettle-77!x".')
    assert "kettle-77" not in scrubbed.text
    title, body = scrub_together("kettle-77!x again", "DB_PASSWORD=kettle-77!x")
    assert title.text == "\u27e6password-1\u27e7 again"
    assert body.text == "DB_PASSWORD=\u27e6password-1\u27e7"


def test_where_two_finds_overlap_both_are_covered() -> None:
    scrubbed = scrub("pwd=kk1:0049-30 901820 and on")
    assert scrubbed.text == "pwd=\u27e6phone-1\u27e7 and on"
    assert restore(scrubbed.text, scrubbed) == "pwd=kk1:0049-30 901820 and on"


def test_a_plain_word_is_a_password_only_where_it_is_one() -> None:
    text = "The postgres service listens at postgres://postgres:postgres@db/kettle."
    shown = text.replace(":postgres@", ":\u27e6password-1\u27e7@")
    assert scrub(text).text == shown


def test_a_text_that_looks_like_a_placeholder_stays_itself() -> None:
    text = "The form is \u27e6email-1\u27e7; mine is a@x.example."
    scrubbed = scrub(text)
    assert scrubbed.text.count("\u27e6email-1\u27e7") == 1
    assert scrubbed.originals["\u27e6email-1\u27e7"] == "a@x.example"
    assert restore(scrubbed.text, scrubbed) == text


def test_invented_placeholders_are_named() -> None:
    scrubbed = scrub("a@x.example")
    assert invented(
        "\u27e6email-1\u27e7 and \u27e6email-2\u27e7, \u27e6card-1\u27e7", scrubbed
    ) == (
        "\u27e6email-2\u27e7",
        "\u27e6card-1\u27e7",
    )


def test_host_and_user_of_an_address_stay() -> None:
    text = scrub("postgres://kettle:Zx9!kw2Q@db.acme.example:5432/kettle").text
    assert text == "postgres://kettle:\u27e6password-1\u27e7@db.acme.example:5432/kettle"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        KEY + KEY + "-----END PRIVATE KEY-----",
        "Mm7x" * 16 + "\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + "Mm7x" * 16,
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + "Mm7x" * 16,
        "PuTTY-User-Key-File-3: x\nPrivate-Lines: 4\n" + "Mm7x" * 16 + "\n",
    ],
)
def test_a_key_without_an_end_can_not_be_cut_out(text: str) -> None:
    assert left(text) == ("private-key",)


def test_a_whole_key_can_and_so_can_talk_of_one() -> None:
    assert left(KEY + "-----END PRIVATE KEY-----") == ()
    assert left("It starts with -----BEGIN PRIVATE KEY----- and a line of letters.") == ()


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "sk-",
        "a@",
        "a.b@",
        "+1 415 555 0132 ",
        "password: ",
        "password: a&",
        "\npassword",
        "pass phrase: ",
        'password: "\\',
        "secret AKIAIOSFODNN7ABCDEFG/",
        "key " + "aB3" * 13 + "x ",
        "tel 0151 23456789, ",
        "token=abc1def2ghi3jkl4 ",
        "-----BEGIN PRIVATE KEY-----\n",
        "DE89 ",
        "4111 1111 1111 1111 ",
        "://a:",
        "a" * 64,
        "1-",
        "Private-Lines: 3\n",
        "\u27e6email-1\u27e7",
        "xoxb-1-",
    ],
)
def test_time_grows_with_the_text_and_not_faster(
    piece: str, growth: Callable[[Callable[[], object], Callable[[], object], float], float]
) -> None:
    small, large = (piece * (size // len(piece)) for size in (30_000, 120_000))
    work = [lambda text=text: (scrub(text), left(text)) for text in (small, large)]
    assert growth(work[0], work[1], 0.01) < 8
