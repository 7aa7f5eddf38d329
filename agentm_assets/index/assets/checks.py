"""Asset checks that run apart from the steps they judge: on demand, hourly or at night."""

import tempfile
from pathlib import Path

import dagster as dg
from dagster import MetadataValue

from agentm_assets.contract.rules import RulesError
from agentm_assets.index.assets.sources import RULES_JUDGMENT
from agentm_assets.index.digests import table_digests
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalPublisher
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.store import IndexStore, get_meta
from resources.workspace import WorkspaceResource


@dg.asset_check(
    asset=RULES_JUDGMENT,
    name="rules_parse",
    blocking=True,
    description="standards/storage-rules.md can be read; while it can't, nothing is filed.",
)
def rules_parse(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    try:
        rules = workspace.rules()
    except RulesError as error:
        return dg.AssetCheckResult(
            passed=False,
            severity=dg.AssetCheckSeverity.ERROR,
            metadata={"problem": MetadataValue.md(f"```\n{error}\n```")},
        )
    return dg.AssetCheckResult(
        passed=True, metadata={"rules_hash": rules.rules_hash, "source": str(rules.path)}
    )


@dg.asset_check(
    asset="notes",
    name="rebuild_identity",
    description="An index built from nothing holds row for row what this one holds.",
)
def rebuild_identity(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    location = workspace.settings().location
    with tempfile.TemporaryDirectory(prefix="agentm-rebuild-") as scratch:
        fresh = IndexStore(Path(scratch) / "index.duckdb")
        reconcile(
            workspace.open_vault(),
            fresh,
            workspace.rules_or_none(),
            ReconcileOptions(),
            lock_file=Path(scratch) / "tables.lock",
        )
        with fresh.transaction() as connection:
            wanted = table_digests(connection)
    with IndexStore(location.duckdb_file).transaction() as connection:
        here = table_digests(connection)
    differing = sorted(name for name in wanted if wanted[name] != here[name])
    return dg.AssetCheckResult(
        passed=not differing,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"differing": MetadataValue.json(differing), "digests": MetadataValue.json(here)},
    )


@dg.asset_check(
    asset="lexical_index",
    name="serving_in_line",
    description="The serving files hold the same index and revision as the tables.",
)
def serving_in_line(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    location = workspace.settings().location
    with workspace.store().transaction() as connection:
        wanted = (get_meta(connection, "index_id"), int(get_meta(connection, "rev") or 0))
    behind: dict[str, str] = {}
    try:
        with FactsReader.open(location.facts_file) as facts:
            meta = facts.meta
        if (meta["index_id"], int(meta["rev"])) != wanted:
            behind["facts"] = f"revision {meta['rev']}"
    except ServingUnreadable as error:
        behind["facts"] = str(error)
    state = LexicalPublisher(location.lexical_dir).state()
    if state is None or (state.index_id, state.rev) != wanted:
        behind["lexical"] = "missing" if state is None else f"revision {state.rev}"
    return dg.AssetCheckResult(
        passed=not behind,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"behind": MetadataValue.json(behind), "revision": wanted[1]},
    )


CHECKS = [rules_parse, rebuild_identity, serving_in_line]
