"""The vault group: observable sources, one a space and one a part of the rules file.

Their data versions tell Dagster what changed; nothing runs for an observation. Generated pages are
left out of the versions, else the graph would feed itself.
"""

import dagster as dg

from agentm_assets.contract.spaces import SPACES
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.pending import Manifest, space_versions
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.vault import NoteUnreadable, Vault, content_hash
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
    vault = Vault(location.root)
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


def _space(name: str) -> dg.SourceAsset:
    @dg.observable_source_asset(
        name=name,
        group_name=GROUP,
        description=f"{_ABOUT[name]} Version: digest of paths and content hashes.",
        tags={"dagster/kind/markdown": ""},
    )
    def observe(workspace: WorkspaceResource) -> dg.DataVersion:
        return dg.DataVersion(current_versions(workspace)[name])

    return observe


@dg.observable_source_asset(
    name=RULES_JUDGMENT,
    group_name=GROUP,
    description="What judgment depends on in standards/storage-rules.md: prose, types, routing.",
    tags={"dagster/kind/markdown": "", "dagster/kind/yaml": ""},
)
def storage_rules_judgment(workspace: WorkspaceResource) -> dg.DataVersion:
    return dg.DataVersion(workspace.rules().rules_hash)


@dg.observable_source_asset(
    name=RULES_RANKING,
    group_name=GROUP,
    description="What only ranks in standards/storage-rules.md: dampening, decay, excludes.",
    tags={"dagster/kind/markdown": "", "dagster/kind/yaml": ""},
)
def storage_rules_ranking(workspace: WorkspaceResource) -> dg.DataVersion:
    return dg.DataVersion(workspace.rules().ranking_hash)


SOURCES = [*(_space(name) for name in SPACES), storage_rules_judgment, storage_rules_ranking]
