"""The note that is judged, as it was read."""

from dataclasses import dataclass
from typing import Literal

from agentm_assets.contract.frontmatter import Frontmatter
from agentm_assets.storage.locator import Locator

Trigger = Literal["eager", "batch"]
"""Right after a capture, or in a run over everything that waits."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One note and what a gate must know of it.

    `data` are the file's bytes, `data_hash` their content hash: a write compares against it, so
    that an edit of the operator's in between wins. `source` is the text that is judged: the body,
    and for a note that a model has rewritten before, the body as it was captured. `fingerprint` is
    that of the body in the file. `memory_class` is the folder under Agent/memory that it lies in,
    None elsewhere. `is_linked`: some note links to it, so that its name is an address.
    `human_edited`: the body is not what the last rewrite left; then only judgment fields change.
    """

    locator: Locator
    data: bytes
    data_hash: str
    frontmatter: Frontmatter
    body: str
    source: str
    fingerprint: str
    title: str
    space: str
    memory_class: str | None
    status: str | None
    captured: str | None
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    is_linked: bool
    human_edited: bool
    trigger: Trigger
