"""The store of the test's vault, and a fixed time."""

from datetime import UTC, datetime

import pytest

from agentm_assets.config.vault import VaultLocation
from agentm_assets.storage.vault_backend import VaultBackend


@pytest.fixture
def store(location: VaultLocation) -> VaultBackend:
    return VaultBackend(location.root, location.locks_dir)


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 8, 14, 9, 30, tzinfo=UTC)
