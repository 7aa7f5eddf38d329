"""Which judge a run gets: by the configuration, and by what the cheap tier has shown."""

from collections.abc import Iterator
from typing import Any

import pytest
from house import House, answer, is_grounding, provider_of, well
from model_servers import Asked, Busy, ModelServer, anthropic_server

from agentm_assets.enrichment.judges import Judge
from agentm_assets.evaluation.judging import NoJudge, open_judge
from agentm_assets.evaluation.qualification import SAMPLES, read_samples
from agentm_assets.evaluation.serving_stamp import serving
from agentm_assets.models.protocol import Tier
from agentm_assets.models.tiers import NOT_CONFIGURED, Tiers


@pytest.fixture
def strong() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = says
        yield running


@pytest.fixture
def cheap() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = says
        yield running


def says(asked: Asked, **changed: Any) -> str:
    if is_grounding(asked):
        return well(asked)
    case = asked.user.rpartition("Case ")[2].partition(".")[0]
    return answer(**{"title": f"Case {case}", "slug": f"case-{case}", **changed})


def open_one(house: House, tiers: Tiers, **options: Any) -> Judge | NoJudge:
    return open_judge(
        tiers,
        tiers.provider,
        house.extractive,
        house.location,
        house.backend,
        "batch",
        house.clock,
        **options,
    )


def two(cheap: ModelServer, strong: ModelServer) -> Tiers:
    timeouts: dict[Tier, float] = {"cheap": 30.0, "strong": 30.0}
    models = provider_of(cheap, "small"), provider_of(strong, "large")
    return Tiers(*models, (), timeouts, {})


def captures(house: House, first: int, last: int) -> None:
    for number in range(first, last):
        house.note(f"note-{number}", f"The build broke on a stale cache. Case {number}.")


def run(house: House, tiers: Tiers, **options: Any) -> Judge:
    judge = open_one(house, tiers, **options)
    assert not isinstance(judge, NoJudge)
    assert_foreseen(house, tiers, judge)
    house.run(judge)
    return judge


def test_without_a_model_the_extractive_judge_files(house: House) -> None:
    judge = open_one(house, Tiers(None, None, (NOT_CONFIGURED,), {}, {}))
    assert not isinstance(judge, NoJudge)
    assert not judge.is_generative and judge.stamp.startswith("extractive-")


def test_a_model_that_is_configured_and_not_to_be_had_keeps_notes_waiting(house: House) -> None:
    judge = open_one(house, Tiers(None, None, ("strong: there is no key.",), {"strong": 9.0}, {}))
    assert judge == NoJudge("strong: there is no key.")


def test_one_model_for_both_serves_without_samples(house: House, strong: ModelServer) -> None:
    provider = provider_of(strong)
    tiers = Tiers(provider, provider, (), {"cheap": 9.0, "strong": 9.0}, {})
    captures(house, 0, 2)
    judge = run(house, tiers)
    assert judge.stamp.startswith("anthropic/test-model+")
    assert len(strong.asked) == 4
    assert {tier: used.calls for tier, used in judge.usage().items()} == {"strong": 4}, (
        "one model has one line"
    )
    assert not house.backend.exists(SAMPLES)


def test_the_cheap_tier_is_compared_and_serves_alone_when_it_agrees(
    house: House, cheap: ModelServer, strong: ModelServer
) -> None:
    tiers = two(cheap, strong)
    captures(house, 0, 25)
    judge = run(house, tiers)
    assert judge.stamp.startswith("anthropic/large+")
    assert len(strong.asked) == 25, "each is asked once, though it is compared, too"
    assert len(read_samples(house.backend)) == 25
    assert house.git("status", "--porcelain") == "", "samples are committed"
    captures(house, 25, 27)
    before = len(strong.asked)
    judge = run(house, tiers)
    assert judge.stamp.startswith("anthropic/small+")
    assert len(strong.asked) == before
    assert judge.usage()["cheap"].calls == 4, "what the strong tier judged is not judged anew"
    house.clock.pass_by(91 * 86_400)
    judge = run(house, tiers)
    assert judge.stamp.startswith("anthropic/large+"), "samples are too old"
    assert len(strong.asked) == before, "nor what the cheap one judged while it served"
    waiting = house.waiting(judge.stamp, also_current=judge.also_current)
    assert waiting.items == () and waiting.eligible == 27


def assert_foreseen(house: House, tiers: Tiers, judge: Judge) -> None:
    """What counts stale notes without a judge has the same stamps as the judge."""
    found = serving(tiers, house.backend, house.clock())
    assert found is not None
    assert (found.stamp, found.also_current) == (judge.stamp, judge.also_current)


def test_a_cheap_tier_that_judges_otherwise_does_not_serve(
    house: House, cheap: ModelServer, strong: ModelServer
) -> None:
    cheap.answer = lambda asked: says(asked, type="idea")
    captures(house, 0, 26)
    run(house, two(cheap, strong))
    judge = open_one(house, two(cheap, strong))
    assert not isinstance(judge, NoJudge) and judge.stamp.startswith("anthropic/large+")


def test_a_cheap_tier_that_can_not_be_reached_has_not_disagreed(
    house: House, cheap: ModelServer, strong: ModelServer
) -> None:
    cheap.answer = lambda asked: well(asked) if is_grounding(asked) else Busy(500)
    captures(house, 0, 3)
    judge = run(house, two(cheap, strong))
    assert [sample.outcome for sample in read_samples(house.backend)] == ["excluded"] * 3
    assert judge.usage()["strong"].calls == 3


def test_by_batch_only_the_comparison_is_asked_at_once(
    house: House, cheap: ModelServer, strong: ModelServer
) -> None:
    captures(house, 0, 3)
    run(house, two(cheap, strong), by_batch=True)
    assert strong.asked == cheap.asked == []
    strong.finish()
    run(house, two(cheap, strong), by_batch=True)
    assert len(strong.asked) == 3 and all(asked.in_batch for asked in strong.asked)
    assert len(read_samples(house.backend)) == 3
