"""What the judge writes: nothing that the note or the vault does not have."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.enrichment.extractive.judge import STAMP, ExtractiveJudge
from agentm_assets.enrichment.extractive.titles import is_meaningless
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary
from agentm_assets.enrichment.judgment import MOST_ALIASES, MOST_TAGS
from agentm_assets.enrichment.subject import Subject

LONG = (
    "# Valves\n\n"
    "The valve of the [left tank](https://example.org/tank) sticks in cold weather. "
    "It was made by Alder & Sons, who closed in 2019.\n\n"
    "A valve that sticks is opened with the long key, never by force, because the thread of the"
    " valve is brass. Spare threads lie in drawer `B-7` of the shed.\n\n"
    "```\nvalve open --slow\n```\n\n"
    "- Valve of the tank: the valve that sticks is the valve of the left tank.\n\n"
    "The gardener checks every valve in October! He writes the date on the lid with chalk."
    " Nobody else needs to touch them before the frost is over, and the tank stays half full.\n\n"
    "In spring the lids are washed. The rubber rings dry out after some four years and are sold"
    " by the metre at the market in Graz, where they cost about three euros."
    " A ring that is dry must not be stretched.\n"
)


def test_stamp_and_kind(judge: ExtractiveJudge) -> None:
    assert judge.stamp == STAMP == "extractive-1"
    assert judge.is_generative is False


def test_the_body_stays(judge: ExtractiveJudge, subject: Callable[..., Subject]) -> None:
    assert judge.judge(subject("Valves", LONG)).body is None


def test_a_summary_is_sentences_of_the_note(
    judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    summary = judge.judge(subject("Valves", LONG)).summary
    assert summary is not None
    assert len(summary) <= 300
    shown = " ".join(LONG.replace("[left tank](https://example.org/tank)", "left tank").split())
    for sentence in summary.replace("! ", "!|").replace(". ", ".|").split("|"):
        assert sentence in shown
    assert "valve" in summary.lower()
    assert "valve open" not in summary
    assert "Valve of the tank:" not in summary


@pytest.mark.parametrize(
    "text",
    [
        "One short paragraph. It says all.",
        "One long paragraph of words and of more words. " * 60,
        "",
        "```\nx\n```",
    ],
)
def test_no_summary_of_one_paragraph(
    text: str, judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    assert judge.judge(subject("Valves", text)).summary is None


def test_a_title_that_says_something_stays(
    judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    judgment = judge.judge(subject("Left tank", LONG))
    assert (judgment.title, judgment.slug) == ("Left tank", None)


@pytest.mark.parametrize("title", ["", "untitled", "Untitled-3", "New note (2)", "2024-03-01", "?"])
def test_a_title_that_says_nothing_is_replaced(
    title: str, judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    judgment = judge.judge(subject(title, LONG))
    assert (judgment.title, judgment.slug) == ("Valves", "valves")


@pytest.mark.parametrize(
    ("text", "title", "slug"),
    [
        ("## Draft\n\n## The left tank\n\nIt leaks.", "The left tank", "the-left-tank"),
        ("\n- **The tank leaks at night.** Twice.", "The tank leaks at night", None),
        ("```\ncode\n```\nThe tank leaks; a lot.", "The tank leaks", "the-tank-leaks"),
        (
            "\u6c34\u69fd\u304c\u6f0f\u308c\u308b\u3002\u591c\u3060\u3051\u3002",
            "水槽が漏れる",
            None,
        ),
        ("```\nonly code\n```", "untitled", None),
        ("The tank \udcff leaks. Now.", "The tank \ufffd leaks", "the-tank-leaks"),
        ("word " * 100, "word " * 19 + "word", None),
    ],
)
def test_where_a_new_title_comes_from(
    text: str,
    title: str,
    slug: str | None,
    judge: ExtractiveJudge,
    subject: Callable[..., Subject],
) -> None:
    judgment = judge.judge(subject("untitled", text))
    assert judgment.title == title
    assert slug is None or judgment.slug == slug


def test_titles_that_mean_something() -> None:
    for title in ("Notes on tanks", "Untitled goose", "v2 API", "Q3", "Öl", "会"):
        assert not is_meaningless(title)


def test_tags_come_from_the_vault_alone(
    judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    note = subject("Valves of the left tank", LONG, tags=("garden",))
    assert judge.judge(note).tags == ()
    vocabulary = Vocabulary(
        tags=("Garden", "valves", "area/tank", "chalk", "graz", "wine"),
        names=("acme/valve", "kettle"),
    )
    assert judge.judge(note, vocabulary).tags == ("area/tank", "valves", "valve")


def test_a_tag_of_two_words_and_the_limit(
    judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    note = subject("The home office", "text", tags=("one",))
    assert judge.judge(note, Vocabulary(("home", "home-office"))).tags == ("home-office",)
    many = tuple(f"tag{at}" for at in range(20))
    tags = judge.judge(subject(" ".join(many), "text", tags=("one",)), Vocabulary(many)).tags
    assert tags == many[: MOST_TAGS - 1]


def test_aliases_are_acronyms_with_their_terms_and_never_what_a_note_mentions(
    judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    text = "The write-ahead log (WAL) is set by `journal_mode`. See `self.client`, `bit.ly` too."
    aliases = judge.judge(subject("getHTTPResponse", text, aliases=("wal",))).aliases
    assert aliases == ("write-ahead log",), "[[client]] and [[bit]] would lead here"
    both = judge.judge(subject("FTS (full text search)", text)).aliases
    assert both == ("full text search", "FTS", "write-ahead log", "WAL")
    assert judge.judge(subject("Soup", "Plain prose about soup.")).aliases == ()


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60),
    st.text(alphabet=st.characters(codec=None), max_size=400)
    | st.lists(st.sampled_from(LONG.split(" ")), max_size=150).map(" ".join),
)
def test_any_note_gives_a_whole_judgment(
    by_words: ExtractiveJudge, subject: Callable[..., Subject], title: str, text: str
) -> None:
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    vocabulary = Vocabulary(("valves", "tank", "graz"), ("acme/lid",))
    judgment = by_words.judge(subject(title, text), vocabulary)
    assert 0 <= judgment.confidence <= 1
    assert set(judgment.tags) <= {"valves", "tank", "graz", "lid"}
    assert len(judgment.aliases) <= MOST_ALIASES
    assert (judgment.slug is None) or judgment.title != title
    if judgment.title != title:
        judgment.title.encode()  # storable
    if judgment.summary is not None:
        judgment.summary.encode()
        assert len(judgment.summary) <= 300
