"""Which reinforcements wait: one small file each, beside the index (see `reinforcement`)."""

import os
from pathlib import Path

from agentm_assets.config.vault import VaultLocation


def folder_of(location: VaultLocation) -> Path:
    """Where they wait."""
    return location.log_dir / "reinforcements"


def files_waiting(location: VaultLocation) -> list[Path]:
    """Those that are not applied yet, oldest first. Raises OSError."""
    folder = folder_of(location)
    try:
        names = os.listdir(folder)  # noqa: PTH208 - a Path for each would double the time
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(names) if name.endswith(".json")]
