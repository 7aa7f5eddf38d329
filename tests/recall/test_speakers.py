"""What is asked of one speaker, and was said by another."""

from collections.abc import Callable, Mapping

import pytest

from agentm_assets.models.embedder import Embedder
from agentm_assets.recall.speakers import _by_person

Asker = object  # the class in conftest.py, which cannot be imported from here
VaultOf = Callable[[Mapping[str, str]], object]

TALK = """# Ines and Tomas on 3 March

## Ines

Good morning! I brought the jars with me.

## Tomas

Morning. Last week I bought two hives, and the bees already fly over the orchard.

## Ines

How lovely! Your bees will like my orchard. I have started to learn the cello.

## Tomas

Where do you practise the cello?

## Ines

In the old boathouse, every evening after work.

## Tomas

My violin has been at the luthier since Sunday, its bridge broke.
"""
OTHER = "# Orchard\n\nPruning is due in February.\n\n## Costs\n\nThe ladder was 80 euros.\n"


@pytest.fixture
def talk(vault_of):  # type: ignore[no-untyped-def]
    return vault_of({"talk.md": TALK, "orchard.md": OTHER})


def margin(asker, question: str) -> float | None:  # type: ignore[no-untyped-def]
    found = asker.ask(question).grounds
    assert found is not None
    return found.speaker


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("How many hives did Tomas buy?", True),
        ("How many hives did Ines buy?", False),
        ("When did Ines start to learn the cello?", True),
        ("When did Tomas start to learn the cello?", False),
        ("Where does Ines practise the cello?", True),  # asked of her by him
        ("What broke on the violin of Ines?", False),
        ("Whose orchard will the bees of Tomas like?", True),  # she says "your bees"
    ],
)
def test_the_margin_tells_who_said_it(talk, question: str, own: bool) -> None:  # type: ignore[no-untyped-def]
    found = margin(talk, question)
    assert found is not None
    assert (found > 0) == own


def test_what_another_said_is_trusted_less(talk) -> None:  # type: ignore[no-untyped-def]
    right, wrong = (
        talk.ask(f"Who bought hives, and do the bees of {name} fly already?").confidence
        for name in ("Tomas", "Ines")
    )
    assert wrong < 0.5 * right


def test_with_a_model_too(asker, embedder: Embedder) -> None:  # type: ignore[no-untyped-def]
    asker.write({"talk.md": TALK, "orchard.md": OTHER})
    asker.index(embedder)
    right = asker.ask("How many hives did Tomas buy?")
    wrong = asker.ask("How many hives did Ines buy?")
    assert right.mode == "hybrid"
    assert right.grounds.speaker > 0 > wrong.grounds.speaker
    assert wrong.confidence < right.confidence


@pytest.mark.parametrize(
    "question",
    [
        "How many hives were bought?",  # of nobody
        "Did Ines hear of the hives of Tomas?",  # of both
        "What of Tomas?",  # nothing but the name
        "What is due in the Orchard in February?",  # a heading, but of no conversation
        "What did Zacharias say about the hives?",
    ],
)
def test_a_question_about_no_one_speaker_has_none(talk, question: str) -> None:  # type: ignore[no-untyped-def]
    assert margin(talk, question) is None


def test_headings_that_come_once_are_no_speakers(vault_of) -> None:  # type: ignore[no-untyped-def]
    text = "# Bees\n\n## Ines\n\nShe has no hives.\n\n## Tomas\n\nHe bought two hives.\n"
    assert margin(vault_of({"bees.md": text}), "How many hives did Ines buy?") is None


def test_parts_of_one_long_section_are_no_turns(vault_of) -> None:  # type: ignore[no-untyped-def]
    ines, tomas = (
        "\n\n".join(f"{name} counted {n} hives by the orchard wall." for n in range(400))
        for name in ("Ines", "Tomas")
    )
    text = f"# Bees\n\n## Ines\n\n{ines}\n\n## Tomas\n\n{tomas}\n"
    assert margin(vault_of({"bees.md": text}), "How many hives did Ines buy?") is None


def test_of_three_speakers_two_may_not_be_asked_about(vault_of) -> None:  # type: ignore[no-untyped-def]
    alma = "\n## Alma\n\nThe honey is in the cellar.\n"
    talk = vault_of({"talk.md": f"{TALK}{alma}\n## Tomas\n\nWell done.\n{alma}"})
    assert margin(talk, "Did Ines hear of the hives of Tomas?") is None
    assert margin(talk, "Did Alma hear of the hives?") is not None


def test_other_conversations_do_not_count(vault_of) -> None:  # type: ignore[no-untyped-def]
    others = TALK.replace("Ines", "Alma").replace("Tomas", "Piet").replace("two hives", "two goats")
    found = margin(vault_of({"talk.md": TALK, "others.md": others}), "Did Tomas buy goats?")
    assert found == 0.0  # neither he nor Ines said it; that Piet did is not against him


def test_a_note_that_is_gone_is_passed_over(talk) -> None:  # type: ignore[no-untyped-def]
    (talk.root / "talk.md").unlink()
    assert talk.ask("How many hives did Ines buy?").verdict != "answer"


@pytest.mark.parametrize(
    ("text", "before", "own", "other"),
    [
        ("I have bees. Your orchard is near!", "", "I have bees.", " Your orchard is near!"),
        ("In the boathouse.", "Hello. Where is it?", "In the boathouse.\n Where is it?", ""),
        ("J'ai deux ruches.", "", "J'ai deux ruches.", ""),
        ("", "", "", ""),
    ],
)
def test_sentences_go_to_whom_they_are_about(text: str, before: str, own: str, other: str) -> None:
    assert _by_person(text, before) == (own, other)
