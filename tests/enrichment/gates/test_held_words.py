"""Which names say no more than the note."""

import pytest

from agentm_assets.enrichment.gates.held_words import HeldWords

NOTE = "The relay on board 7 was cached too long. Café Müller deploys it. 煎茶の湯温は七十度。"


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("relay-on-board-7", True),
        ("caching", True),
        ("cafe-muller", True),
        ("煎茶", True),
        ("fix-of-the-relay", True),
        ("relay-on-board-8", False),
        ("cve-2031-9999", False),
        ("marta-kowalski-arrested", False),
        ("murder", False),
        ("紅茶", False),
    ],
)
def test_a_name_says_no_more_than_the_note(name: str, held: bool) -> None:
    assert HeldWords(NOTE, ("fix",)).hold(name) is held
