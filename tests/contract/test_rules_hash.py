"""What makes a judgment stale, and what does not."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.contract.rules import LoadedRules, default_rules_text, parse_rules

DEFAULT = default_rules_text().decode()
OPEN = "```storage-rules\n"
HEAD, REST = DEFAULT.split(OPEN)
YAML, TAIL = REST.split("```\n")


def parse(text: str) -> LoadedRules:
    return parse_rules(text.encode(), Path("rules.md"), "vault")


def written(prose: str, block: dict[str, Any], **style: Any) -> str:
    dumped = yaml.safe_dump(block, sort_keys=False, allow_unicode=True, **style)
    return f"{prose}{OPEN}{dumped}```\n"


BASE = parse(DEFAULT)
RANKING = st.fixed_dictionaries(
    {
        "dampened_spaces": st.lists(
            st.sampled_from(["personal", "calendar", "desk", "journal"]), unique=True
        ),
        "excludes": st.lists(st.sampled_from(["a.md", "x/**", "*.canvas.md"]), unique=True),
        "days": st.lists(st.integers(1, 5_000), min_size=4, max_size=4, unique=True).map(sorted),
        "decay_floor_weight": st.sampled_from([0.0625, 0.03, 0.125]),
        "archive_after_days": st.integers(1, 9_999),
        "decay_enabled": st.booleans(),
    }
)
DAYS = ["decay_full_days", "decay_half_days", "decay_eighth_days", "decay_floor_days"]


@given(RANKING)
@settings(max_examples=100, deadline=None)
def test_what_only_ranks_makes_no_judgment_stale(ranking: dict[str, Any]) -> None:
    block = yaml.safe_load(YAML)
    block["dampened_spaces"] = ranking["dampened_spaces"]
    block["excludes"] = ranking["excludes"]
    thresholds = block["thresholds"]
    thresholds |= dict(zip(DAYS, ranking["days"], strict=True))
    for key in ("decay_floor_weight", "archive_after_days", "decay_enabled"):
        thresholds[key] = ranking[key]
    loaded = parse(written(HEAD, block))
    assert loaded.rules_hash == BASE.rules_hash
    ranks_alike = (
        set(loaded.rules.dampened_spaces) == {"personal"}
        and not loaded.rules.excludes
        and loaded.rules.thresholds == BASE.rules.thresholds
    )
    assert (loaded.ranking_hash == BASE.ranking_hash) == ranks_alike


def shuffled(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict):
        pairs = [(key, shuffled(item, dice)) for key, item in value.items()]
        dice.shuffle(pairs)
        return dict(pairs)
    return value


@given(
    st.randoms(use_true_random=False),
    st.sampled_from([None, True, False]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["  ", "\n", "\n\n", "\t", "\r\n"]),
)
@settings(max_examples=50, deadline=None)
def test_order_layout_and_white_space_say_nothing(
    dice: random.Random, flow: bool | None, line_end: str, blank: str
) -> None:
    words = HEAD.split(" ")
    at = dice.randrange(1, len(words))
    prose = " ".join(words[:at]) + blank + " ".join(words[at:])
    block = shuffled(yaml.safe_load(YAML), dice)
    for key in ("memory_types", "record_kinds"):
        dice.shuffle(block[key])
    text = written(prose, block, default_flow_style=flow).replace("\n", line_end)
    loaded = parse(text)
    assert (loaded.rules_hash, loaded.ranking_hash) == (BASE.rules_hash, BASE.ranking_hash)


def test_comments_frontmatter_and_the_fence_say_nothing() -> None:
    text = f"---\ntags: [x]\n---\n{HEAD}~~~~storage-rules\n# new\n{YAML}~~~~\n{TAIL}"
    assert parse(text).rules_hash == BASE.rules_hash
    assert parse(text).text_hash != BASE.text_hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("One memory, one subject.", "One memory, two subjects."),
        ("### Telling them apart", "### Telling those apart"),
        ("low_confidence: 0.65", "low_confidence: 0.7"),
        ("enrichment_input_chars: 24000", "enrichment_input_chars: 24001"),
        ("default_type: reference", "default_type: idea"),
        ("  idea: semantic", "  idea: procedural"),
        ("  gap: idea", "  gap: fix"),
        ("  gap: idea\n", ""),
        ("  - design\n", ""),
        ("model_exempt_spaces: [personal]", "model_exempt_spaces: [personal, calendar]"),
        ("contract_exempt_spaces: [personal]", "contract_exempt_spaces: []"),
        (
            "warrants: {}",
            "warrants:\n  idea:\n    query_class: a\n    nearest: fix\n    why_not: b",
        ),
    ],
)
def test_every_judgment_edit_makes_judgments_stale_and_ranks_nothing_anew(
    old: str, new: str
) -> None:
    assert DEFAULT.count(old) == 1
    loaded = parse(DEFAULT.replace(old, new))
    assert loaded.rules_hash != BASE.rules_hash
    assert loaded.ranking_hash == BASE.ranking_hash


@given(st.integers(0, len(HEAD.split()) - 1), st.sampled_from(["", "other"]))
@settings(max_examples=100, deadline=None)
def test_every_word_of_the_prose_counts(number: int, replacement: str) -> None:
    words = HEAD.split()
    words[number] = replacement
    # Headings and lists lose their lines here, which the hash does not see anyway.
    assert parse(f"{' '.join(words)}\n\n{OPEN}{REST}").rules_hash != BASE.rules_hash


def test_reverting_an_edit_makes_the_old_hash_again() -> None:
    assert parse(DEFAULT).rules_hash == BASE.rules_hash
    assert len(BASE.rules_hash) == len(BASE.ranking_hash) == len(BASE.text_hash) == 16
