"""Fading: bands, anchors and everything that never fades."""

import dataclasses
from datetime import UTC, date

import pytest

from agentm_assets.index.facts_reader import NoteFacts
from agentm_assets.recall.decay import FRESH, faded, last_touch
from agentm_assets.recall.ranking import DecayBands, RankingRules

TODAY = date(2026, 8, 19)
RULES = RankingRules()
NOTE = NoteFacts(
    path="Agent/memory/semantic/2019/01/a.md",
    space="memory",
    title="A",
    memory_class="semantic",
    type="reference",
    kind=None,
    status="active",
    altitude=None,
    captured="2019-01-01",
    lifecycle_tier=None,
    judged_by=None,
)


@pytest.mark.parametrize(
    ("age", "weight", "band", "archived"),
    [
        (-5, 1.0, "full", False),
        (0, 1.0, "full", False),
        (182, 1.0, "full", False),
        (183, 0.5, "half", False),
        (365, 0.5, "half", False),
        (366, 0.125, "eighth", False),
        (1095, 0.125, "eighth", False),
        (1096, 0.0625, "floor", False),
        (1825, 0.0625, "floor", False),
        (1826, 0.0625, "cold", True),
        (300_000, 0.0625, "cold", True),
    ],
)
def test_the_bands_end_where_the_rules_say(
    age: int, weight: float, band: str, archived: bool
) -> None:
    found = faded(NOTE, date.fromordinal(TODAY.toordinal() - age), TODAY, RULES)
    assert (found.weight, found.band, found.archived) == (weight, band, archived)


def test_every_threshold_of_the_rules_is_read() -> None:
    bands = DecayBands(True, 1, 2, 3, 4, 0.25, 5)
    rules = dataclasses.replace(RULES, decay=bands)
    found = [
        faded(NOTE, date.fromordinal(TODAY.toordinal() - age), TODAY, rules) for age in range(7)
    ]
    assert [f.weight for f in found] == [1.0, 1.0, 0.5, 0.125, 0.25, 0.25, 0.25]
    assert [f.band for f in found] == ["full", "full", "half", "eighth", "floor", "cold", "cold"]
    assert [f.archived for f in found] == [False] * 6 + [True]


def test_without_an_anchor_nothing_fades() -> None:
    assert faded(NOTE, None, TODAY, RULES) == FRESH


@pytest.mark.parametrize(
    "change",
    [
        {"lifecycle_tier": "durable"},
        {"kind": "failure-incident"},
        {"kind": "crystallized"},
        {"memory_class": "crystallized"},
        {"path": "projects/kettle/decisions/0001.md"},
        {"path": "projects/kettle/Decisions/2019/0001.md"},
        {"space": "personal"},
        {"space": "Personal"},
    ],
)
def test_what_never_fades(change: dict[str, str]) -> None:
    note = dataclasses.replace(NOTE, **change)  # type: ignore[arg-type]
    assert faded(note, date(2000, 1, 1), TODAY, RULES) == FRESH


@pytest.mark.parametrize(
    "change",
    [
        {"lifecycle_tier": "ephemeral"},
        {"path": "projects/kettle/decisions.md"},
        {"path": "projects/indecisions/a.md"},
        {"kind": "brief"},
    ],
)
def test_what_only_looks_exempt_fades(change: dict[str, str]) -> None:
    note = dataclasses.replace(NOTE, **change)  # type: ignore[arg-type]
    assert faded(note, date(2000, 1, 1), TODAY, RULES).weight < 1.0


@pytest.mark.parametrize(
    ("captured", "recalled", "anchor"),
    [
        ("2019-01-01", None, date(2019, 1, 1)),
        ("2019-01-01", date(2026, 1, 1), date(2026, 1, 1)),
        ("2026-02-01", date(2026, 1, 1), date(2026, 2, 1)),
        (None, date(2026, 1, 1), date(2026, 1, 1)),
        (None, None, None),
        ("some day", None, None),
    ],
)
def test_age_counts_from_capture_or_the_last_recall(
    captured: str | None, recalled: date | None, anchor: date | None
) -> None:
    note = dataclasses.replace(NOTE, captured=captured)
    last_recalled = {} if recalled is None else {note.path: recalled}
    assert last_touch(note, last_recalled, UTC) == anchor
