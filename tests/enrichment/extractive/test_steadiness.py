"""The same note gives the same judgment, whatever came before; and long ones take linear time."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.extractive.cues import read_cues
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.extractive.type_scores import type_probabilities
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary
from agentm_assets.enrichment.subject import Subject
from agentm_assets.models.embedder import Embedder

VOCABULARY = Vocabulary(("tests", "release", "database"), ("acme/kettle",))


def test_order_says_nothing(
    judge: ExtractiveJudge,
    rules: LoadedRules,
    embedder: Embedder,
    short_notes: list[tuple[str, Subject]],
) -> None:
    notes = [note for _, note in short_notes[::4]]
    first = {note.title: judge.judge(note, VOCABULARY) for note in notes}
    random.Random(3).shuffle(notes)
    again = ExtractiveJudge(rules, embedder)
    for note in notes:
        assert again.judge(note, VOCABULARY) == first[note.title]


def test_the_order_of_the_types_in_the_rules_says_nothing(
    judge: ExtractiveJudge,
    rules: LoadedRules,
    embedder: Embedder,
    short_notes: list[tuple[str, Subject]],
) -> None:
    turned = rules.rules.model_copy(
        update={"memory_types": tuple(reversed(rules.rules.memory_types))}
    )
    other = ExtractiveJudge(replace(rules, rules=turned), embedder)
    for _, note in short_notes[::6]:
        assert other.judge(note) == judge.judge(note)


def test_of_equals_the_first_by_name() -> None:
    cues = read_cues("", "", (), "", {"alpha": (), "zeta": ()})
    for names in (("zeta", "alpha"), ("alpha", "zeta")):
        chances = type_probabilities(names, cues, {})
        assert chances == {"alpha": 0.5, "zeta": 0.5}
        assert list(chances) == ["alpha", "zeta"]


def test_another_vocabulary_in_between_leaves_nothing_behind(
    by_words: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    note = subject("Release", "The release of the database. The database.")
    assert by_words.judge(note, VOCABULARY).tags == ("release", "database")
    assert by_words.judge(note).tags == ()
    assert by_words.judge(note, VOCABULARY).tags == ("release", "database")


def test_what_lies_beyond_the_limit_is_not_read(
    by_words: ExtractiveJudge, rules: LoadedRules, subject: Callable[..., Subject]
) -> None:
    limit = rules.rules.thresholds.enrichment_input_chars
    head = "We must use UTC. " * (limit // 17 + 1)
    one = by_words.judge(subject("UTC", head[:limit]))
    other = by_words.judge(subject("UTC", head[:limit] + "\nTraceback: error, crash. " * 1000))
    assert one == other


KINDS = {
    "prose": "We decided to run the tests first, because it failed. Maybe later.\n\n",
    "blanks": " ",
    "open links": "[a](",
    "link of blanks": "[a]( \t",
    "ticks": "` ``",
    "fences": "```\n",
    "digits": "1" * 64,
    "joined": "a.b-c'",
    "lines": "- [ ] 1. > \n",
    "marks": ". ! ? ",
    "headings": "## \n",
    "one word": "x",
    "prompt": "user@host ~ % ls\n    $ ",
    "capitals": "AError",
}


@pytest.mark.parametrize("kind", KINDS)
def test_time_grows_with_the_length(
    kind: str,
    rules: LoadedRules,
    subject: Callable[..., Subject],
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    thresholds = rules.rules.thresholds.model_copy(update={"enrichment_input_chars": 1_000_000})
    whole = replace(rules, rules=rules.rules.model_copy(update={"thresholds": thresholds}))
    judge = ExtractiveJudge(whole, None)

    def work(size: int) -> Callable[[], object]:
        note = subject("untitled", (KINDS[kind] * (size // len(KINDS[kind]) + 1))[:size])
        return lambda: judge.judge(note, VOCABULARY)

    assert growth(work(32_000), work(128_000), 0.02) < 8


def test_a_long_title_of_digits_is_read_at_once(
    by_words: ExtractiveJudge, subject: Callable[..., Subject]
) -> None:
    assert by_words.judge(subject("note " + "1" * 70 + "x", "Text.")).slug is None


def test_a_body_of_a_megabyte(judge: ExtractiveJudge, subject: Callable[..., Subject]) -> None:
    text = "The valve is in the cellar. It must be closed before the frost.\n\n" * 16_000
    assert len(text) > 1_000_000
    assert judge.judge(subject("Valve", text)).body is None
