"""When a cheap tier serves a job alone, and what ends that."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.evaluation.qualification import (
    JOBS,
    LEAST_SAMPLES,
    PINNED_STRONG,
    SAMPLE_DAYS,
    SAMPLES,
    Outcome,
    Sample,
    append_samples,
    read_samples,
    serves_alone,
    take_sample,
    tier_of,
    tier_table,
)
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
    Usage,
)
from agentm_assets.storage.vault_backend import VaultBackend

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
AT = "2026-03-04T11:00:00Z"
SETUP: dict[str, Any] = {
    "cheap": "p/small",
    "strong": "p/large",
    "pass_version": "7f3a",
    "now": NOW,
}
JUDGMENT = Judgment("fix", "artifact", "procedural", "A title", None, (), (), None, None, 0.9)


def sample(number: int, outcome: Outcome = "agreed", **changed: Any) -> Sample:
    differed = ("type",) if outcome == "differed" else ()
    made = Sample("enrichment", "p/small", "p/large", "7f3a", f"n{number}", outcome, differed, AT)
    return replace(made, **changed)


def samples(agreed: int, differed: int = 0, **changed: Any) -> list[Sample]:
    outcomes: list[Outcome] = ["agreed"] * agreed + ["differed"] * differed
    return [sample(number, outcome, **changed) for number, outcome in enumerate(outcomes)]


def alone(taken: list[Sample], job: str = "enrichment", **changed: Any) -> bool:
    return serves_alone(job, taken, **{**SETUP, **changed})


@pytest.mark.parametrize(
    ("agreed", "differed", "is_alone"),
    [(24, 0, False), (25, 0, True), (22, 3, False), (23, 2, True), (27, 3, True), (26, 3, False)],
)
def test_it_takes_twenty_five_samples_at_nine_tenths(
    agreed: int, differed: int, is_alone: bool
) -> None:
    assert alone(samples(agreed, differed)) is is_alone


@pytest.mark.parametrize("job", sorted(PINNED_STRONG))
def test_what_outlives_a_revert_stays_with_the_strong_tier(job: str) -> None:
    assert not alone(samples(100, job=job), job)


def test_a_job_nobody_knows_is_the_strong_tiers() -> None:
    assert not alone(samples(100, job="poetry"), "poetry")
    assert tier_of("poetry", [], **SETUP).serves == "strong"


@pytest.mark.parametrize(
    "changed",
    [
        {"cheap": "p/small-2"},
        {"strong": "p/large-2"},
        {"pass_version": "0000"},
        {"now": NOW + timedelta(days=SAMPLE_DAYS)},
        {"now": NOW - timedelta(days=1)},
    ],
    ids=["another cheap model", "another strong model", "another pass", "too old", "clock back"],
)
def test_a_qualification_ends(changed: dict[str, Any]) -> None:
    assert alone(samples(40))
    assert not alone(samples(40), **changed)


def test_samples_of_another_job_do_not_count() -> None:
    assert not alone(samples(40, job="summary"))
    assert alone(samples(40, job="summary"), "summary")


def test_a_note_counts_once_and_by_its_newest_sample() -> None:
    assert not alone([sample(1)] * 40)
    taken = samples(25)
    assert not alone([*taken, *(replace(each, outcome="differed") for each in taken[:3])])
    assert alone([*taken, *(replace(each, outcome="excluded") for each in taken)])


def test_who_could_not_be_reached_did_not_disagree() -> None:
    excluded = [sample(100 + number, "excluded") for number in range(50)]
    assert alone(samples(25) + excluded)
    assert not alone(samples(24) + excluded)
    standing = tier_of("enrichment", samples(25) + excluded, **SETUP)
    assert (standing.samples, standing.excluded, standing.agreement) == (25, 50, 1.0)


@given(st.lists(st.sampled_from(["agreed", "differed", "excluded"]), max_size=60))
def test_only_compared_samples_decide(outcomes: list[Outcome]) -> None:
    taken = [sample(number, outcome) for number, outcome in enumerate(outcomes)]
    agreed, differed = outcomes.count("agreed"), outcomes.count("differed")
    enough = agreed + differed >= LEAST_SAMPLES
    assert alone(taken) is (enough and 10 * agreed >= 9 * (agreed + differed))


def test_without_a_strong_tier_work_waits_and_without_a_cheap_one_it_serves_all() -> None:
    held = {**SETUP, "strong": None}
    assert tier_of("enrichment", samples(40), **held).serves is None
    assert tier_of("crystallize", [], **{**SETUP, "cheap": None}).serves == "strong"
    assert tier_of("enrichment", [], **{**SETUP, "cheap": None, "strong": None}).serves is None
    same = {**SETUP, "cheap": "p/large"}
    assert tier_of("enrichment", [], **same).why == "both tiers are one model"


def test_the_table_has_every_job() -> None:
    versions = {"enrichment": "7f3a"}
    rows = tier_table(
        samples(24, 2), cheap="p/small", strong="p/large", pass_versions=versions, now=NOW
    )
    assert [row.job for row in rows] == list(JOBS)
    enrichment = rows[0]
    assert (enrichment.serves, enrichment.why) == ("cheap", "24 of 26 samples agree")
    assert (enrichment.by_field, enrichment.oldest) == ({"type": 2}, AT)
    assert {row.serves for row in rows[1:]} == {"strong"}


class Says:
    """A model that always says the same."""

    batches = None

    def __init__(self, model_id: str, outcome: str | ModelError) -> None:
        self.model_id = model_id
        self.outcome = outcome
        self.asked = 0

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.asked += 1
        if isinstance(self.outcome, ModelError):
            raise self.outcome
        return ModelReply(self.outcome, self.model_id, Usage(1, 1), 0.0)

    def reachable(self, *, timeout: float) -> str | None:
        return None


def taken(cheap: str | ModelError, strong: str | ModelError) -> tuple[Sample, Says, Says]:
    def judged(text: str) -> Judgment | None:
        said: Mapping[str, str] = json.loads(text)
        return replace(JUDGMENT, **said) if "lie" not in said else None

    small, large = Says("p/small", cheap), Says("p/large", strong)
    request = ModelRequest("note-1", "", "", "judgment", {}, 10)
    found = take_sample(
        "enrichment", request, small, large, judged, pass_version="7f3a", timeout=1, now=NOW
    )
    return found, small, large


def test_both_are_asked_and_compared() -> None:
    found, small, large = taken('{"title": "Another"}', "{}")
    assert (found.outcome, found.differed, small.asked, large.asked) == ("agreed", (), 1, 1)
    assert (found.cheap, found.strong, found.pass_version) == ("p/small", "p/large", "7f3a")
    assert (found.key, found.at) == ("note-1", "2026-03-04T12:00:00Z")
    changed = {"type": "idea", "altitude": "canonical", "memory_class": "semantic"}
    assert taken(json.dumps(changed), "{}")[0].differed == ("type", "altitude", "class")


@pytest.mark.parametrize("cheap", ['{"lie": "1"}', AnswerUnusable("cut off", Usage(1, 1))])
def test_a_cheap_answer_that_can_not_be_used_is_a_difference(cheap: Any) -> None:
    found = taken(cheap, "{}")[0]
    assert (found.outcome, found.differed) == ("differed", ("unusable",))


@pytest.mark.parametrize(
    ("cheap", "strong", "cheap_asked"),
    [
        (ModelUnavailable("busy"), "{}", 1),
        ("{}", ModelUnavailable("busy"), 0),
        ("{}", AnswerUnusable("cut off", Usage(1, 1)), 0),
        ("{}", '{"lie": "1"}', 0),
    ],
)
def test_without_two_answers_there_is_nothing_to_compare(
    cheap: Any, strong: Any, cheap_asked: int
) -> None:
    found, small, _large = taken(cheap, strong)
    assert (found.outcome, small.asked) == ("excluded", cheap_asked)


def test_samples_are_kept_in_the_vault_and_added_once(tmp_path: Path) -> None:
    backend = VaultBackend(tmp_path / "vault", locks_dir=tmp_path / "locks")
    (tmp_path / "vault").mkdir()
    assert read_samples(backend) == []
    first = samples(3, 1)
    append_samples(backend, first)
    append_samples(backend, [*first[2:], sample(9)])
    assert read_samples(backend) == [*first, sample(9)]


def test_lines_that_are_no_samples_are_passed_over_and_stay(tmp_path: Path) -> None:
    backend = VaultBackend(tmp_path / "vault", locks_dir=tmp_path / "locks")
    file = tmp_path / "vault" / str(SAMPLES)
    file.parent.mkdir(parents=True)
    torn = (
        b'\n[]\n{"v":2}\n{"v":1,"job":"x"}\nnull\n'
        + sample(1).line().replace("agreed", "won").encode()
        + b"\n"
        + sample(2).line().encode()[:40]
    )
    file.write_bytes(torn)
    append_samples(backend, [sample(3)])
    assert read_samples(backend) == [sample(3)]
    assert file.read_bytes().startswith(torn + b"\n")
