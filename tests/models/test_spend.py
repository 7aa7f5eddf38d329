"""What is entered for each call, what it adds up to, and the line over which nothing is asked."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from asking import NOW, Waits, question
from model_servers import KEY, Busy, OpenAIServer, Stop, openai_server

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.models.metered import MeteredProvider
from agentm_assets.models.openai_compatible import OpenAICompatibleProvider
from agentm_assets.models.prices import PRICES, Price, price_of
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelMisconfigured,
    ModelReply,
    ModelUnavailable,
    Usage,
)
from agentm_assets.models.spend import LOG, DailyLine, OverTheLine, SpendLog, Spent

DAY = date(2026, 3, 4)


@pytest.fixture
def location(tmp_path: Path) -> VaultLocation:
    (tmp_path / "vault").mkdir()
    return locate({"HOME": str(tmp_path), "AGENTM_VAULT": str(tmp_path / "vault")})


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def reply(tokens: int = 100, cost: float | None = 0.5) -> ModelReply:
    return ModelReply("{}", "served-as", Usage(tokens, 0, cost), 1.23456)


def enter(log: SpendLog, outcome: object = None, tier: str = "cheap", now: datetime = NOW) -> None:
    log.record(tier, outcome or reply(), model_id="p/m", pass_name="x", run_id="r", now=now)  # type: ignore[arg-type]


def metered(
    server: OpenAIServer, log: SpendLog, price: Price | None = None, now: datetime = NOW
) -> MeteredProvider:
    provider = OpenAICompatibleProvider(
        "m", KEY, base_url=server.url, has_batches=True, price=price, pace=Waits().pace
    )
    return MeteredProvider(provider, "strong", log, pass_name="p", run_id="r", now=lambda: now)


def test_a_line_says_who_asked_whom_and_what_it_took(
    location: VaultLocation, server: OpenAIServer
) -> None:
    metered(server, SpendLog(location), Price(1, 5)).ask(question(), timeout=10)
    line = json.loads((location.log_dir / LOG).read_text())
    assert line | {"seconds": 0} == {
        "at": "2026-03-04T12:00:00Z",
        "tier": "strong",
        "model": "openai-compatible/m",
        "served": "m",
        "pass": "p",
        "run": "r",
        "outcome": "reply",
        "batch": False,
        "input_tokens": 1000,
        "output_tokens": 200,
        "cost": 0.002,
        "seconds": 0,
    }


def test_every_way_a_call_ends_is_entered(location: VaultLocation, server: OpenAIServer) -> None:
    provider = metered(server, SpendLog(location))
    server.trouble += [Stop("length"), Busy(401), *[Busy(500)] * 4]
    for error in (AnswerUnusable, ModelMisconfigured, ModelUnavailable):
        with pytest.raises(error):
            provider.ask(question(), timeout=60)
    lines = [json.loads(each) for each in (location.log_dir / LOG).read_text().split("\n") if each]
    assert [each["outcome"] for each in lines] == ["unusable", "misconfigured", "unavailable"]
    assert [each["input_tokens"] for each in lines] == [1000, 0, 0]


def test_a_name_that_a_server_makes_up_is_not_entered(location: VaultLocation) -> None:
    log = SpendLog(location)
    enter(log, ModelReply("{}", "a text with blanks", Usage(1, 1), 0))
    enter(log, ModelReply("{}", "x" * 500, Usage(1, 1), 0))
    for each in (location.log_dir / LOG).read_text().split("\n"):
        assert not each or json.loads(each)["served"] == ""


def test_totals_are_by_day_and_tier(location: VaultLocation) -> None:
    log = SpendLog(location)
    enter(log, now=NOW - timedelta(days=2))
    enter(log, now=NOW - timedelta(days=1))
    enter(log)
    enter(log, reply(cost=None))
    enter(log, ModelUnavailable("busy"))
    enter(log, AnswerUnusable("cut", Usage(7, 3, 0.25)), tier="strong")
    assert log.totals(DAY - timedelta(days=1)) == {
        (DAY - timedelta(days=1), "cheap"): Spent(1, 0, 0, 100, 0, 0.5),
        (DAY, "cheap"): Spent(2, 1, 1, 200, 0, 0.5),
        (DAY, "strong"): Spent(1, 0, 0, 7, 3, 0.25),
    }
    assert log.spent_today("cheap", NOW) == Spent(2, 1, 1, 200, 0, 0.5)
    assert SpendLog(location).totals(DAY + timedelta(days=1)) == {}


def test_what_is_spent_today_stands_beside_the_line(location: VaultLocation) -> None:
    log = SpendLog(location, {"strong": DailyLine(usd=2.0, tokens=5_000), "cheap": DailyLine()})
    enter(log, now=NOW - timedelta(days=1))
    enter(log)
    enter(log, reply(1_200, 0.75), tier="strong")
    cheap, strong = log.today(NOW)
    assert (cheap.text, strong.text) == (
        "cheap: 100 tokens, $0.50",
        "strong: 1,200 of 5,000 tokens, $0.75 of $2.00",
    )
    enter(log, reply(cost=None))
    assert log.today(NOW)[0].text.endswith("(calls without a price: 1)")
    assert SpendLog(location).today(NOW) == (), "nothing is configured"


def test_torn_and_strange_lines_count_for_nothing(location: VaultLocation) -> None:
    log = SpendLog(location)
    enter(log)
    with (location.log_dir / LOG).open("ab") as file:
        file.write(
            b'{"at": "2026-03-04T1\n{"at": "2026-99-99"}\n[]\n{"at": "2026-03-04", "tier": 7}\n'
        )
        file.write(b'{"at": "2026-03-04T13", "tier": "cheap", "outcome": "reply", "cost": "1"}\n')
    assert log.totals(DAY) == {(DAY, "cheap"): Spent(2, 0, 1, 100, 0, 0.5)}


def test_days_are_utc(location: VaultLocation) -> None:
    log = SpendLog(location)
    enter(log, now=datetime(2026, 3, 5, 1, tzinfo=timezone(timedelta(hours=2))))
    assert list(log.totals(DAY)) == [(DAY, "cheap")]


def test_over_the_line_nothing_is_asked_until_the_next_day(
    location: VaultLocation, server: OpenAIServer
) -> None:
    log = SpendLog(location, {"strong": DailyLine(tokens=2000)})
    provider = metered(server, log)
    provider.ask(question(), timeout=10)
    provider.ask(question(), timeout=10)
    with pytest.raises(OverTheLine, match=r"strong tier has used 2,400 tokens .* line is 2,000"):
        provider.ask(question(), timeout=10)
    held = provider.batches
    assert held is not None
    with pytest.raises(OverTheLine):
        held.submit([question()], timeout=10)
    assert len(server.requests) == 2
    metered(server, log, now=NOW + timedelta(hours=12)).ask(question(), timeout=10)
    with pytest.raises(OverTheLine):
        metered(server, SpendLog(location, {"strong": DailyLine(tokens=2000)})).ask(
            question(), timeout=10
        )


def test_a_line_in_dollars_counts_what_other_processes_spent(
    location: VaultLocation, server: OpenAIServer
) -> None:
    log = SpendLog(location, {"strong": DailyLine(usd=1.0)})
    provider = metered(server, log, Price(1, 5))
    provider.ask(question(), timeout=10)
    enter(SpendLog(location), reply(cost=0.999), tier="strong")
    with pytest.raises(OverTheLine, match=r"\$1\.00 today"):
        provider.ask(question(), timeout=10)
    assert len(server.requests) == 1


def test_the_other_tiers_spending_does_not_count(
    location: VaultLocation, server: OpenAIServer
) -> None:
    log = SpendLog(location, {"strong": DailyLine(tokens=100)})
    enter(log, tier="cheap")
    metered(server, log).ask(question(), timeout=10)


def test_a_batch_is_entered_when_its_results_are_read(
    location: VaultLocation, server: OpenAIServer
) -> None:
    log = SpendLog(location)
    batches = metered(server, log, Price(1, 5)).batches
    assert batches is not None
    batch_id = batches.submit([question("a"), question("b")], timeout=10)
    assert log.totals(DAY) == {}
    server.finish()
    assert len(list(batches.results(batch_id, timeout=10))) == 2
    assert log.totals(DAY)[DAY, "strong"].cost == pytest.approx(0.002)
    assert '"batch": true' in (location.log_dir / LOG).read_text()
    assert batches.find(["a", "b"], since=NOW, timeout=10) == batch_id


def test_a_log_that_was_put_away_is_begun_anew(location: VaultLocation) -> None:
    log = SpendLog(location)
    for _ in range(3):
        enter(log)
    assert log.spent_today("cheap", NOW).calls == 3
    (location.log_dir / LOG).rename(location.log_dir / "old")
    enter(log)
    assert log.spent_today("cheap", NOW).calls >= 1


def test_what_can_not_be_counted_is_not_asked(
    location: VaultLocation, server: OpenAIServer
) -> None:
    log = SpendLog(location, {"strong": DailyLine(tokens=100)})
    (location.log_dir / LOG).mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        metered(server, log).ask(question(), timeout=10)
    assert server.requests == []


def test_prices_are_found_under_a_name_with_a_date() -> None:
    assert price_of("anthropic/claude-haiku-4-5-20251001") == PRICES["anthropic/claude-haiku-4-5"]
    assert price_of("anthropic/claude-haiku-99") is None
    assert price_of("openai-compatible/claude-haiku-4-5") is None
    assert Price(2, 10).of(1_000_000, 100_000, in_batch=False) == 3
    assert Price(2, 10).of(1_000_000, 100_000, in_batch=True) == 1.5


def test_the_wall_clock_of_the_log_is_the_callers() -> None:
    assert NOW.tzinfo is UTC
