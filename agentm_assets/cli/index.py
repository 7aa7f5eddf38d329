"""`agentm index`: materialise the index in this process; the run shows in the Dagster UI."""

import dataclasses
from typing import Annotated

import typer

from agentm_assets.cli.in_process import streams_given_back
from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    RED_STATE,
    failures_reported,
    note_to_operator,
    print_json,
    printable,
)
from agentm_assets.cli.progress import progress_bars

_SHOWN_FINDINGS = 10


def command(
    full: Annotated[bool, typer.Option("--full", help="Extract every note anew.")] = False,
    check: Annotated[
        bool, typer.Option("--hash", help="Compare content hashes of all files, trust no stamp.")
    ] = False,
    accept_deletions: Annotated[
        bool, typer.Option(help="Drop notes that are gone even when they are most of the vault.")
    ] = False,
    no_embeddings: Annotated[
        bool, typer.Option("--no-embeddings", help="Leave vectors out: recall is lexical then.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the index in line with the vault, judge raw captures, and commit both."""
    import os

    with failures_reported():
        from agentm_assets.config.settings import Settings

        location = Settings.load(os.environ, vault=vault, profile=profile).location

    from agentm_assets.cli.server_lock import after_unclean_end
    from agentm_assets.cli.state_folder import StateUnusable, dagster_failures_named
    from agentm_assets.definitions import build_defs
    from agentm_assets.index.assets.bury import bury
    from agentm_assets.index.assets.run import run_index
    from agentm_assets.index.facts_reader import FactsReader
    from resources.embedder import EmbedderResource
    from resources.progress import ProgressReporter
    from resources.workspace import WorkspaceResource

    workspace = WorkspaceResource(
        vault=location.environment().get("AGENTM_VAULT"), profile=location.profile
    )
    with (
        failures_reported({StateUnusable: RED_STATE}),
        dagster_failures_named(location),
        streams_given_back(),
        progress_bars() as listener,
    ):
        home = location.dagster_home
        after_unclean_end(home, lambda: bury(home, everything=True))
        run = run_index(
            build_defs(
                {
                    "workspace": workspace,
                    "embedder": EmbedderResource(workspace=workspace, enabled=not no_embeddings),
                    "progress": ProgressReporter(listener),
                }
            ),
            workspace,
            tables_config={
                "full": full,
                "hash_all": check,
                "accept_deletions": accept_deletions,
            },
            on_wait=lambda: note_to_operator("another agentm index is running; waiting for it"),
        )
    if not run.success:
        note_to_operator(f"indexing failed: {run.error} (run {run.run_id})")
        raise typer.Exit(RED_STATE)
    with failures_reported(), FactsReader.open(location.facts_file) as facts:
        counts, findings = facts.counts, facts.findings()
    numbers = run.numbers
    if numbers["rebuilt"] != "no":
        note_to_operator(str(numbers["rebuilt"]))
    if numbers["git_remark"] != "none":
        note_to_operator(str(numbers["git_remark"]))
    if numbers.get("judged_remarks", "none") not in ("none", numbers["git_remark"]):
        note_to_operator(str(numbers["judged_remarks"]))
    if as_json:
        print_json(
            {
                "notes": counts.notes,
                "chunks": counts.chunks,
                "links": counts.links,
                "entities": counts.entities,
                "aliases": counts.aliases,
                "unresolved_links": numbers["unresolved_links"],
                "changed": numbers["changed"],
                "deleted": numbers["deleted"],
                "deferred": numbers["deferred"],
                "held_deletions": numbers["held_deletions"],
                "embedded": numbers.get("embeddings_embedded", 0),
                "vectors_waiting": numbers.get("embeddings_waiting", counts.chunks),
                "judged": numbers.get("judged_enriched", 0),
                "judged_left": numbers.get("judged_left", 0),
                "findings": [dataclasses.asdict(finding) for finding in findings],
                "git": numbers["git"],
                "seconds": numbers["seconds"],
                "run_id": run.run_id,
            }
        )
        return
    typer.echo(f"tables: {numbers['did']}")
    typer.echo(f"embeddings: {numbers['embeddings_did']}")
    typer.echo(f"judged: {numbers['judged_did']}")
    typer.echo(
        f"{counts.notes:,} notes, {counts.chunks:,} chunks, {counts.links:,} links "
        f"({numbers['unresolved_links']:,} unresolved), {counts.entities:,} entities"
    )
    if int(numbers["held_deletions"]):
        note_to_operator(
            f"{numbers['held_deletions']:,} notes seem gone at once, so they are kept for now; if "
            "that is right, run agentm index --accept-deletions"
        )
    if findings:
        typer.echo(f"{len(findings):,} findings:")
        for finding in findings[:_SHOWN_FINDINGS]:
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            typer.echo(printable(f"  {place}  {finding.message} -> {finding.cure}"))
        if len(findings) > _SHOWN_FINDINGS:
            typer.echo(f"  … {len(findings) - _SHOWN_FINDINGS:,} more: agentm status --findings")
