"""The index group of the asset graph: thin steps around the domain functions of this room.

One op brings all tables in line in one go (an op costs 0.15 to 0.3 s of event writing), then the
vectors are computed and the serving files published.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import dagster as dg
from dagster import AssetSpec, MaterializeResult, MetadataValue

from agentm_assets.capture.passes import after_facts, after_vectors, before_walk
from agentm_assets.contract.spaces import SPACES
from agentm_assets.history.captures import commit_new, settle
from agentm_assets.index.assets.metadata import (
    chunks_embedded,
    column_schema,
    conformance,
    embedder_reachable,
    published_metadata,
    report_metadata,
    row_count,
    summary,
)
from agentm_assets.index.assets.versions import (
    OFF,
    TABLES,
    embeddings_version,
    lexical_version,
    table_versions,
    vector_version,
)
from agentm_assets.index.embed import embed_pending
from agentm_assets.index.integrity import broken_rules
from agentm_assets.index.publish import publish_facts, publish_lexical, publish_vectors
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.storage.selection import open_backend
from resources.embedder import EmbedderResource
from resources.progress import ProgressReporter
from resources.workspace import WorkspaceResource

GROUP = "index"
OWNERS = ["team:operator"]
POOL = "index"
CODE_VERSION = "1"
"""Raise it by hand when the code gives other results for the same vault. Never holds a rules hash:
that would need a reload of the code location."""

FRESH = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(hours=26), warn_window=timedelta(hours=3)
)
"""The hourly reconcile materialises everything: three hours without it means that it hangs."""

_DESCRIPTIONS = {
    "notes": "One row a note of the vault: where it lies, what its frontmatter says, its hashes.",
    "chunks": "Sections of the notes, with heading path and byte offsets: the unit of recall.",
    "backlinks": "Every link with the note it leads to; read backwards it gives backlinks.",
    "entities": "Issues, repositories, commits, people and URLs that notes mention, by URI.",
    "aliases": "Names under which a note can be asked for, written or derived.",
}


class IndexTablesConfig(dg.Config):
    """What one run of the tables does. See ReconcileOptions."""

    full: bool = False
    hash_all: bool = False
    limit: int | None = None
    accept_deletions: bool = False


def _spec(name: str, deps: Sequence[str], kinds: set[str], description: str) -> AssetSpec:
    return AssetSpec(
        name,
        deps=deps,
        description=description,
        group_name=GROUP,
        owners=OWNERS,
        kinds=kinds,
        code_version=CODE_VERSION,
        freshness_policy=FRESH,
    )


TABLE_SPECS = [
    _spec(name, SPACES if name == "notes" else ["notes"], {"duckdb"}, _DESCRIPTIONS[name])
    for name in TABLES
]

CONFORMANCE = dg.AssetCheckSpec(
    "contract_conformance",
    asset="notes",
    description="Files that could not be read as they stand, or that break the filing contract.",
)
INTEGRITY = dg.AssetCheckSpec(
    "index_integrity",
    asset="notes",
    description="No doubled rows, no row without its note, no link to a note that is gone.",
)


@dg.multi_asset(
    name="index_tables",
    specs=TABLE_SPECS,
    check_specs=[CONFORMANCE, INTEGRITY],
    pool=POOL,
)
def index_tables(
    context: dg.AssetExecutionContext,
    config: IndexTablesConfig,
    workspace: WorkspaceResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    location = workspace.settings().location
    store = workspace.store()
    backend, now = open_backend(location), datetime.now().astimezone()
    loaded = workspace.rules_or_none()
    rules_hash = loaded.rules_hash if loaded else None
    # The raw capture is committed before anything may rewrite it.
    history = settle(location, backend, now=now, run_id=context.run_id, rules_hash=rules_hash)
    captured = before_walk(location, backend, now)
    history = commit_new(history, location, backend, run_id=context.run_id, rules_hash=rules_hash)
    report = reconcile(
        workspace.open_vault(),
        store,
        loaded,
        ReconcileOptions(config.full, config.hash_all, config.limit, config.accept_deletions),
        lock_file=location.index_dir / "tables.lock",
        on_progress=progress.for_run(context),
    )
    facts = publish_facts(store, location.facts_file)
    if not report.deferred:
        after_facts(location, captured)
    with store.transaction() as connection:
        versions = table_versions(connection)
        broken = broken_rules(connection)
        rows = {name: row_count(connection, source) for name, source in TABLES.items()}
        schemas = {name: column_schema(connection, source) for name, source in TABLES.items()}
    context.log.info(summary(report))
    context.log.info(f"git: {history.text}")
    for name in TABLES:
        yield MaterializeResult(
            asset_key=name,
            data_version=dg.DataVersion(versions[name]),
            metadata={
                "dagster/row_count": rows[name],
                "dagster/column_schema": schemas[name],
                "dagster/table_name": TABLES[name],
                **(report_metadata(report, facts, history) if name == "notes" else {}),
            },
        )
    yield conformance(report)
    yield dg.AssetCheckResult(
        check_name=INTEGRITY.name,
        asset_key="notes",
        passed=not broken,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"broken": MetadataValue.json(broken)},
    )


@dg.asset(
    deps=["chunks"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"onnx"},
    code_version=CODE_VERSION,
    freshness_policy=FRESH,
    description="A vector for every distinct text of a chunk, found again by the text's hash.",
    check_specs=[
        dg.AssetCheckSpec(
            "embedder_reachable",
            asset="embeddings",
            description="The model answers: one sentence was embedded in this run.",
        ),
        dg.AssetCheckSpec(
            "chunks_embedded",
            asset="embeddings",
            description="At most 5% of the chunks lack a vector of the current model.",
        ),
    ],
)
def embeddings(
    context: dg.AssetExecutionContext,
    workspace: WorkspaceResource,
    embedder: EmbedderResource,
    progress: dg.ResourceParam[ProgressReporter],
) -> Iterator[MaterializeResult[None] | dg.AssetCheckResult]:
    location = workspace.settings().location
    store = workspace.store()
    model = embedder.open()
    if model is None:
        yield MaterializeResult(
            data_version=dg.DataVersion(OFF),
            metadata={"did": "nothing: embedding is switched off, recall is lexical"},
        )
        yield embedder_reachable(False, "switched off")
        yield chunks_embedded(1, 1)
        return
    report = embed_pending(
        store,
        model,
        lock_file=location.index_dir / "embed.lock",
        on_progress=progress.for_run(context),
    )
    alive = float(model.embed(["agentm"])[0] @ model.embed(["agentm"])[0])
    did = f"embedded {report.embedded:,} texts" if report.embedded else "nothing: all have vectors"
    yield MaterializeResult(
        data_version=dg.DataVersion(embeddings_version(report.model_id, report.texts)),
        metadata={
            "did": did,
            "dagster/row_count": report.texts - report.waiting,
            "texts": report.texts,
            "embedded": report.embedded,
            "waiting": report.waiting,
            "model": report.model_id,
            "seconds": round(report.seconds, 3),
        },
    )
    yield embedder_reachable(abs(alive - 1.0) < 1e-3, report.model_id)
    yield chunks_embedded(report.waiting, report.texts)


@dg.asset(
    deps=["chunks", "aliases"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"tantivy"},
    code_version=CODE_VERSION,
    freshness_policy=FRESH,
    pool=POOL,
    # Before the embeddings, which may take minutes: meanwhile recall goes by words.
    op_tags={"dagster/priority": "1"},
    description="The lexical serving file: BM25 over title, names, heading path and body.",
)
def lexical_index(workspace: WorkspaceResource) -> MaterializeResult[None]:
    store = workspace.store()
    done = publish_lexical(store, workspace.settings().location.lexical_dir)
    with store.transaction() as connection:
        version = lexical_version(connection)
    return MaterializeResult(
        data_version=dg.DataVersion(version), metadata=published_metadata(done, "notes")
    )


@dg.asset(
    deps=["embeddings"],
    group_name=GROUP,
    owners=OWNERS,
    kinds={"numpy"},
    code_version=CODE_VERSION,
    freshness_policy=FRESH,
    pool=POOL,
    description="The vector serving files: a base matrix, small deltas, tombstones.",
)
def vector_index(
    workspace: WorkspaceResource, embedder: EmbedderResource
) -> MaterializeResult[None]:
    location = workspace.settings().location
    model_id = embedder.model_id()
    if model_id is None:
        after_vectors(location)
        return MaterializeResult(
            data_version=dg.DataVersion(OFF),
            metadata={"did": "nothing: embedding is switched off"},
        )
    store = workspace.store()
    done = publish_vectors(store, location.vectors_dir, model_id)
    after_vectors(location)
    with store.transaction() as connection:
        version = vector_version(connection, model_id)
    return MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata=published_metadata(done, "vectors"),
    )


ASSETS = [index_tables, embeddings, lexical_index, vector_index]
