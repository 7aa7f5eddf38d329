"""A vault in git with an index, and nights over it."""

import os
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentm_assets.config.dreaming_table import DreamingTable
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules, load_rules
from agentm_assets.dreaming.night import Night
from agentm_assets.index.embed import TextEmbedder
from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault import Vault

NIGHT = datetime(2026, 8, 14, 2, 30, tzinfo=UTC)


@dataclass
class Estate:
    root: Path
    location: VaultLocation
    backend: StorageBackend
    now: datetime = NIGHT
    nights: int = 0
    embedder: TextEmbedder | None = None
    models: Tiers | None = None
    limits: DreamingTable = field(default_factory=DreamingTable)

    @property
    def store(self) -> IndexStore:
        return IndexStore(self.location.duckdb_file)

    def rules(self) -> LoadedRules:
        return load_rules(Vault(self.backend), os.environ)

    def write(self, path: str, text: str | bytes) -> str:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def memory(self, name: str, body: str, /, **properties: Any) -> str:
        """An active memory. Returns its path."""
        memory_class = properties.pop("memory_class", "semantic")
        written = {
            "type": "reference",
            "status": "active",
            "captured": "2026-06-01T09:00:00Z",
            "slug": name,
            "title": name.replace("-", " ").capitalize(),
        } | properties
        lines = [f"{key}: {value}" for key, value in written.items() if value is not None]
        captured = str(written["captured"])
        return self.write(
            f"Agent/memory/{memory_class}/{captured[:4]}/{captured[5:7]}/{name}.md",
            "\n".join(["---", *lines, "---", body, ""]),
        )

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def text(self, path: str) -> str:
        return self.read(path).decode()

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return os.fsdecode(done.stdout)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "By hand")

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def index(self, only: Collection[str] | None = None) -> None:
        options = ReconcileOptions()
        if only is not None:
            options = replace(options, only=frozenset(only))
        lock = self.location.index_dir / "tables.lock"
        reconcile(Vault(self.backend), self.store, self.rules(), options, lock_file=lock)
        publish_facts(self.store, self.location.facts_file)

    def night(self, **changes: Any) -> Night:
        """The next night, a day after the last, over an index that is in line with the files."""
        self.index()
        self.nights += 1
        return replace(
            Night(
                location=self.location,
                backend=self.backend,
                store=self.store,
                rules=self.rules(),
                now=self.now + timedelta(days=self.nights - 1),
                night_id=f"night-{self.nights}",
                limits=self.limits,
                models=self.models,
                embedder=lambda: self.embedder,
                reindex=self.index,
            ),
            **changes,
        )

    def files(self) -> dict[str, bytes]:
        """Every file but git's."""
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and not file.is_symlink() and ".git" not in file.parts
        }
