"""A check for any backend: an old registry that it holds is used in place, and only there."""

import json
from collections.abc import Callable
from pathlib import Path

from agentm_assets.routing.repos import (
    LEGACY_COPY,
    add_repo,
    list_repos,
    registry,
    remove_repo,
)
from agentm_assets.storage.seam import StorageBackend


def check_routing_registry(make_backend: Callable[[], StorageBackend], scratch: Path) -> None:
    """Raises AssertionError unless registering, listing and removing read and write the legacy
    copy of a fresh backend, and leave the engine without one; and unless the engine's copy wins
    once it is there.

    `scratch` is an empty folder of the caller's: the engine's state directory of this check, so
    that the machine's own registry is neither asked nor changed.
    """
    backend = make_backend()
    env = {name: str(scratch / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME")}
    checkout, second = scratch / "checkout", scratch / "second"
    for folder in (checkout, second):
        folder.mkdir(parents=True)
    _require(list_repos(backend, env) == (), "a fresh backend holds a registry")
    seed = {"repos": [{"slug": "old", "root_path": "/nowhere/old", "note": "kept"}], "more": 1}
    backend.write(LEGACY_COPY, json.dumps(seed))
    _require(registry(backend, env).is_legacy, "the backend's only copy is not used")
    _require([repo.slug for repo in list_repos(backend, env)] == ["old"], "the copy is not read")
    added = add_repo(backend, "new", checkout, env)
    written = json.loads(backend.read(LEGACY_COPY))
    slugs = [entry["slug"] for entry in written["repos"]]
    _require(sorted(slugs) == ["new", "old"], "registering does not reach the backend's copy")
    _require(written["more"] == 1, "a key that agentm does not know is lost")
    kept = [entry.get("note") for entry in written["repos"]]
    _require("kept" in kept, "what an entry holds beside is lost")
    _require(added in list_repos(backend, env), "what was registered is not listed")
    _require(remove_repo(backend, checkout, env) == added, "removing finds nothing")
    slugs = [entry["slug"] for entry in json.loads(backend.read(LEGACY_COPY))["repos"]]
    _require(slugs == ["old"], "removing does not reach the backend's copy")
    engine = scratch / "xdg_state_home" / "agentm" / "repos.json"
    _require(not engine.exists(), "the engine got a registry beside the backend's only copy")
    add_repo(None, "mine", second, env)
    _require(not registry(backend, env).is_legacy, "the engine's copy does not win")
    _require([r.slug for r in list_repos(backend, env)] == ["mine"], "two registries are mixed")


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise AssertionError(fault)
