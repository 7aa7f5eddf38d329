"""Sections ranked for themselves, what stands around them, and whom they are about."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from agentm_assets.recall.answer import Hit
from agentm_assets.recall.question import RecallOptions, understand

VaultOf = Callable[[Mapping[str, str | bytes]], Any]

TALK = {
    "talk.md": (
        "# Ada and Ben in May\n\n"
        "## Ada\n\nDid you ever finish the boat you were building?\n\n"
        "## Ben\n\nYes, she floats since Sunday.\n\n"
        "## Ada\n\nI took up pottery, two evenings a week.\n\n"
        "## Ben\n\nI took up chess, two evenings a week.\n"
    ),
    "other.md": "# Garden\n\nThe roses want water.\n",
}


def shown(hit: Hit) -> tuple[str, str]:
    return hit.header_path.rpartition(" > ")[2], hit.snippet


def test_sections_of_one_note_are_hits_of_their_own(vault_of: VaultOf) -> None:
    asker = vault_of(TALK)
    hits = asker.ask("evenings a week", k=10, per="section").hits
    assert [hit.path for hit in hits[:2]] == ["talk.md", "talk.md"]
    assert len({hit.chunk for hit in hits}) == len(hits)
    assert asker.paths("evenings a week", k=10) == ["talk.md"]


def test_a_section_is_found_by_the_words_beside_it(vault_of: VaultOf) -> None:
    asker = vault_of(TALK)
    hits = asker.ask("is the boat finished?", k=10, per="section").hits
    assert ("Ben", "## Ben Yes, she floats since Sunday.") in [shown(hit) for hit in hits]


@pytest.mark.parametrize("name", ["Ada", "Ben"])
def test_a_name_asks_for_what_stands_under_it(vault_of: VaultOf, name: str) -> None:
    asker = vault_of(TALK)
    hits = asker.ask(f"What did {name} take up for two evenings a week?", per="section").hits
    assert hits[0].header_path.endswith(f"> {name}")
    assert "evenings" in hits[0].snippet


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does Ada think of Ben's boat?", {"ada", "ben"}),
        ("Caroline's hobby?", {"caroline"}),
        ("what does ada think?", set()),
        ("What happened in March 2019?", set()),
        ("WHAT DID ADA SAY ABOUT IT", set()),
        ("I? A B", set()),
    ],
)
def test_names_in_a_question(question: str, names: set[str]) -> None:
    now = datetime(2026, 8, 19, tzinfo=UTC)
    assert understand(question, RecallOptions(now=now)).names == names


def test_what_somebody_said_comes_before_what_was_said_to_her(vault_of: VaultOf) -> None:
    turns = [("Ben", f"Ada! Chess, chess, Ada, chess {year}.") for year in (2001, 2002)]
    turns += [("Eve", "Good. " * 9)] * 5 + [
        ("Ada", "Chess it was, all of that long winter, with the neighbours and an aunt of theirs.")
    ]
    turns += [("Eve", "Good. " * 9)] * 5
    talk = "# A talk\n\n" + "".join(f"## {who}\n\n{said}\n\n" for who, said in turns)
    asker = vault_of({"talk.md": talk, "other.md": "# Garden\n\nThe roses want water.\n"})
    hits = asker.ask("Did Ada take up chess?", per="section").hits
    assert hits[0].header_path.endswith("> Ada")
