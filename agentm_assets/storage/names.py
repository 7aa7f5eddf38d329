"""Which names a note may have, on any store."""

from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import WriteRefused

NAME_BYTES = 255
"""The longest name that the usual file systems hold (NAME_MAX of ext4, xfs, btrfs, apfs). Object
stores hold longer ones, but a copy of them on a disk could not."""


def is_hidden(key: str) -> bool:
    """Does a part of the key begin with a dot?"""
    return key.startswith(".") or "/." in key


def check_name(locator: Locator) -> None:
    """Raises WriteRefused for a place that no note may have."""
    if not locator.key:
        raise WriteRefused("the root of the vault is a folder; name a place in it")
    if is_hidden(locator.key):
        raise WriteRefused(
            f"{locator}: names that begin with a dot belong to other programs; choose another name"
        )
    if any(len(part.encode("utf-8")) > NAME_BYTES for part in locator.parts):
        raise WriteRefused(
            f"{locator}: a name is longer than {NAME_BYTES} bytes; choose a shorter one"
        )
