"""What counts as a statement of the operator."""

from collections.abc import Callable

import pytest

from agentm_assets.ingest.key_sentences import key_sentences
from agentm_assets.ingest.masking import masked, plain
from agentm_assets.ingest.prose import paragraphs, running, sentences, shortened
from agentm_assets.ingest.statements import MOST_CHARACTERS, statements

Growth = Callable[[Callable[[], object], Callable[[], object], float], float]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I prefer tabs over spaces in Makefiles.", "preference"),
        ("I don\u2019t want mocks of the database in tests.", "preference"),
        ("From now on commits carry the ticket number.", "convention"),
        ("We decided to keep Postgres 16 until spring.", "convention"),
        ("Let's go with the smaller motor for the lid.", "convention"),
        ("Never push to main without a review.", "convention"),
        ("Please always run the linter before you commit.", "convention"),
        ("Use ripgrep instead of grep in scripts.", "convention"),
        ("No, the port is 8443 and not 443.", "convention"),
        ("Remember that the backup disk is called vault-b.", "reference"),
        ("Wir nutzen ab jetzt nur noch ISO-Daten.", "convention"),
    ],
)
def test_it_lays_something_down(said: str, kind: str) -> None:
    (found,) = statements(said)
    assert (found.text, found.type) == (said, kind)


@pytest.mark.parametrize(
    "said",
    [
        "Please fix the failing test in the parser.",
        "Why does it never stop after the third file?",
        "It always fails with error 500 on Mondays.",
        "Should we always use UTC here?",
        "No, thanks.",
        "yes go on",
        "```\n# always use sudo here, never run it as root\n```",
        "> We decided to use the old pump.\n\nWhat do you think of that?",
        "| we never | use tables |\n",
    ],
)
def test_it_lays_nothing_down(said: str) -> None:
    assert statements(said) == []


def test_the_reason_that_follows_comes_along_and_the_rest_does_not() -> None:
    said = (
        "The build is red again. We always pin the compiler. It broke twice this year. Have a "
        "look at the log now, and tell me what you see.\n\nThanks!"
    )
    (found,) = statements(said)
    assert found.text == "We always pin the compiler. It broke twice this year."


def test_a_long_paragraph_is_cut_to_what_lays_something_down() -> None:
    filler = "The weather was good and nothing of note happened on that day. " * 20
    said = f"From now on we weigh at noon. {filler}We never weigh in the rain. {filler}"
    (found,) = statements(said)
    assert "weigh at noon" in found.text and len(found.text) <= MOST_CHARACTERS


def test_a_sentence_that_is_cut_short_lays_nothing_down() -> None:
    """Half of a secret may stand at its end."""
    before = "It was dry. " * (4 * MOST_CHARACTERS // 12)
    said = f"{before[: 4 * MOST_CHARACTERS - 24]}We never share the gate code that is 4471."
    assert statements(said) == []
    assert len(statements(said[200:])) == 1


def test_lists_give_a_statement_an_item() -> None:
    said = "Some rules:\n\n- never commit secrets to the repo\n- always run make check first\n"
    assert [each.text for each in statements(said)] == [
        "never commit secrets to the repo",
        "always run make check first",
    ]


def test_sentences_end_where_they_end() -> None:
    text = "See e.g. the README. It has v2.1 in it! Dr. Lund wrote it. \u201cGood,\u201d she said."
    assert sentences(text) == [
        "See e.g. the README.",
        "It has v2.1 in it!",
        "Dr. Lund wrote it.",
        "\u201cGood,\u201d she said.",
    ]
    assert running(["One two.", "an item", "Three."]) == "One two. an item\nThree."
    assert shortened("one two  three four", 12) == "one two\u2026"


def test_key_sentences_are_the_texts_own_in_their_order() -> None:
    text = "\n\n".join(
        [
            "The dam was inspected on 3 May and the dam wall is sound.",
            "Lunch was served in the garden behind the house.",
            "The dam gate must be greased because the dam gate hinge squeaks.",
            "Somebody took a photo of a heron by the water.",
        ]
    )
    assert key_sentences(text, 130, count=2) == [
        "The dam was inspected on 3 May and the dam wall is sound.",
        "The dam gate must be greased because the dam gate hinge squeaks.",
    ]
    assert len(key_sentences(text, 10_000)) == 4
    assert key_sentences("", 100) == key_sentences("```\ncode\n```", 100) == []


def test_a_secret_of_another_place_in_the_source_is_masked_where_it_stands_bare() -> None:
    (text,) = masked(["Log in with Zx81-Qwerty!9 at noon."], "password = Zx81-Qwerty!9")
    assert "Zx81" not in text and "[masked password]" in text
    assert masked(["Mail ana@x.example or \u27e6email-1\u27e7."]) == [
        "Mail ana@x.example or \u27e6email-1\u27e7."
    ]
    broken = "-----BEGIN RSA PRIVATE KEY-----\n" + f"{'MIIEowIBAAKCAQEA' * 4}\n" * 3
    assert masked([broken, "fine"]) == ["", "fine"]


def test_lively_marks_are_made_plain() -> None:
    text = plain("[[note]] ![[pic]] <!-- x --> %%hidden%% [[[a]]] \0")
    for mark in ("[[", "<!--", "%%", "\0"):
        assert mark not in text
    assert plain(plain("[[a]] %% <!--")) == plain("[[a]] %% <!--")


@pytest.mark.parametrize(
    "unit", ["We always do it. ", "- always do\n", "* ", "[[", "%%", ". A", "use x "]
)
def test_the_work_grows_with_the_text_and_not_faster(growth: Growth, unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: (
            list(paragraphs(text)),
            sentences(text),
            statements(text),
            key_sentences(text, 1_000),
            plain(text),
        )

    assert growth(work(50_000), work(200_000), 0.02) < 8
