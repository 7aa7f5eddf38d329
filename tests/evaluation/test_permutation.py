"""The paired permutation test against counting every choice of signs."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.evaluation.permutation import DRAWS, paired_permutation

FRACTIONS = st.fractions(min_value=-1, max_value=1, max_denominator=12)


def brute_force(differences: list[Fraction]) -> float:
    seen = abs(sum(differences, Fraction(0)))
    choices = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [
        sum((sign * each for sign, each in zip(signs, differences, strict=True)), Fraction(0))
        for signs in choices
    ]
    far = sum(abs(each) >= seen for each in sums)
    return far / len(choices)


@settings(max_examples=150, deadline=None)
@given(st.lists(FRACTIONS, max_size=9))
def test_it_equals_counting_every_choice_of_signs(differences: list[Fraction]) -> None:
    test = paired_permutation(differences, 7)
    assert test.method == "exact"
    assert test.p == pytest.approx(brute_force(differences), abs=1e-12)
    assert test.differing == sum(each != 0 for each in differences)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_of_hits_and_misses_it_is_mcnemars_exact_test(gained: int, lost: int, ties: int) -> None:
    differences = [Fraction(1)] * gained + [Fraction(-1)] * lost + [Fraction(0)] * ties
    n = gained + lost
    tail = sum(math.comb(n, k) for k in range(min(gained, lost) + 1)) / 2**n
    assert paired_permutation(differences, 7).p == pytest.approx(min(1.0, 2 * tail), rel=1e-9)


def test_where_counting_takes_too_long_signs_are_drawn_by_the_seed() -> None:
    differences = [Fraction(1, 3)] * 9 + [Fraction(-1, 7)] * 4
    exact = paired_permutation(differences, 7)
    drawn = paired_permutation(differences, 7, most_steps=0)
    assert (drawn.method, drawn.draws) == ("monte-carlo", DRAWS)
    assert drawn == paired_permutation(differences, 7, most_steps=0)
    assert drawn != paired_permutation(differences, 8, most_steps=0)
    assert drawn.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / DRAWS))


def test_as_many_questions_as_locomo_has_are_counted_and_not_drawn() -> None:
    places = [Fraction(1, 1 + number % 10) for number in range(400)]
    differences = [*places, *(-place for place in places[::2])]
    test = paired_permutation(differences, 7)
    assert (test.method, test.differing) == ("exact", 600)
    # Of so many it is near the normal distribution, whose tail beyond z is this.
    z = float(abs(sum(differences))) / math.sqrt(sum(float(each) ** 2 for each in differences))
    assert test.p == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.2)
