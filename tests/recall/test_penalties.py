"""Penalties: which apply when, and that none ever raises a score."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.index.facts_reader import NoteFacts
from agentm_assets.recall.decay import FRESH, Faded
from agentm_assets.recall.penalties import PenaltyContext, asks_for_artifacts, lowered, penalty_of
from agentm_assets.recall.ranking import RankingRules

CONTEXT = PenaltyContext(
    rules=RankingRules(), wants_artifacts=False, altitude_share=1.0, decay_applies=True
)
NOTE = NoteFacts(
    path="Agent/memory/semantic/a.md",
    space="memory",
    title="A",
    memory_class="semantic",
    type="reference",
    kind=None,
    status="active",
    altitude="canonical",
    captured=None,
    lifecycle_tier=None,
    judged_by=None,
)


@pytest.mark.parametrize(
    ("change", "factor", "names"),
    [
        ({}, 1.0, ()),
        ({"status": "unfiled"}, 0.6, ("status:unfiled",)),
        ({"status": "unfiled", "judged_by": "extractive-1"}, 1.0, ()),
        ({"status": "unfiled", "altitude": "artifact"}, 0.6, ("status:unfiled",)),
        ({"status": "expired", "judged_by": "extractive-1"}, 0.6, ("status:expired",)),
        ({"status": "superseded"}, 0.6, ("status:superseded",)),
        ({"status": "expired"}, 0.6, ("status:expired",)),
        ({"status": None}, 1.0, ()),
        ({"space": "personal"}, 0.3, ("space:personal",)),
        ({"altitude": "artifact"}, 0.3, ("altitude:artifact",)),
        ({"altitude": None}, 1.0, ()),
        ({"path": "Agent/_dream/staging/a.md"}, 0.3, ("machine-page",)),
        ({"path": "agent/_META/a.md"}, 0.3, ("machine-page",)),
        ({"path": "Agent/diagnostics/health/latest_health.md"}, 0.3, ("machine-page",)),
        ({"kind": "proposal"}, 0.3, ("machine-page",)),
        (
            {"path": "Agent/memory/mocs/topic-tea.md", "memory_class": "mocs"},
            0.3,
            ("machine-page",),
        ),
        ({"path": "index.md", "space": "other"}, 0.3, ("machine-page",)),
        ({"path": "projects/kettle/moc-kettle.md"}, 0.3, ("machine-page",)),
        ({"path": "Agent/desk/moc-tasks.md"}, 0.3, ("machine-page",)),
        (
            {"path": "Agent/memory/entities/ines.md", "memory_class": "entities"},
            0.6,
            ("rollup",),
        ),
        ({"path": "Agent/memory/crystallized/tea.md", "memory_class": "crystallized"}, 1.0, ()),
        ({"path": "standards/storage-rules.md", "space": "standards"}, 0.3, ("machine-page",)),
        ({"path": "Standards/Storage-Rules.MD", "space": "standards"}, 0.3, ("machine-page",)),
        ({"path": "standards/storage-rules-2.md", "space": "standards"}, 1.0, ()),
        ({"path": "projects/x/standards/storage-rules.md"}, 1.0, ()),
        (
            {"status": "expired", "space": "personal"},
            0.6 * 0.3,
            ("status:expired", "space:personal"),
        ),
    ],
)
def test_each_penalty(change: dict[str, object], factor: float, names: tuple[str, ...]) -> None:
    note = dataclasses.replace(NOTE, **change)  # type: ignore[arg-type]
    found = penalty_of(note, FRESH, CONTEXT)
    assert math.isclose(found.factor, factor)
    assert found.names == names


def test_the_altitude_penalty_sleeps_until_nine_tenths_are_labelled() -> None:
    note = dataclasses.replace(NOTE, altitude="artifact")
    for share, factor in ((0.0, 1.0), (0.899, 1.0), (0.9, 0.3)):
        context = dataclasses.replace(CONTEXT, altitude_share=share)
        assert penalty_of(note, FRESH, context).factor == factor


def test_a_question_about_moments_lifts_the_altitude_penalty() -> None:
    note = dataclasses.replace(NOTE, altitude="artifact")
    context = dataclasses.replace(CONTEXT, wants_artifacts=True)
    assert penalty_of(note, FRESH, context).factor == 1.0
    assert asks_for_artifacts("What did we say in the meeting about kettles?")
    assert asks_for_artifacts("what happened during the outage")
    assert not asks_for_artifacts("How do I log in?  Which catalogue is it?".replace("log", "sign"))


def test_decay_applies_only_when_it_is_on() -> None:
    cold = Faded(0.125, "eighth", False)
    assert penalty_of(NOTE, cold, CONTEXT).names == ("decay:eighth",)
    off = dataclasses.replace(CONTEXT, decay_applies=False)
    assert penalty_of(NOTE, cold, off).factor == 1.0


def test_dampened_spaces_come_from_the_rules() -> None:
    rules = RankingRules(dampened_spaces=frozenset({"calendar"}))
    context = dataclasses.replace(CONTEXT, rules=rules)
    personal, calendar = (dataclasses.replace(NOTE, space=s) for s in ("personal", "calendar"))
    assert penalty_of(personal, FRESH, context).factor == 1.0
    assert penalty_of(calendar, FRESH, context).factor == 0.3


@given(
    score=st.floats(allow_nan=False, allow_infinity=False),
    factor=st.floats(0.0, 1.0, allow_nan=False),
)
def test_a_penalty_never_raises_a_score(score: float, factor: float) -> None:
    assert lowered(score, factor) <= score
