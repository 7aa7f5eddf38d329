"""A vault under git whose index is as a pass leaves it."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.rules import LoadedRules, default_rules_text, load_rules, parse_rules
from agentm_assets.enrichment.refusals import read_refusals
from agentm_assets.enrichment.review import Queued, Review, review_queue
from agentm_assets.history.revert_log import read_log
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.publish import publish_facts
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_backend, open_vault

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
FOLDER = "Agent/memory/semantic/2026/05"


class Desk:
    def __init__(self, root: Path, location: VaultLocation) -> None:
        self.root = root
        self.location = location
        self.backend = open_backend(location)
        self.vault = open_vault(location)
        self.review = Review(location, self.backend, self.now)

    def now(self) -> datetime:
        return NOW

    @property
    def rules(self) -> LoadedRules:
        return load_rules(self.vault, {})

    def put(self, path: str, text: str | bytes) -> str:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def note(self, name: str, body: str = "The valve sticks.", **properties: str) -> str:
        given = {"type": "reference", "status": "unfiled", "captured": "2026-05-01", **properties}
        lines = "".join(f"{key}: {value}\n" for key, value in given.items())
        return self.put(f"{FOLDER}/{name}.md", f"---\n{lines}---\n{body}\n")

    def judged(self, name: str, **properties: str) -> str:
        given = {"confidence": "0.41", "enriched_by": "extractive-1", **properties}
        at = {"enriched_at": "2026-05-02T08:00:00Z", "rules_hash": self.rules.rules_hash}
        return self.note(name, **(at | given))

    def index(self) -> None:
        store = IndexStore(self.location.duckdb_file)
        lock = self.location.index_dir / "tables.lock"
        reconcile(self.vault, store, self.rules, ReconcileOptions(), lock_file=lock)
        publish_facts(store, self.location.facts_file)

    def facts(self) -> FactsReader:
        return FactsReader.open(self.location.facts_file)

    def queue(self) -> tuple[Queued, ...]:
        self.index()
        return self.queue_of_the_last_index()

    def queue_of_the_last_index(self) -> tuple[Queued, ...]:
        with self.facts() as facts:
            return review_queue(facts, read_refusals(self.backend), read_log(self.backend)[0])

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text(
        "[user]\nname = Olga\nemail = olga@example.org\n[init]\ndefaultBranch = main\n"
    )
    root = tmp_path / "vault"
    (root / "standards").mkdir(parents=True)
    (root / "standards/storage-rules.md").write_bytes(default_rules_text())
    env = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("STATE", "CACHE", "DATA")}
    location = locate({"HOME": str(home), "AGENTM_VAULT": str(root), **env})
    made = Desk(root, location)
    made.git("init", "-q")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Start")
    return made


@pytest.fixture
def edited_rules() -> Callable[..., LoadedRules]:
    """The shipped rules with texts in them replaced."""

    def edit(*replacements: tuple[str, str]) -> LoadedRules:
        text = default_rules_text().decode()
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new, 1)
        return parse_rules(text.encode(), Path("/rules.md"), "default")

    return edit
