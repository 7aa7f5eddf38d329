"""A backfill in this process: what `agentm backfill` does, visible as runs in the UI.

First one eager run brings the index in line and judges what nobody has judged; then each month of
stale notes has a run of its own, the month of the oldest judgment first. A backfill that is ended
goes on where it was: what is judged carries its stamp.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg
from dagster import DagsterInstance

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.assets.notes import CAPTURE_MONTH
from agentm_assets.enrichment.assets.work import STALE, UNJUDGED
from agentm_assets.enrichment.plan import FREE, Estimate, estimate, months_of
from agentm_assets.enrichment.population import Population, population
from agentm_assets.evaluation.serving_stamp import Serving, serving
from agentm_assets.index.assets.run import (
    CLI_TAGS,
    first_error,
    numbers_of,
    run_config,
    turn_of_the_command_line,
)
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import pending_changes
from agentm_assets.models.prices import Price, price_of
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.selection import open_backend, open_vault
from resources.models import ModelsResource
from resources.workspace import WorkspaceResource

Numbers = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a backfill would do. `judge`: the stamp of who would judge, None while nobody can; `why`
    says then what is missing. `unjudged` and `stale`: notes by month of capture, the month of the
    oldest judgment first. `held`: notes by the code of the gate that stopped them as they are; they
    are in neither. `not_indexed`: changed files that the index has not seen; the backfill begins
    with them. `asks_model`: whether it is a model that judges. `sent`: about what a model would
    take for all of the notes that are counted."""

    judge: str | None
    why: tuple[str, ...]
    unjudged: Mapping[str, int]
    stale: Mapping[str, int]
    awaiting_model: int
    held: Mapping[str, int]
    not_indexed: int
    asks_model: bool
    sent: Estimate


@dataclass(frozen=True, slots=True)
class MonthRun:
    """One run. `month` None: the notes that nobody had judged, of all months. `numbers` are the
    metadata of the asset; empty when the run failed, and `error` says why."""

    month: str | None
    run_id: str
    error: str | None
    numbers: Numbers


def plan_backfill(
    workspace: WorkspaceResource, models: ModelsResource, rules: LoadedRules, month: str | None
) -> Plan:
    """Looks, asks nobody and writes nothing. Raises StorageError and what an index raises."""
    tiers = models.open()
    location = workspace.settings().location
    backend = open_backend(location)
    judge = serving(tiers, backend, datetime.now(UTC))
    not_indexed = _not_indexed(location)
    if judge is None:
        return Plan(None, tiers.why, {}, {}, 0, {}, not_indexed, True, FREE)
    found = _population(workspace, rules, judge, month)
    items = [each for each in found.items if not each.is_held]
    sent = FREE
    if tiers.is_configured:
        by_batch = _has_batches(tiers, judge.stamp)
        price = _price(workspace, tiers, judge.stamp)
        sent = estimate(items, backend, rules, price, in_batch=by_batch)
    return Plan(
        judge=judge.stamp,
        why=(),
        unjudged=months_of(items, UNJUDGED),
        stale=months_of(items, STALE),
        awaiting_model=found.awaiting_model,
        held=Counter(each.stopped_by for each in found.items if each.is_held and each.stopped_by),
        not_indexed=not_indexed,
        asks_model=tiers.is_configured,
        sent=sent,
    )


def run_backfill(
    definitions: dg.Definitions,
    workspace: WorkspaceResource,
    models: ModelsResource,
    month: str | None,
    *,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[MonthRun]:
    """Do it, run by run. Ends with the first run that fails; never raises for one."""
    with turn_of_the_command_line(workspace, on_wait) as instance:
        first = _eager(definitions, instance, month)
        yield first
        if first.error is not None:
            return
        judge = serving(
            models.open(), open_backend(workspace.settings().location), datetime.now(UTC)
        )
        rules = workspace.rules_or_none()
        if judge is None or rules is None:
            return
        found = _population(workspace, rules, judge, month)
        for each in months_of(found.items, STALE):
            done = _month(definitions, instance, each)
            yield done
            if done.error is not None:
                return


def _eager(definitions: dg.Definitions, instance: DagsterInstance, month: str | None) -> MonthRun:
    result = definitions.resolve_job_def("index_changes").execute_in_process(
        instance=instance,
        run_config=run_config({"enriched_notes": {"pace": "batch", "month": month}}),
        tags=CLI_TAGS,
        raise_on_error=False,
    )
    return _outcome(result, "enriched_notes", None)


def _month(definitions: dg.Definitions, instance: DagsterInstance, month: str) -> MonthRun:
    partitions = str(CAPTURE_MONTH.name)
    if month not in instance.get_dynamic_partitions(partitions):
        instance.add_dynamic_partitions(partitions, [month])
    result = definitions.resolve_job_def("reenrich").execute_in_process(
        instance=instance,
        partition_key=month,
        run_config=run_config({}),
        tags=CLI_TAGS,
        raise_on_error=False,
    )
    return _outcome(result, "reenriched_notes", month)


def _outcome(result: dg.ExecuteInProcessResult, asset: str, month: str | None) -> MonthRun:
    numbers: dict[str, int | float | str] = {}
    for event in result.get_asset_materialization_events():
        if event.asset_key == dg.AssetKey(asset):
            numbers = numbers_of(event)
    return MonthRun(month, result.run_id, first_error(result), numbers)


def _population(
    workspace: WorkspaceResource, rules: LoadedRules, judge: Serving, month: str | None
) -> Population:
    with workspace.store().transaction() as connection:
        return population(
            connection, rules, judge.stamp, month=month, also_current=judge.also_current
        )


def _not_indexed(location: VaultLocation) -> int:
    with FactsReader.open(location.facts_file) as facts:
        scan = open_vault(location).scan()
        return len(pending_changes(scan, facts.manifest(), facts.attachments()).changed)


def _has_batches(tiers: Tiers, stamp: str) -> bool:
    provider = next(
        (p for p in (tiers.cheap, tiers.strong) if p and stamp.startswith(f"{p.model_id}+")), None
    )
    return provider is not None and provider.batches is not None


def _price(workspace: WorkspaceResource, tiers: Tiers, stamp: str) -> Price | None:
    """Of the model that would judge, as the configuration or the price list has it."""
    model_id = stamp.rpartition("+")[0]
    table = workspace.settings().models
    for tier, provider in ((table.strong, tiers.strong), (table.cheap, tiers.cheap)):
        if tier is None or provider is None or provider.model_id != model_id:
            continue
        if tier.input_price is not None and tier.output_price is not None:
            return Price(tier.input_price, tier.output_price)
    return price_of(model_id)
