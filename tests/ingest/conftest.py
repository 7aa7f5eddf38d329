"""A vault, the sample logs copied to where they may be changed, and one call for a sweep."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation
from agentm_assets.ingest.report import IngestReport
from agentm_assets.ingest.sweep import Asked, ingest
from agentm_assets.ingest.units import Fetch, fetched
from agentm_assets.storage.vault_backend import VaultBackend

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
SAMPLES = Path(__file__).parent / "samples"

Sweep = Callable[..., IngestReport]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES, tmp_path / "logs"))


@pytest.fixture
def store(location: VaultLocation, vault: Path, git: Callable[..., str]) -> VaultBackend:
    (vault / "note.md").write_text("A vault with a note.\n")
    git("add", "-A")
    git("commit", "-q", "-m", "note")
    return VaultBackend(location.root, location.locks_dir)


@pytest.fixture
def sweep(location: VaultLocation, store: VaultBackend) -> Sweep:
    """`sweep(path, …, again=…, dry_run=…)`."""

    def run(*places: Path | str, fetch: Fetch = fetched, **more: object) -> IngestReport:
        asked = Asked(tuple(str(place) for place in places), **more)  # type: ignore[arg-type]
        return ingest(location, store, asked, NOW, fetch=fetch)

    return run


@pytest.fixture
def text_of(vault: Path) -> Callable[[str], str]:
    def read(path: str) -> str:
        return (vault / path).read_text(encoding="utf-8")

    return read


@pytest.fixture
def tree(vault: Path) -> Callable[[], dict[str, bytes]]:
    """Every file of the vault outside of git's own folder, by path."""

    def read() -> dict[str, bytes]:
        files = (path for path in vault.rglob("*") if path.is_file())
        return {
            str(path.relative_to(vault)): path.read_bytes()
            for path in files
            if ".git" not in path.relative_to(vault).parts
        }

    return read
