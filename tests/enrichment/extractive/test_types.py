"""Which type and altitude the judge gives, and how sure it says it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.rules import LoadedRules, default_rules_text, parse_rules
from agentm_assets.enrichment.extractive.confidence import (
    READABLE_ENGLISH,
    UNREADABLE_MOST,
    confidence_of,
)
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.subject import Subject
from agentm_assets.models.embedder import Embedder

# Written after the coefficients were fitted: they took no part in it.
UNSEEN = [
    ("preference", "Notebook", "Likes squared paper better than lined; hates spirals."),
    (
        "preference",
        "Music while working",
        "I prefer music without words when I concentrate. I really like film scores.",
    ),
    (
        "convention",
        "Error codes",
        "Error codes must be stable: we never renumber them, because callers match on them.",
    ),
    (
        "convention",
        "Pull requests",
        "We decided that pull requests stay under 400 lines. Larger ones should be split before"
        " review.",
    ),
    (
        "reference",
        "Cron fields",
        "A cron line has five fields: minute, hour, day of month, month and day of week."
        " `*/5` means every fifth.",
    ),
    (
        "reference",
        "Bakery",
        "The bakery is at Kirchgasse 4 and opens at 6. It belongs to Mrs. Huber.",
    ),
    (
        "workflow",
        "Migrating the wiki",
        "1. Export the pages.\n2. Run `convert.py` over the folder.\n3. Check ten pages by eye.\n"
        "4. Import them and redirect the old address.",
    ),
    (
        "workflow",
        "Closing the month",
        "First reconcile the bank account, then post the accruals. Finally lock the period and"
        " send the report.",
    ),
    (
        "fix",
        "Broken images",
        "Images were broken after the move. The problem was a relative path; an absolute one"
        " fixed it.",
    ),
    (
        "fix",
        "Crash at start",
        "The app crashed at start with `KeyError: 'theme'`. The settings file was corrupt;"
        " deleting it resolved the crash.",
    ),
    (
        "idea",
        "Weekly digest",
        "What if we sent a weekly digest? Maybe people would read it more than the feed.",
    ),
    ("idea", "Bike", "Thinking about a cargo bike; might try one next month before deciding."),
]

RECIPES = [
    (
        "Tomato soup",
        "Fry two onions in butter, add a kilo of tomatoes and half a litre of stock. Simmer for 30"
        " minutes, puree, salt. Serves four.",
    ),
    (
        "Apple cake",
        "200 g flour, 100 g butter, 3 eggs, 4 apples. Bake in the oven at 180 degrees for 45"
        " minutes. The dough needs no rest.",
    ),
    (
        "Dal",
        "Ingredients: red lentils, garlic, turmeric, coconut milk. Simmer the lentils, fry the"
        " spices, mix.",
    ),
]

RECIPE_DEFINITION = """### recipe

A dish and how it is cooked: the ingredients with their amounts, the oven's heat, how long it bakes
or simmers, how many it serves. "Lentil soup: fry onions, add lentils and stock, simmer."

### Telling them apart"""


@pytest.fixture(scope="module")
def seven_types() -> LoadedRules:
    """The shipped rules and a type that the operator added to them."""
    text = default_rules_text().decode()
    for old, new in (
        ("### Telling them apart", RECIPE_DEFINITION),
        ("fix, idea]", "fix, idea, recipe]"),
        ("  idea: semantic\n", "  idea: semantic\n  recipe: procedural\n"),
        (
            "warrants: {}",
            "warrants:\n  recipe:\n    query_class: what to cook\n    nearest: workflow\n"
            "    why_not: it is looked up by its ingredients",
        ),
    ):
        assert old in text
        text = text.replace(old, new)
    return parse_rules(text.encode(), Path("storage-rules.md"), "vault")


