"""How many judgments are stale, and what is said to have changed."""

from collections.abc import Callable
from typing import Any as Desk

import pytest

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.rules_seen import MOST_NAMED, remember_rules, what_changed
from agentm_assets.enrichment.staleness import OPERATOR, Judged, Staleness, staleness

Edited = Callable[..., LoadedRules]
STAMP = "anthropic/claude-x+12345678"
PATH = "Agent/memory/semantic/a.md"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("low_confidence: 0.65", "low_confidence: 0.7", ("thresholds.low_confidence",)),
        ("  idea: semantic", "  idea: procedural", ("routing.idea",)),
        ("Steps that lead to a result", "What leads to a result", ("prose under “workflow”",)),
        ("excludes: []", "excludes: ['drafts/**']", ()),
        ("[preference, convention,", "[convention, preference,", ()),
        ("  fix: procedural\n", "  fix: procedural  # as ever\n", ()),
    ],
)
def test_an_edit_is_named(
    desk: Desk, edited_rules: Edited, old: str, new: str, named: tuple[str, ...]
) -> None:
    before = edited_rules()
    remember_rules(desk.location, before)
    assert what_changed(desk.location, before.rules_hash, edited_rules((old, new))) == named


def test_a_new_type_names_every_key_that_it_touches(desk: Desk, edited_rules: Edited) -> None:
    before = edited_rules()
    remember_rules(desk.location, before)
    after = edited_rules(
        ("fix, idea]", "fix, idea, recipe]"),
        ("  idea: semantic\n", "  idea: semantic\n  recipe: procedural\n"),
        ("warrants: {}", "warrants:\n  recipe: {query_class: a, nearest: workflow, why_not: b}"),
    )
    assert what_changed(desk.location, before.rules_hash, after) == (
        "memory_types",
        "routing.recipe",
        "warrants.recipe",
    )


def test_rules_that_this_machine_never_saw_are_not_guessed_at(
    desk: Desk, edited_rules: Edited
) -> None:
    rules = edited_rules()
    for was in ("0123456789abcdef", "../../secrets", "", "no hash at all"):
        assert what_changed(desk.location, was, rules) == ()
    remember_rules(desk.location, rules)
    kept = desk.location.state_dir / "rules" / f"{rules.rules_hash}.json"
    changed = edited_rules(("low_confidence: 0.65", "low_confidence: 0.7"))
    (desk.location.state_dir / "elsewhere.json").write_bytes(kept.read_bytes())
    assert what_changed(desk.location, "../elsewhere", changed) == (), "a note names no file"
    kept.write_text("[]")
    assert what_changed(desk.location, rules.rules_hash, changed) == ()


def test_a_rewrite_of_the_whole_prose_is_cut_short(desk: Desk, edited_rules: Edited) -> None:
    before = edited_rules()
    remember_rules(desk.location, before)
    headings = "".join(f"## Part {number}\n\ntext\n\n" for number in range(30))
    after = edited_rules(("## Classes:", f"{headings}## Classes:"))
    named = what_changed(desk.location, before.rules_hash, after)
    assert (len(named), named[-1]) == (MOST_NAMED + 1, "18 more")


def stale(
    desk: Desk, rules: LoadedRules, *notes: tuple[str | None, str | None], stamp: str = STAMP
) -> Staleness:
    judged = [Judged(PATH, "active", by, hash_) for by, hash_ in notes]
    found = staleness(judged, rules, stamp, desk.location)
    assert found.unjudged + found.current + found.stale == found.population
    return found


def test_what_holds_and_what_does_not(desk: Desk, edited_rules: Edited) -> None:
    rules, old = edited_rules(), "0123456789abcdef"
    now = rules.rules_hash
    found = stale(
        desk,
        rules,
        (None, None),
        (STAMP, now),
        (OPERATOR, old),  # the operator's word does not age
        (STAMP, old),
        (STAMP, None),
        ("anthropic/claude-x+ffffffff", now),
        ("extractive-1", now),
        ("extractive-1", now),
    )
    assert (found.population, found.unjudged, found.current, found.stale) == (8, 1, 2, 5)
    assert [(change.cause, change.was, change.notes) for change in found.changes] == [
        ("model", "extractive-1", 2),
        ("prompt", "anthropic/claude-x+ffffffff", 1),
        ("rules", old, 1),
        ("rules", "unknown", 1),
    ]
    assert found.text.startswith("5 judged notes: 2 since the model changed: extractive-1 → ")


def test_a_models_judgment_is_stale_by_the_rules_alone_while_no_model_is_there(
    desk: Desk, edited_rules: Edited
) -> None:
    rules = edited_rules()
    found = stale(
        desk, rules, (STAMP, rules.rules_hash), (STAMP, "0123456789abcdef"), stamp="extractive-1"
    )
    assert (found.current, found.stale, found.awaiting_model) == (1, 1, 1)


def test_a_judgment_as_good_as_the_serving_judges_is_current(
    desk: Desk, edited_rules: Edited
) -> None:
    rules = edited_rules()
    other = "anthropic/claude-y+87654321"
    notes = [Judged(PATH, "active", other, rules.rules_hash), Judged(PATH, "active", other, "old")]
    assert staleness(notes, rules, STAMP, desk.location).stale == 2
    found = staleness(notes, rules, STAMP, desk.location, also_current={other})
    assert (found.current, found.stale) == (1, 1), "the rules count all the same"
    assert found.changes[0].cause == "rules"


def test_hidden_and_closed_notes_are_in_no_count(desk: Desk, edited_rules: Edited) -> None:
    rules = edited_rules(("excludes: []", "excludes: ['Agent/memory/semantic/hidden/**']"))
    notes = [
        Judged("Agent/memory/semantic/hidden/a.md", "active", STAMP, "old"),
        Judged("personal/a.md", "active", STAMP, "old"),
    ]
    found = staleness(notes, rules, STAMP, desk.location)
    assert (found.population, found.text) == (0, "none")
