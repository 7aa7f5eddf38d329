"""What counts as distinctive, and that a rewrite which loses any of it is refused."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentm_assets.enrichment.gates.distinctive import distinctive_tokens
from agentm_assets.enrichment.gates.haystack import Haystack
from agentm_assets.enrichment.gates.tokens import refuse_lost_tokens
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.subject import Subject

Note = Callable[..., Subject]


def rewritten(body: str | None, **changes: object) -> Judgment:
    fields = {
        "type": "reference",
        "altitude": "artifact",
        "memory_class": "semantic",
        "title": "Title",
        "slug": None,
        "tags": (),
        "aliases": (),
        "summary": None,
        "body": body,
        "confidence": 0.9,
    }
    return Judgment(**{**fields, **changes})  # type: ignore[arg-type]


def tokens(text: str) -> list[str]:
    return [f"{token.kind}: {token.text}" for token in distinctive_tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It uses `git push -f`.", ["code: git push -f"]),
        ("Two `a` and ``b ` c``.", ["code: a", "code: b ` c"]),
        ("See https://acme.example/a(b)?q=1#x.", ["url: https://acme.example/a(b)?q=1#x"]),
        ("(http://a.example/x)", ["url: http://a.example/x"]),
        ("on 2026-08-01, or 1 August 2026", ["date: 2026-08-01", "date: 1 August 2026"]),
        ("since March 2026 it holds", ["date: March 2026"]),
        ("at 2026-08-01T09:30:00Z sharp", ["date: 2026-08-01T09:30:00Z"]),
        ("the os.path module", ["identifier: os.path"]),
        ("set max_retries and userId", ["identifier: max_retries", "identifier: userId"]),
        ("on GitHub it is", ["identifier: GitHub"]),
        ("of KETTLE-17 and CVE-2026-1234", ["identifier: KETTLE-17", "identifier: CVE-2026-1234"]),
        ("in 3f2a9c1b it broke", ["identifier: 3f2a9c1b"]),
        (
            "id 550e8400-e29b-41d4-a716-446655440000",
            ["identifier: 550e8400-e29b-41d4-a716-446655440000"],
        ),
        ("it is 42 of 7", ["number: 42"]),
        ("it is 0.5 or 1,200", ["number: 0.5", "number: 1,200"]),
        ("v1.2.3 at 24GB in 45 s", ["number: 1.2.3", "number: 24", "number: 45"]),
        ("by Ines in Berlin", ["name: Ines", "name: Berlin"]),
        ("The API is up. HTTP too", ["name: API", "name: HTTP"]),
        ("those URLs too", ["name: URL"]),
        ("She met Ines's friend", ["name: Ines"]),
        # what is capitalised for another reason
        ("Water boils. Then it cools! Is it? Yes: Maybe.", []),
        ("- Water boils\n- [ ] Tea steeps\n1. Pour it\n> Quote this", []),
        ("| Column | Other |\n|---|---|\n| Water | Tea |", []),
        ('she said "Water boils" and I left', []),
        ("NOTE: it leaks. TODO later. WARNING", []),
        ("**Cause:** The seal", []),
        # a line of a paragraph goes on the sentence of the one above
        ("it was found by\nBerta in the lab", ["name: Berta"]),
        ("it was found.\nBerta left", []),
        # headings give no names and numbers, but what is code in them
        ("# Meeting With Berta 2026\n\ntext", []),
        ("Meeting Berta\n=====\n\ntext", []),
        ("## The `boil_timeout` of os.path\n\ntext", ["code: boil_timeout", "identifier: os.path"]),
        ("e.g. this, i.e. that", []),
        ("it ended.Then it began", []),
        # blocks of code give their names, options, addresses and numbers
        (
            "```sh\ncurl --fail boil_it 8080 # a Remark\n```",
            ["code: boil_it", "code: --fail", "number: 8080"],
        ),
        ("%% hidden Secret 42 %%", []),
    ],
)
def test_what_is_distinctive(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("It is `boil`.", "It is `Boil`."),
        ("Set max_retries.", "Set MAX_RETRIES."),
        ("Set max_retries.", "Set max_retries_total."),
        ("It is 42.", "It is 420."),
        ("It is 42.", "It is 4.42."),
        ("See https://a.example/x.", "See https://a.example/xy."),
        ("See https://a.example/x.", "See https://a.example."),
        ("By then Ines left.", "By then she left."),
        ("On 2026-08-01 it broke.", "On 2026-08-02 it broke."),
        ("Since 1 August 2026.", "Since August 2026."),
        ("The API fails.", "It fails."),
        ("Run:\n\n```\nmake boil_it --now\n```\n", "Run `make`."),
        ("Mail a@x.example.", "Mail b@x.example."),
        ("Key: AKIAIOSFODNN7EXAMPLE", "The key is known."),
    ],
)
def test_a_loss_is_refused(note: Note, text: str, body: str) -> None:
    refusal = refuse_lost_tokens(note(text), rewritten(body))
    assert refusal is not None
    assert (refusal.gate, refusal.code, refusal.remembered) == ("tokens", "tokens-lost", True)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("By then Ines's API was up.", "It was up by then: the api of INES."),
        ("On 1 August 2026 it broke.", "It broke on 2026-08-01."),
        ("Since August 2026.", "Since 2026-08."),
        ("On 01.08.2026.", "On August 1st, 2026."),
        ("In 45s.", "In 45 s."),
        ("Use v1.2.3.", "Use 1.2.3."),
        ("Those URLs.", "That URL."),
        ("It is `git  push`.", "It is `git\npush`."),
        ("Run `make`.", "```\nmake\n```"),
        ("Twenty of 20.", "Twenty."),
        ("Call the (WD).", "Call it WD."),
    ],
)
def test_another_form_of_the_same_is_no_loss(note: Note, text: str, body: str) -> None:
    assert refuse_lost_tokens(note(text), rewritten(body)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "The max_retries of Ines"},
        {"summary": "Ines set max_retries."},
        {"aliases": ("max_retries", "Ines")},
        {"tags": ("ines", "max_retries")},
    ],
)
def test_properties_keep_a_token_as_well_as_the_body(
    note: Note, changes: dict[str, object]
) -> None:
    subject = note("By then Ines had set max_retries.")
    assert refuse_lost_tokens(subject, rewritten("It was set.", **changes)) is None


def test_a_property_that_stays_keeps_a_token_and_one_that_is_replaced_does_not(note: Note) -> None:
    text = "By then Ines had set it."
    for key, passes in (("source", True), ("reviewer", True), ("title", False), ("summary", False)):
        subject = note(text, block=f"status: unfiled\n{key}: Ines")
        assert (refuse_lost_tokens(subject, rewritten("It was set.")) is None) == passes, key


def test_six_are_named_and_no_secret_is_among_them(note: Note) -> None:
    names = [f"name_{letter}" for letter in "abcdefgh"]
    subject = note(f"Mail a@x.example, password: hunter2x, {' '.join(names)}.")
    refusal = refuse_lost_tokens(subject, rewritten("Nothing."))
    assert refusal is not None
    assert refusal.detail == (
        "the answer loses \u27e6email-1\u27e7, \u27e6password-1\u27e7, "
        "name_a, name_b, name_c, name_d and more."
    )


def test_a_body_that_stays_loses_nothing(note: Note) -> None:
    assert refuse_lost_tokens(note(), rewritten(None)) is None


def test_a_re_enrichment_is_held_against_the_capture_not_the_last_rewrite(note: Note) -> None:
    subject = note("It was set.", source="By then Ines had set it.")
    assert refuse_lost_tokens(subject, rewritten("It was set.")) is not None


_PIECES = st.lists(
    st.sampled_from(
        [
            *("the", "kettle", "Ines", "API", "NOTE", "max_retries", "os.path", "userId"),
            *("`code span`", "`x`", "42", "0.5", "2026-08-01", "1 August 2026", "v1.2.3"),
            *("https://a.example/x", "- ", "# ", "> ", "\n", "\n\n", ". ", ", ", " ", "```\n"),
            *(
                "a@x.example",
                "password: hunter2x",
                "KETTLE-17",
                "%%",
                "$",
                "|",
                "(",
                ")",
                "é\u0301",
            ),
        ]
    ),
    max_size=30,
).map(" ".join)


@given(_PIECES)
@example("`x`.Ines")
@example("__init_subclass__ runs")
@example("It is _set_name_ or __set_name__ there")
def test_a_body_that_is_the_source_loses_nothing(text: str) -> None:
    hay = Haystack(text)
    assert [token for token in distinctive_tokens(text) if not hay.holds(token)] == []


@given(_PIECES, st.integers(0, 40))
@example("the ```\n the -  the ```\n", 0)
def test_no_token_may_be_cut_out(text: str, at: int) -> None:
    """The body without every occurrence of one of its tokens has lost that token."""
    found = [token for token in distinctive_tokens(text) if token.kind != "date"]
    if not found:
        return
    token = found[at % len(found)]
    if token.text.casefold() not in text.casefold():
        return  # its blanks were folded, so nothing would be cut out
    gone = text.casefold().replace(token.text.casefold(), "-")
    assert not Haystack(gone).holds(token) or token.text in {"20", "30"}


@pytest.mark.parametrize(
    "piece",
    [
        "Ines met Bo. ",
        "`a` ",
        "a_b.c ",
        "# A\n\n",
        "- X y\n",
        "2026-08-01 ",
        "a.",
        "1,",
        "x/y/",
        "A-",
    ],
)
def test_time_grows_with_the_text_and_not_faster(
    piece: str, growth: Callable[[Callable[[], object], Callable[[], object], float], float]
) -> None:
    small, large = (piece * (size // len(piece)) for size in (20_000, 80_000))
    work = [
        lambda text=text: [Haystack(text).holds(token) for token in distinctive_tokens(text)]
        for text in (small, large)
    ]
    assert growth(work[0], work[1], 0.01) < 8
