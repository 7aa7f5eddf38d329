"""Questions made from the notes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentm_assets.evaluation.control import RunVoid
from agentm_assets.evaluation.gold_questions import GoldQuestion, read_questions
from agentm_assets.evaluation.known import known_questions, questions_text
from agentm_assets.recall.ranking import RankingRules

NOTES = {
    "a.md": "---\ntype: idea\n---\n# Feeding the sourdough\n\n## How much rye flour it takes\n",
    "b.md": "# Frost\n## Next steps\n\n```\n# Not a heading at all\n```\n## Why *the pear* froze\n",
    "c.md": "# Feeding the sourdough\n\n## Why did the chain slip\n\n# A second title there\n",
    "d.md": "# 在庫の棚卸し\n\n> # A quoted heading of somebody\n",
    "personal/p.md": "# My own private title\n\n## My own private heading here\n",
    "Agent/memory/mocs/m.md": "# A page that passes make\n",
    "standards/storage-rules.md": "# The rules of storage here\n",
    "drafts/x.md": "# A draft that is hidden\n",
    "journal/j.md": "# A dampened folder's title\n",
}
RANKING = replace(
    RankingRules(), excludes=("drafts",), dampened_spaces=frozenset({"personal", "journal"})
)


def made(notes: Mapping[str, str] = NOTES, n: int = 50, seed: int = 7) -> dict[str, str]:
    """question → path"""
    found = known_questions(notes, RANKING, n=n, seed=seed)
    assert all(len(each.expected_note_paths) == 1 for each in found)
    return {each.question: each.expected_note_paths[0] for each in found}


def test_asked_is_what_one_note_alone_has() -> None:
    assert made() == {
        "How much rye flour it takes": "a.md",
        "Why the pear froze": "b.md",
        "Why did the chain slip": "c.md",
        "A second title there": "c.md",
        "在庫の棚卸し": "d.md",
    }


def test_a_heading_of_the_operators_own_space_takes_the_question_from_others() -> None:
    notes = {**NOTES, "personal/q.md": "# Diary\n\n## why did the CHAIN slip\n"}
    assert "Why did the chain slip" not in made(notes)


def many(count: int) -> dict[str, str]:
    return {
        f"n{number}.md": f"# Parcel number {number}\n\n## What parcel {number} really weighs\n"
        for number in range(count)
    }


def test_the_seed_draws_half_titles_and_half_headings() -> None:
    drawn = known_questions(many(60), RANKING, n=20, seed=7)
    assert [each.stratum for each in drawn] == ["title"] * 10 + ["heading"] * 10
    assert drawn == known_questions(many(60), RANKING, n=20, seed=7)
    assert set(drawn) != set(known_questions(many(60), RANKING, n=20, seed=8))
    assert len({each.id for each in drawn}) == 20


def test_a_new_note_leaves_most_of_a_draw_as_it_was() -> None:
    before, after = (set(made(many(count), n=20)) for count in (60, 61))
    assert len(before & after) >= 18


def test_where_one_kind_is_short_the_other_fills_up() -> None:
    notes = {**many(3), **{f"t{n}.md": f"# Title of the note {n}\n" for n in range(30)}}
    strata = [each.stratum for each in known_questions(notes, RANKING, n=20, seed=7)]
    assert (strata.count("title"), strata.count("heading")) == (17, 3)


def test_a_vault_without_anything_of_its_own_has_no_set() -> None:
    with pytest.raises(RunVoid, match="nothing to measure"):
        made({"a.md": "# One\n", "personal/b.md": "# Only my own things\n"})


def test_the_set_can_be_written_as_a_gold_set(tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    questions = known_questions(NOTES, RANKING, n=50, seed=7)
    file.write_text(questions_text(questions), "utf-8")
    assert read_questions(file) == questions
    assert isinstance(questions[0], GoldQuestion)
    assert "private" not in json.dumps(json.loads(file.read_text("utf-8")))
