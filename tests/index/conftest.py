"""A vault and an index of its own for each test of reconciling."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.contract.rules import LoadedRules, load_rules
from agentm_assets.index.digests import table_digests
from agentm_assets.index.integrity import broken_rules
from agentm_assets.index.reconcile import ReconcileOptions, ReconcileReport, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.vault import Vault
from agentm_assets.storage.vault_backend import VaultBackend


class Bench:
    """One vault with one index; `run` is a pass over it."""

    def __init__(self, root: Path, index: Path, rules: LoadedRules | None) -> None:
        self.root = root
        self.index = index
        self.rules = rules
        self.now = 1_900_000_000.0
        self.store = IndexStore(index / "index.duckdb")

    def put(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def run(
        self,
        options: ReconcileOptions | None = None,
        on_progress: Callable[..., None] | None = None,
    ) -> ReconcileReport:
        self.store = IndexStore(self.index / "index.duckdb")
        report = reconcile(
            Vault(VaultBackend(self.root, self.index / "locks")),
            self.store,
            self.rules,
            options or ReconcileOptions(),
            lock_file=self.index / "tables.lock",
            on_progress=on_progress or (lambda stage, done, total: None),
            clock=lambda: self.now,
        )
        with self.store.transaction() as connection:
            assert broken_rules(connection) == {}
        return report

    def digests(self) -> dict[str, str]:
        with self.store.transaction() as connection:
            return table_digests(connection)

    def fresh_digests(self, scratch: Path) -> dict[str, str]:
        """Digests of an index built from nothing over the same vault."""
        fresh = Bench(self.root, scratch, self.rules)
        fresh.run()
        return fresh.digests()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with self.store.transaction() as connection:
            return connection.execute(query).fetchall()

    def links(self) -> dict[tuple[str, str], str | None]:
        """(note, target as written) → the note it leads to."""
        return {
            (str(path), str(target)): None if to is None else str(to)
            for path, target, to in self.rows("SELECT path, target, resolved_path FROM links")
        }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "vault"
    root.mkdir()
    return Bench(root, tmp_path / "index", load_rules(None, {}))
