"""Which page a reference belongs to."""

import random
from collections.abc import Callable

import pytest

from agentm_assets.dreaming.entities.benchmark import LEAST_SHARE, benchmark_rows, score
from agentm_assets.dreaming.entities.names import name_key, tells_who
from agentm_assets.dreaming.entities.resolve import Known, Reference, Registry, entities
from agentm_assets.dreaming.plain_text import lead_sentence, quotable


def test_the_benchmark_has_a_hundred_rows_and_no_wrong_merge() -> None:
    found = score(benchmark_rows())
    assert found.rows == 100
    assert found.merged == ()
    assert found.share >= LEAST_SHARE and found.passes


def test_one_wrong_merge_fails_the_benchmark_whatever_the_share() -> None:
    rows = list(benchmark_rows())
    wrong = next(row for row in rows if row.answer is not None)
    other = Known("other", wrong.reference.kind, (wrong.reference.key,), ())
    rows[rows.index(wrong)] = type(wrong)(wrong.why, wrong.reference, (other,), wrong.answer)
    found = score(rows)
    assert found.merged and not found.passes


@pytest.mark.parametrize(
    ("one", "other"),
    [("Kern, Dr. Anna", "anna  KERN"), ("José García", "Jose Garcia"), ("ＡＢ Ｃ", "ab c")],
)
def test_names_are_equal_once_normalised(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize("name", ["Anna", "GitHub", "Support Team", "A K", ""])
def test_names_that_many_have_tell_nothing(name: str) -> None:
    assert not tells_who("person", name)


def test_new_references_of_one_name_become_one_entity_in_any_order() -> None:
    references = [
        Reference("person:a@x.example", ("Anna Kern",)),
        Reference("person:a@y.example", ("Kern, Anna",)),
        Reference("person:anna", ("Anna",)),
        Reference("person:b@x.example", ("Bo Lind",)),
        Reference("person:both@x.example", ("Anna Kern", "Anni Kern")),
        Reference("person:anni@x.example", ("Anni Kern",)),
    ]
    wanted = entities(references, Registry(()))
    assert [entity.keys for entity in wanted] == [
        (
            "person:a@x.example",
            "person:a@y.example",
            "person:anni@x.example",
            "person:both@x.example",
        ),
        ("person:anna",),
        ("person:b@x.example",),
    ]
    for seed in range(20):
        shuffled = references[:]
        random.Random(seed).shuffle(shuffled)
        assert entities(shuffled, Registry(())) == wanted


def test_two_groups_that_a_later_reference_joins_are_one() -> None:
    references = [
        Reference("person:1", ("Anna Kern",)),
        Reference("person:2", ("Anni Kern",)),
        Reference("person:3", ("Anni Kern", "Anna Kern")),
        Reference("person:4", ("Anni Kern",)),
    ]
    (found,) = entities(references, Registry(()))
    assert found.keys == ("person:1", "person:2", "person:3", "person:4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "From: A <a@x.example>\nSent: 2026-06-13\n\nThe price rose. It will again.",
            "The price rose.",
        ),
        ("# Head\n\n| a | b |\n```\nSigned-off-by: A <a@x.example>\nIt is so", "It is so"),
        ("Co-authored-by: A <a@x.example>\n", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_is_of_prose(text: str, said: str) -> None:
    assert lead_sentence(text) == said


def test_long_lines_are_read_in_linear_time(
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    def work(size: int) -> Callable[[], object]:
        line = "a. " * size + "[[" * size + "- " * size + "x: " * size
        return lambda: (quotable(line), lead_sentence(f"# h\n{line}"))

    assert growth(work(3_000), work(12_000), 0.02) < 8
