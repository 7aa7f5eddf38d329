"""The vault group: observable sources, one a space and one a part of the rules file.

Their data versions tell Dagster what changed; nothing runs for an observation. Generated pages are
left out of the versions, else the graph would feed itself.
"""

import warnings
from collections.abc import Callable, Sequence

import dagster as dg

from agentm_assets.contract.spaces import SPACES
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import Manifest, space_versions
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.selection import open_vault
from agentm_assets.storage.vault import NoteUnreadable, content_hash
from resources.workspace import WorkspaceResource

GROUP = "vault"
RULES_JUDGMENT = "storage_rules_judgment"
RULES_RANKING = "storage_rules_ranking"

_ABOUT = {
    "memory": "Memories under Agent/memory: facts, recipes, traces.",
    "calendar": "Traces of days and sessions, by date.",
    "projects": "Declared projects; only the operator creates one.",
    "desk": "The workbench: tasks and drafts under Agent/desk.",
    "standards": "Rules that the operator writes, the storage rules among them.",
    "personal": "The operator's own notes: searched on this machine, never read by a model pass.",
    "other": "Notes outside the declared spaces, as in an adopted folder.",
}


def current_versions(workspace: WorkspaceResource) -> dict[str, str]:
    """The version of every space now; hashes of unchanged files come from the last manifest."""
    location = workspace.settings().location
    vault = open_vault(location)
    try:
        with FactsReader.open(location.facts_file) as facts:
            manifest: Manifest = facts.manifest()
    except ServingUnreadable:
        manifest = {}

    def hash_of(path: str) -> str | None:
        try:
            return content_hash(vault.read_bytes(path))
        except (NoteUnreadable, FileNotFoundError):
            return None

    return space_versions(vault.scan(), manifest, hash_of)


def _source(
    name: str, description: str, kinds: Sequence[str], version: Callable[[WorkspaceResource], str]
) -> dg.SourceAsset:
    with warnings.catch_warnings():
        # Known to be in beta, and pinned with the whole Dagster set; the operator need not hear it.
        warnings.simplefilter("ignore", dg.BetaWarning)

        @dg.observable_source_asset(
            name=name,
            group_name=GROUP,
            description=description,
            tags={f"dagster/kind/{kind}": "" for kind in kinds},
        )
        def observe(workspace: WorkspaceResource) -> dg.DataVersion:
            return dg.DataVersion(version(workspace))

    return observe


def _space(name: str) -> dg.SourceAsset:
    return _source(
        name,
        f"{_ABOUT[name]} Version: digest of paths and content hashes.",
        ["markdown"],
        lambda workspace: current_versions(workspace)[name],
    )


SOURCES = [
    *(_space(name) for name in SPACES),
    _source(
        RULES_JUDGMENT,
        "What judgment depends on in standards/storage-rules.md: prose, types, routing.",
        ["markdown", "yaml"],
        lambda workspace: workspace.rules().rules_hash,
    ),
    _source(
        RULES_RANKING,
        "What only ranks in standards/storage-rules.md: dampening, decay, excludes.",
        ["markdown", "yaml"],
        lambda workspace: workspace.rules().ranking_hash,
    ),
]