@pytest.mark.parametrize(("type_", "title", "text"), UNSEEN)
def test_unseen_notes(
    type_: str, title: str, text: str, judge: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    assert judge.judge(subject(title, text)).type == type_


@pytest.mark.parametrize(("type_", "title", "text"), UNSEEN)
def test_unseen_notes_without_an_embedder(
    type_: str, title: str, text: str, by_words: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    assert by_words.judge(subject(title, text)).type == type_


def test_what_it_sets_active_is_right(
    judge: ExtractiveJudge, rules: LoadedRules, short_notes: list[tuple[str, Subject]]
) -> None:
    floor = rules.rules.thresholds.low_confidence
    judged = [(type_, judge.judge(note)) for type_, note in short_notes]
    active = [(type_, judgment) for type_, judgment in judged if judgment.confidence >= floor]
    assert len(active) > len(judged) / 2
    assert [(t, j) for t, j in active if j.type != t] == []
    assert sum(type_ == judgment.type for type_, judgment in judged) >= 0.95 * len(judged)


def test_a_type_of_the_operators_own(
    seven_types: LoadedRules, embedder: Embedder, subject: Callable[..., Subject]
) -> None:
    judge = ExtractiveJudge(seven_types, embedder)
    for title, text in RECIPES:
        judgment = judge.judge(subject(title, text))
        assert (judgment.type, judgment.memory_class) == ("recipe", "procedural")
    for type_, title, text in UNSEEN:
        assert judge.judge(subject(title, text)).type == type_


def test_a_type_of_the_operators_own_is_known_by_the_words_of_its_definition(
    seven_types: LoadedRules, subject: Callable[..., Subject]
) -> None:
    judge = ExtractiveJudge(seven_types, None)
    assert judge.judge(subject(*RECIPES[0])).type == "recipe"
    assert judge.judge(subject(*RECIPES[2])).type == "recipe"


def test_likeness_carries_weight(
    seven_types: LoadedRules, embedder: Embedder, subject: Callable[..., Subject]
) -> None:
    """No word of the definition stands in this note."""
    note = subject(
        "Beef stew", "Brown the beef with carrots and celery; cover with broth and wine."
    )
    assert ExtractiveJudge(seven_types, None).judge(note).type != "recipe"
    assert ExtractiveJudge(seven_types, embedder).judge(note).type == "recipe"


def test_a_type_of_the_operators_own_takes_no_other_notes(
    seven_types: LoadedRules, embedder: Embedder, short_notes: list[tuple[str, Subject]]
) -> None:
    judge = ExtractiveJudge(seven_types, embedder)
    taken = {note.title for _, note in short_notes if judge.judge(note).type == "recipe"}
    assert taken <= {"Sourdough"}


def test_only_types_that_the_rules_have(
    subject: Callable[..., Subject], embedder: Embedder, short_notes: list[tuple[str, Subject]]
) -> None:
    text = default_rules_text().decode()
    text = text.replace(", workflow, fix, idea]", ", workflow, idea]")
    text = text.replace("  fix: procedural\n", "")
    fewer = parse_rules(text.encode(), Path("storage-rules.md"), "vault")
    judge = ExtractiveJudge(fewer, embedder)
    given_types = {judge.judge(note).type for type_, note in short_notes if type_ == "fix"}
    assert given_types <= set(fewer.rules.memory_types)


def test_the_class_is_that_of_the_routing(
    judge: ExtractiveJudge, rules: LoadedRules, short_notes: list[tuple[str, Subject]]
) -> None:
    seen = set()
    for _, note in short_notes:
        judgment = judge.judge(note)
        seen.add(judgment.memory_class)
        assert judgment.memory_class == rules.rules.routing[judgment.type]
    assert seen == {"semantic", "procedural"}


@pytest.mark.parametrize(
    ("title", "text", "altitude"),
    [
        ("Battery", "The battery holds about 18 months and is a CR2032.", "canonical"),
        ("Move", "Anna (3 June 2024): we moved into the new office last Monday.", "artifact"),
        ("Bucket", "Today I listed it:\n\n```\ngsutil ls gs://bucket\n```\n", "canonical"),
        ("Digest", "Maybe we could send a weekly digest some day.", "artifact"),
        ("Logs", "We decided today that logs must be in UTC.", "canonical"),
    ],
)
def test_altitude(
    title: str,
    text: str,
    altitude: str,
    judge: ExtractiveJudge,
    subject: Callable[..., Subject],
) -> None:
    assert judge.judge(subject(title, text)).altitude == altitude


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Drucker", "Der Drucker steht im zweiten Stock neben der Küche und heißt lp7."),
        ("Fehler", "Beim Start kam eine Fehlermeldung. Die Ursache war ein alter Treiber."),
        ("Réunions", "Je préfère les réunions le matin, jamais après quinze heures."),
        ("会議", "会議は午前中にしてください。午後は集中して作業したいです。"),
        ("Правило", "Ветки называем по номеру задачи, потому что так их находит сборка."),
        ("Empty", ""),
        ("Blank", " \n\t\n"),
        ("Script", "```python\nfor row in rows:\n    print(row)\n```"),
        ("Digits", "1 2 3\n4 5 6\n"),
    ],
)
def test_what_it_cannot_read_goes_to_review(
    title: str,
    text: str,
    judge: ExtractiveJudge,
    rules: LoadedRules,
    subject: Callable[..., Subject],
) -> None:
    judgment = judge.judge(subject(title, text))
    assert judgment.confidence < rules.rules.thresholds.low_confidence
    assert judgment.type in rules.rules.memory_types


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_confidence_grows_with_the_probability_and_never_exceeds_it_at_the_top(
    one: float, other: float, english: float
) -> None:
    low, high = sorted((one, other))
    assert 0 <= confidence_of(low, english) <= confidence_of(high, english) <= 1
    if low >= 0.65:
        assert confidence_of(low, english) <= low
    if english < READABLE_ENGLISH:
        assert confidence_of(high, english) <= UNREADABLE_MOST
