"""A vault in git with an index, and passes over it."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from model_servers import KEY, Asked, ModelServer

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.rules import LoadedRules, load_rules
from agentm_assets.enrichment.answers import KeptAnswers
from agentm_assets.enrichment.batches import Batches
from agentm_assets.enrichment.enrich import EnrichContext, enrich
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.gates.budget import Budget
from agentm_assets.enrichment.judges import Judge, LocalJudge, vocabulary_of
from agentm_assets.enrichment.ledger_sync import bring_up_to_date
from agentm_assets.enrichment.model_judge import Asker, ModelJudge
from agentm_assets.enrichment.population import Population, population
from agentm_assets.enrichment.report import PassReport
from agentm_assets.enrichment.subject import Trigger
from agentm_assets.history.captures import settle
from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.models.anthropic import AnthropicProvider
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_backend
from agentm_assets.storage.vault import Vault

UNFILED = """---
type: reference
status: unfiled
captured: {captured}
slug: {slug}
title: "{title}"
---
{body}
"""


class Clock:
    """Stands still until it is moved; `ticks` moves it at each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 4, 12, 8, 15, tzinfo=UTC)
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.seconds += seconds

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class House:
    """A vault, its index, and what a run of the pass needs."""

    root: Path
    location: VaultLocation
    backend: StorageBackend
    store: IndexStore
    clock: Clock
    env: dict[str, str]
    runs: int = 0

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return os.fsdecode(done.stdout)

    def write(self, path: str, data: bytes | str) -> str:
        """As an editor would: beside agentm. Returns the path."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def note(
        self,
        slug: str,
        body: str,
        *,
        title: str | None = None,
        captured: str = "2026-03-01T09:00:00Z",
        memory_class: str = "semantic",
    ) -> str:
        """A raw capture. Returns its path."""
        data = UNFILED.format(
            captured=captured, slug=slug, title=title or slug.replace("-", " "), body=body
        )
        year, month = captured[:4], captured[5:7]
        return self.write(f"Agent/memory/{memory_class}/{year}/{month}/{slug}.md", data)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def text(self, path: str) -> str:
        return self.read(path).decode()

    def files(self) -> dict[str, bytes]:
        """Every file but git's."""
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and not file.is_symlink() and ".git" not in file.parts
        }

    def rules(self) -> LoadedRules:
        return load_rules(Vault(self.backend), self.env)

    def index(self) -> None:
        """What an index run does before and after a pass."""
        settle(self.location, self.backend, now=self.clock(), run_id=f"index-{self.runs}")
        reconcile(
            Vault(self.backend),
            self.store,
            self.rules(),
            ReconcileOptions(hash_all=True),
            lock_file=self.location.index_dir / "tables.lock",
            clock=self.clock.now.timestamp,
        )
        publish_facts(self.store, self.location.facts_file)
        bring_up_to_date(self.store, self.location, self.backend)

    def waiting(self, stamp: str, **options: Any) -> Population:
        with self.store.transaction() as connection:
            return population(connection, self.rules(), stamp, **options)

    def extractive(self) -> LocalJudge:
        rules = self.rules()
        with self.store.transaction() as connection:
            return LocalJudge(ExtractiveJudge(rules), vocabulary_of(connection, rules))

    def run(
        self,
        judge: Judge | None = None,
        *,
        trigger: Trigger = "batch",
        budget: tuple[int | None, int | None, float | None] = (None, None, None),
        month: str | None = None,
        only: Sequence[str] | None = None,
        asked_with: dict[str, tuple[str, ...]] | None = None,
        most_notes: int | None = None,
    ) -> PassReport:
        """Index, judge what waits, index again."""
        self.index()
        chosen = judge or self.extractive()
        found = self.waiting(chosen.stamp, month=month, only=only, also_current=chosen.also_current)
        context = self.context(trigger, budget, month, asked_with)
        report = enrich(found, chosen, replace(context, most_notes=most_notes))
        self.index()
        return report

    def context(
        self,
        trigger: Trigger = "batch",
        budget: tuple[int | None, int | None, float | None] = (None, None, None),
        month: str | None = None,
        asked_with: dict[str, tuple[str, ...]] | None = None,
    ) -> EnrichContext:
        self.runs += 1
        return EnrichContext(
            location=self.location,
            backend=self.backend,
            store=self.store,
            rules=self.rules(),
            run_id=f"enrich-run-{self.runs}",
            trigger=trigger,
            budget=Budget(*budget, self.clock.monotonic),
            now=self.clock,
            clock=self.clock.monotonic,
            month=month,
            asked_with=asked_with or {},
        )


def answer(**changed: Any) -> str:
    """What a good model says."""
    fields = {
        "type": "fix",
        "altitude": "canonical",
        "class": "procedural",
        "title": "Stale cache breaks the build",
        "slug": "stale-cache-breaks-the-build",
        "tags": ["build"],
        "aliases": [],
        "summary": None,
        "body": None,
        "confidence": 0.9,
    }
    return json.dumps(fields | changed)


FAITHFUL = json.dumps({"faithful": True, "claim": None})


def well(asked: Asked, **changed: Any) -> str:
    """A model that judges well and finds what it is shown faithful."""
    return FAITHFUL if is_grounding(asked) else answer(**changed)


def is_grounding(asked: Asked) -> bool:
    return asked.schema is not None and "faithful" in asked.schema["properties"]


def judgments(server: ModelServer) -> int:
    """How often a judgment was asked for."""
    return sum(not is_grounding(asked) for asked in server.asked)


def provider_of(server: "ModelServer | At", model: str = "test-model") -> AnthropicProvider:
    waits = Waits()
    return AnthropicProvider(model, KEY, base_url=server.url, price=Price(1, 5), pace=waits.pace)


class Waits:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def sleep(self, seconds: float) -> None:
        self.at += seconds

    @property
    def pace(self) -> Pace:
        return Pace(self.sleep, lambda: self.at, lambda: 0.0, lambda: NOW)


NOW = datetime(2026, 4, 12, 8, 15, tzinfo=UTC)


def model_judge(
    house: House,
    server: "ModelServer | At",
    *,
    trigger: Trigger = "batch",
    by_batch: bool = False,
    **options: Any,
) -> ModelJudge:
    """The pass's judge, asking that server for both tiers."""
    provider = provider_of(server)
    asker = Asker("strong", provider, 30.0)
    kept = KeptAnswers(house.location)
    batches = None
    if by_batch:
        batches = Batches(
            house.location, provider.model_id, provider.batches, kept, timeout=30.0, now=house.clock
        )
    return ModelJudge(asker, asker, kept, trigger, batches=batches, **options)


def reopened(now: str) -> House:
    """The house of the environment, in another process. `now`: seconds since the epoch."""
    location = locate(os.environ)
    clock = Clock()
    clock.now = datetime.fromtimestamp(float(now), UTC)
    store = IndexStore(location.duckdb_file)
    return House(
        location.root, location, open_backend(location), store, clock, dict(os.environ), runs=70
    )


@dataclass
class At:
    """A server that runs elsewhere."""

    url: str


def provider_at(url: str) -> At:
    return At(url)
