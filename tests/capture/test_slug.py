"""Names of new notes: any title gives one that every disk can hold and a person can read."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentm_assets.capture.slug import (
    MAX_BYTES,
    MAX_CHARACTERS,
    cut,
    slugify,
    with_suffix,
)

TITLES = st.text(st.characters(codec="utf-8"), max_size=200) | st.text(
    st.sampled_from(
        "a-b é\u0301\u094d\u0915क्षि한ᄀ\u1161\u11a8日本\u200d\u200c👩🏽‍🚀 .,'’/\\\0:\n"
    ),
    max_size=150,
)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Kettle restarts before the boil", "kettle-restarts-before-the-boil"),
        ("  Don't panic!  ", "dont-panic"),
        ("It’s fine (really): 50% off", "its-fine-really-50-off"),
        ("C++ und Größe – ÄÖÜ", "c-und-größe-äöü"),
        ("Cafe\u0301 & Thé", "café-thé"),
        ("snake_case and dotted.name", "snake-case-and-dotted-name"),
        ("日本語のメモ", "日本語のメモ"),
        ("Ключ от сарая", "ключ-от-сарая"),
        ("हिन्दी में नोट", "हिन्दी-में-नोट"),
        ("مِفتاح", "مِفتاح"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\Windows\\system32", "c-windows-system32"),
        (".hidden", "hidden"),
        ("İstanbul", "i\u0307stanbul"),
        ("CON", "note-con"),
        ("lpt1", "note-lpt1"),
        ("Storage rules", "note-storage-rules"),
        ("🚀🔥", "rocket-fire"),
        ("→", "rightwards-arrow"),
        ("?!…", ""),
        ("", ""),
    ],
)
def test_words_become_a_name(title: str, slug: str) -> None:
    assert slugify(title) == slug


def test_a_chinese_title_of_72_characters_keeps_what_180_bytes_hold() -> None:
    slug = slugify("水" * 72)
    assert slug == "水" * 60
    assert len(slug.encode()) == MAX_BYTES


def test_72_characters_are_the_limit_and_words_stay_whole_near_it() -> None:
    assert slugify("a" * 100) == "a" * MAX_CHARACTERS
    assert slugify(f"{'long ' * 13}word-that-is-cut") == "-".join(["long"] * 13) + "-word"


@pytest.mark.parametrize("before", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("grapheme", ["e\u0323\u0308", "क्षि", "\u1112\u1161\u11ab", "한\u11a8"])
def test_no_grapheme_is_cut(grapheme: str, before: str) -> None:
    # Each is one grapheme of several characters; with some of the prefixes the limit falls inside.
    slug = cut(before + grapheme * 80, MAX_CHARACTERS, MAX_BYTES)
    room = min(
        (MAX_CHARACTERS - len(before)) // len(grapheme),
        (MAX_BYTES - len(before)) // len(grapheme.encode()),
    )
    assert slug == before + grapheme * room


def test_decoration_without_end_is_bounded() -> None:
    slug = slugify("z" + "\u0300\u0301\u0302" * 2_000 + "algo")
    assert slug.endswith("algo")
    assert len(slug) <= MAX_CHARACTERS


def test_one_grapheme_over_the_limit_is_still_a_name() -> None:
    slug = slugify("क्" * 300 + "क")
    assert slug
    assert len(slug.encode()) <= MAX_BYTES


@given(TITLES)
@settings(max_examples=600, deadline=None)
@example("\u200d")
@example("ﬃ" * 80)
@example("ΑΣ" * 60)
def test_any_title_gives_a_name_within_the_limits(title: str) -> None:
    slug = slugify(title)
    assert len(slug) <= MAX_CHARACTERS
    assert len(slug.encode()) <= MAX_BYTES
    assert slug == unicodedata.normalize("NFC", slug)
    assert slug == slug.strip("-. ")
    assert not set(slug) & set('/\\:*?"<>|\0\n. #^[]')
    assert "--" not in slug
    assert all(unicodedata.category(c)[0] in "LNM" or c in "-\u200c\u200d" for c in slug)
    if slug:
        assert unicodedata.category(slug[0])[0] in "LN"
        longer = with_suffix(slug, "20")
        assert longer.endswith("-20")
        assert len(longer) <= MAX_CHARACTERS
        assert len(longer.encode()) <= MAX_BYTES


@given(TITLES)
@settings(max_examples=200, deadline=None)
def test_a_name_gives_itself(title: str) -> None:
    slug = slugify(title)
    assert slugify(slug) in (slug, f"note-{slug}")
