"""What models cost on this machine: `log/spend.jsonl`, one line a call, and a tier's daily line.

A line names the tier, the model, the pass and the run, what was used and how it ended. It holds
nothing of what was asked or answered. Days are UTC.
"""

import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from agentm_assets.capture.files import append_line
from agentm_assets.config.vault import VaultLocation
from agentm_assets.models.answers import count, parsed_json
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelUnavailable,
    Tier,
    Usage,
)

LOG = "spend.jsonl"
_BEGIN = b'{"at": "'
_NAME_MOST = 120


class OverTheLine(ModelUnavailable):
    """The tier has spent what it may spend on that day."""


@dataclass(frozen=True, slots=True)
class DailyLine:
    """What a tier may spend on a day; None: as much as it takes."""

    usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """`calls` that were answered or refused an answer, `failed` ones that cost nothing we know of,
    `unpriced` ones whose cost nobody knows; `cost` in US dollars is that of the others."""

    calls: int = 0
    failed: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, line: Mapping[str, Any]) -> "Spent":
        if line.get("outcome") not in ("reply", "unusable"):
            return Spent(
                self.calls,
                self.failed + 1,
                self.unpriced,
                self.input_tokens,
                self.output_tokens,
                self.cost,
            )
        cost = line.get("cost")
        priced = isinstance(cost, int | float) and not isinstance(cost, bool)
        return Spent(
            self.calls + 1,
            self.failed,
            self.unpriced + (not priced),
            self.input_tokens + count(line, "input_tokens"),
            self.output_tokens + count(line, "output_tokens"),
            self.cost + (float(cost) if priced and cost is not None else 0.0),
        )


@dataclass(frozen=True, slots=True)
class TodaysSpend:
    """What a tier has spent today (UTC) against its line."""

    tier: Tier
    spent: Spent
    line: DailyLine

    @property
    def text(self) -> str:
        """One line for the operator."""
        tokens = f"{self.spent.tokens:,}"
        if self.line.tokens is not None:
            tokens += f" of {self.line.tokens:,}"
        cost = f"${self.spent.cost:.2f}"
        if self.line.usd is not None:
            cost += f" of ${self.line.usd:.2f}"
        said = f"{self.tier}: {tokens} tokens, {cost}"
        return (
            f"{said} (calls without a price: {self.spent.unpriced:,})"
            if self.spent.unpriced
            else said
        )


class SpendLog:
    """The log of one vault. Thread-safe; several processes may write it."""

    def __init__(
        self, location: VaultLocation, lines: Mapping[Tier, DailyLine] | None = None
    ) -> None:
        self._file = location.log_dir / LOG
        self._lines = dict(lines or {})
        self._lock = threading.Lock()
        self._read_to = 0
        self._day = date.min
        self._today: defaultdict[str, Spent] = defaultdict(Spent)

    def record(
        self,
        tier: Tier,
        outcome: ModelReply | ModelError,
        *,
        model_id: str = "",
        pass_name: str,
        run_id: str,
        now: datetime,
        in_batch: bool = False,
    ) -> None:
        """Enter one call. Raises OSError: what can't be entered can't be counted, so no further
        call may be made."""
        usage, kind, seconds = _facts(outcome)
        served = outcome.model if isinstance(outcome, ModelReply) else ""
        line = {
            "at": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tier": tier,
            "model": model_id[:_NAME_MOST],
            "served": _plain(served),
            "pass": pass_name[:_NAME_MOST],
            "run": run_id[:_NAME_MOST],
            "outcome": kind,
            "batch": in_batch,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost": usage.cost,
            "seconds": round(seconds, 3),
        }
        append_line(self._file, json.dumps(line))

    def totals(self, since: date) -> dict[tuple[date, Tier], Spent]:
        """What was spent on each day and tier from `since` on. Raises OSError."""
        found: defaultdict[tuple[date, Tier], Spent] = defaultdict(Spent)
        for day, line in _parsed(self._data(0)[0], since):
            tier = line.get("tier")
            if tier in ("cheap", "strong"):
                found[day, tier] = found[day, tier].plus(line)
        return dict(sorted(found.items()))

    def spent_today(self, tier: Tier, now: datetime) -> Spent:
        """What the tier has spent on the day of `now`, by every process. Raises OSError."""
        day = now.astimezone(UTC).date()
        with self._lock:
            if day != self._day:
                self._day, self._read_to = day, 0
                self._today.clear()
            data, self._read_to = self._data(self._read_to)
            for on, line in _parsed(data, day):
                if on == day:
                    self._today[str(line.get("tier"))] = self._today[str(line.get("tier"))].plus(
                        line
                    )
            return self._today[tier]

    def today(self, now: datetime) -> tuple[TodaysSpend, ...]:
        """The tiers that have been given a line or none, on the day of `now`. Raises OSError."""
        return tuple(
            TodaysSpend(tier, self.spent_today(tier, now), line)
            for tier, line in sorted(self._lines.items())
        )

    def require_below_line(self, tier: Tier, now: datetime) -> None:
        """Raises OverTheLine when the tier has spent what it may on that day, and OSError."""
        line = self._lines.get(tier)
        if line is None or (line.usd is None and line.tokens is None):
            return
        spent = self.spent_today(tier, now)
        if line.tokens is not None and spent.tokens >= line.tokens:
            raise OverTheLine(
                f"the {tier} tier has used {spent.tokens:,} tokens today (UTC), its line is "
                f"{line.tokens:,}. It goes on tomorrow; or raise models.{tier}.daily_tokens."
            )
        if line.usd is not None and spent.cost >= line.usd:
            raise OverTheLine(
                f"the {tier} tier has spent ${spent.cost:.2f} today (UTC), its line is "
                f"${line.usd:.2f}. It goes on tomorrow; or raise models.{tier}.daily_usd."
            )

    def _data(self, start: int) -> tuple[bytes, int]:
        """The whole lines from `start` on, and where they end."""
        try:
            handle = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return b"", 0
        with os.fdopen(handle, "rb") as file:
            if start > os.fstat(handle).st_size:
                start = 0  # the log was put away, and a new one begun
            file.seek(start)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        return data[:whole], start + whole


def _parsed(data: bytes, since: date) -> Iterator[tuple[date, Mapping[str, Any]]]:
    """The entries from a day on. Only their lines are parsed: a log of years has many others."""
    first = since.isoformat().encode()
    at = len(_BEGIN)
    for raw in data.split(b"\n"):
        if not raw.startswith(_BEGIN) or raw[at : at + 10] < first:
            continue
        line = parsed_json(raw)  # None where a full disk tore it
        if not isinstance(line, dict):
            continue
        try:
            day = date.fromisoformat(str(line["at"])[:10])
        except ValueError:
            continue
        yield day, line


def _facts(outcome: ModelReply | ModelError) -> tuple[Usage, str, float]:
    if isinstance(outcome, ModelReply):
        return outcome.usage, "reply", outcome.seconds
    if isinstance(outcome, AnswerUnusable):
        return outcome.usage, "unusable", 0.0
    kind = "misconfigured" if isinstance(outcome, ModelMisconfigured) else "unavailable"
    return Usage(0, 0), kind, 0.0


def _plain(name: str) -> str:
    """A model's name as a server told it, if it can be one: a server may say anything there."""
    fine = len(name) <= _NAME_MOST and all(c.isalnum() or c in "-_.:/@+" for c in name)
    return name if fine else ""
