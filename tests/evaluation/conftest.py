"""Places of a test's own, and the made corpus."""

import os
from pathlib import Path

import pytest

from agentm_assets.evaluation.locomo import Conversation, read_locomo


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def two_talks() -> Path:
    return Path(__file__).parent / "data" / "two_talks.json"


@pytest.fixture
def talks(two_talks: Path) -> list[Conversation]:
    return read_locomo(two_talks)
