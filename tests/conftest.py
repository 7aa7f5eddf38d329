"""Fixtures shared by every package's tests."""

import os
from pathlib import Path

import pytest

from agentm_assets.models.export import default_model_id, ensure_exported, models_folder
from agentm_assets.models.manifest import ModelFolderUnusable, load_manifest
from agentm_assets.models.weights import locate


@pytest.fixture(scope="session")
def minilm_folder(request: pytest.FixtureRequest) -> Path:
    """The embedded default, exported as int8.

    The export of the user's own cache is read when there is a usable one; else it is exported
    (some 20 s) into pytest's cache, where the next session finds it.
    """
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentm"
    folder = models_folder(users) / default_model_id()
    try:
        load_manifest(folder)
    except ModelFolderUnusable:
        return ensure_exported(locate(), request.config.cache.mkdir("agentm"))
    return folder
