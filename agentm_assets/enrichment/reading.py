"""Reading a note for a judgment."""

from pathlib import PurePosixPath

from agentm_assets.contract import properties
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.footer import strip_footer
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.spaces import space_of
from agentm_assets.enrichment.reenrichment import UNTOUCHED, Past
from agentm_assets.enrichment.subject import Subject, Trigger
from agentm_assets.extract.chunks import split_chunks
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import content_hash


def subject_of(
    locator: Locator,
    data: bytes,
    trigger: Trigger,
    *,
    is_linked: bool,
    past: Past = UNTOUCHED,
) -> Subject:
    """The note with these bytes as a gate sees it. Never raises, whatever the bytes."""
    frontmatter = read_frontmatter(data)
    body = body_of(data, frontmatter)
    source = body
    if past.raw is not None:
        source = body_of(past.raw, read_frontmatter(past.raw))
    place = space_of(locator.key)
    captured = properties.captured(frontmatter)
    return Subject(
        locator=locator,
        data=data,
        data_hash=content_hash(data),
        frontmatter=frontmatter,
        body=body,
        source=source,
        fingerprint=fingerprint(data[frontmatter.body_start :]),
        title=properties.title(frontmatter) or _heading(data, frontmatter) or _stem(locator),
        space=place.space,
        memory_class=place.memory_class,
        status=properties.text_of(frontmatter, "status"),
        captured=None if captured is None else captured.text,
        aliases=properties.aliases(frontmatter),
        tags=properties.tags(frontmatter),
        is_linked=is_linked,
        human_edited=past.human_edited,
        trigger=trigger,
    )


def body_of(data: bytes, frontmatter: Frontmatter) -> str:
    """The body as text, without its footer; what is no UTF-8 is shown as U+FFFD."""
    return strip_footer(data[frontmatter.body_start :]).decode("utf-8", "replace")


def was_judged(subject: Subject) -> bool:
    """Does the note carry the stamp of a judge?"""
    return properties.text_of(subject.frontmatter, "enriched_by") is not None


def _heading(data: bytes, frontmatter: Frontmatter) -> str | None:
    chunks = split_chunks(data, frontmatter.body_start)
    return next((c.header_path for c in chunks if c.level == 1 and c.header_path), None)


def _stem(locator: Locator) -> str:
    return PurePosixPath(locator.name).stem
