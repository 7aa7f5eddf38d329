"""A scratch folder that holds a copy of a vault and its index, apart from the operator's own."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.models.export import ensure_exported
from agentm_assets.models.manifest import load_manifest
from agentm_assets.models.weights import locate


@dataclass(frozen=True, slots=True)
class Workspace:
    """`env` has the XDG folders in the scratch folder; exported models stay in the usual cache."""

    vault: Path
    env: dict[str, str]

    @property
    def settings(self) -> Settings:
        return Settings.load(self.env, vault=str(self.vault))

    @property
    def location(self) -> VaultLocation:
        return self.settings.location

    def model_folder(self) -> Path:
        """The configured model, exported if need be (some 20 seconds, once a machine)."""
        settings = self.settings
        return ensure_exported(locate(settings.embedder_model), settings.cache_dir)

    def files(self) -> dict[str, str]:
        """path → sha256 of every file of the copy."""
        return {
            str(path.relative_to(self.vault)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.vault.rglob("*"))
            if path.is_file()
        }


def open_workspace(work: Path) -> Workspace:
    """The scratch folder as it is."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("AGENTM_")}
    env |= {"XDG_CONFIG_HOME": str(work / "config"), "XDG_STATE_HOME": str(work / "state")}
    return Workspace(work / "vault", env)


def make_workspace(source: Path, work: Path) -> Workspace:
    """A copy of the vault, stamps included, and no index yet. `work` must not exist or be empty."""
    work.mkdir(parents=True, exist_ok=True)
    if any(work.iterdir()):
        raise SystemExit(f"{work} is not empty: name a new folder")
    shutil.copytree(source, work / "vault")
    return open_workspace(work)


class SeededEmbedder:
    """Unit vectors drawn by the hash of the text, under the id and dimension of the real model.

    They go through the same tables and serving files as real ones, in a thousandth of the time.
    What is near to what is chance: good for latency and memory, useless for quality.
    """

    def __init__(self, model_folder: Path) -> None:
        manifest = load_manifest(model_folder)
        self.model_id = manifest.model_id
        self._dim = manifest.dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self._dim), np.float32)
        for row, text in enumerate(texts):
            digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
            generator = np.random.default_rng(int.from_bytes(digest[:8], "big"))
            vectors[row] = generator.standard_normal(self._dim, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
