from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.lexical_terms import (
    _RUNS,
    characters,
    compounds,
    identifiers,
    lone_characters,
    normal,
    parts,
    text_terms,
    words,
    words_analyzer,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running the Queries", ["run", "the", "queri"]),
        ("Größe, Œuvre, naïve", ["gross", "oeuvr", "naiv"]),
        ("gin_trgm_ops SQLITE_TMPDIR", ["gin_trgm_op", "sqlite_tmpdir"]),
        ("python3.13t py-bt", ["python3", "13t", "py", "bt"]),
        ("Docker入門です", ["docker", "入門", "門で", "です"]),
        ("ＦＵＬＬ width ﬁle", ["full", "width", "file"]),
        ("x" * 201 + " y", ["y"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]):
    assert words(normal(text)) == expected


MIXED = st.text(
    "aBz_19 %[(!`.:/@+#-\u00e9\u0301\u0434\u05d0\u200d\u203f\x1c\x1f\x85\u2028\u3000\n\t"
)


@given(MIXED, st.lists(MIXED))
def test_what_is_looked_up_between_blanks_is_what_the_whole_text_gives(text: str, more: list[str]):
    text = normal(" ".join([text, *more]))
    assert words(text) == list(words_analyzer().analyze(text))
    found = text_terms(text)
    assert set(found.identifiers.split()) == set(identifiers(text))
    assert set(found.parts.split()) == set(words(" ".join(parts(text))))
    assert set(found.characters.split()) == set(characters(text))


def test_remembered_runs_are_forgotten_when_they_fill_their_room():
    for number in range(0, 40):
        words(f"{number}" * 500_000)
    assert sum(map(len, _RUNS)) <= 8_000_000
    assert words("still found") == ["still", "found"]


def test_composed_and_decomposed_spellings_are_one_word():
    assert words(normal("cafe\u0301 u\u0308ber")) == words(normal("caf\u00e9 \u00fcber"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is python3.13t?", ["python3.13t", "3.13"]),
        ("a py-bt backtrace, --no-cache.", ["py-bt", "no-cache"]),
        ("C++ and C# but not C", ["c++", "c#"]),
        ("see Owner/Repo#12.", ["owner/repo#12", "repo#12"]),
        ("https://a.example/b-c/d", ["https://a.example/b-c/d", "a.example", "b-c"]),
        ("due 2026-11-30 12:45", ["2026-11-30", "12:45"]),
        ("std::vector v1.2.3", ["std::vector", "v1.2.3", "1.2.3"]),
        (r"C:\Temp\a.txt, C:\\Temp", ["c:/temp/a.txt", "a.txt", "c:/temp"]),
        ("plain words, (brackets) and under_scores", []),
        ("Dockerの py-bt を", ["py-bt"]),
    ],
)
def test_identifiers_are_kept_whole_and_by_step(text: str, expected: list[str]):
    assert list(identifiers(normal(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gin_trgm_ops", ["gin", "trgm", "ops"]),
        ("SQLITE_TMPDIR", ["SQLITE", "TMPDIR"]),
        ("getHTTPResponse", ["get", "HTTP", "Response"]),
        ("python3 13t", ["python", "3", "13", "t"]),
        ("größe_max", ["größe", "max"]),
        ("Plain words HERE 2026", []),
    ],
)
def test_parts(text: str, expected: list[str]):
    assert list(parts(normal(text))) == expected


def test_scripts_without_blanks_are_cut_into_pairs():
    assert words("起動する x 猫") == ["x", "起動", "動す", "する"]
    assert words(normal("ﾊﾝｶｸ")) == ["ハン", "ンカ", "カク"]
    assert list(characters("起動 x 猫")) == ["起", "動", "猫"]
    assert list(lone_characters("起動 x 猫")) == ["猫"]
    for text in ("ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "한국어", "မြန်မာ", "々〆"):
        assert len(words(text)) == len(text) - 1
    assert list(characters("plain, größe, русский, עברית, ・")) == []


@pytest.mark.parametrize(
    ("text", "held", "asked"),
    [
        ("a % b and `[[` or (x)", ["%", "[["], ["%", "[["]),
        ("is it - or not ?", ["-", "?"], []),
        ("?", ["?"], ["?"]),
        (
            "done \u2705\ufe0f, \U0001f44d\U0001f3fd!",
            ["\u2705", "\U0001f44d"],
            ["\u2705", "\U0001f44d"],
        ),
        ("\U0001f1e9\U0001f1ea", ["\U0001f1e9\U0001f1ea"], ["\U0001f1e9\U0001f1ea"]),
    ],
)
def test_emoji_and_signs_are_looked_for(text: str, held: list[str], asked: list[str]):
    assert list(characters(normal(text))) == held
    assert list(lone_characters(normal(text))) == asked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
            "\u05e9\u05dc\u05d5\u05dd",
        ),  # Hebrew with points
        ("\u0643\u0650\u062a\u064e\u0627\u0628", "\u0643\u062a\u0627\u0628"),  # Arabic with vowels
        ("\u0623\u062d\u0645\u062f", "\u0627\u062d\u0645\u062f"),  # alef with hamza
        ("\u06a9\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628"),  # Persian keheh
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u064a\u062e\u0648\u0627\u0647\u0645",
        ),
        ("\u200f\u0643\u062a\u0627\u0628\u200e", "\u0643\u062a\u0627\u0628"),  # marks of direction
        ("Z\u00fcrich caf\u00e9", "Zurich cafe"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_spellings_of_a_word_are_one_term(one: str, other: str):
    assert words(normal(one)) == words(normal(other))


@given(st.text())
def test_every_text_has_terms_that_can_be_stored(text: str):
    text = normal(text)
    assert normal(text) == text
    for term in (*words(text), *identifiers(text), *parts(text), *characters(text)):
        term.encode("utf-8")


def test_lone_surrogates_are_replaced():
    assert words(normal("caf\udce9 bar")) == ["caf", "bar"]


SHAPES = ["a", "a-", "aA", "_", "A", "a_", "+", "a/", "-", "é", "1a", "入", "入a", "a.b:", "\u0301"]


@pytest.mark.parametrize("shape", SHAPES)
def test_terms_cost_linear_time(shape: str, growth: Callable[..., float]):
    def work(text: str) -> None:
        for find in (words, identifiers, parts, characters):
            sum(1 for _ in find(normal(text)))

    assert growth(lambda: work(shape * 20_000), lambda: work(shape * 80_000), 0.01) < 8


def test_compounds_are_words_of_two_names_or_more():
    parts = frozenset({"boil", "detect", "c"})
    assert compounds("set boilDetectC, boil_detect_c and python3 v2 of_ plain " + "aB" * 150) == {
        "boildetectc": parts,
        "boil_detect_c": parts,
    }
