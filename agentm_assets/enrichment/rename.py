"""The two exceptions to "nothing moves": one correction of a note's class, one of its name.

Both only while nothing links to the note, which the index says and the files that the index has not
seen yet; and both through the revert log.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentm_assets.capture.place import LAST_NUMBER
from agentm_assets.capture.slug import with_suffix
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.apply import is_sure
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.enrichment.rewritable import is_renamable
from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.links import extract_links
from agentm_assets.index.build import name_key
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import NoteUnreadable, StorageBackend
from agentm_assets.storage.vault import Vault

ManifestEntry = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FreshLinks:
    """Names that notes link to which the index has not seen as they are now: the last segment of
    each target, folded, without `.md`."""

    names: frozenset[str]

    def lead_to(self, subject: Subject) -> bool:
        """May one of them mean this note? Any that has its file's name, slug, title or alias."""
        own = {subject.locator.name, subject.title, *subject.aliases}
        slug = subject.frontmatter.fields.get("slug")
        if slug is not None:
            own.add(slug.text)
        return not self.names.isdisjoint({_folded(name) for name in own})


def fresh_links(vault: Vault, manifest: Mapping[str, ManifestEntry]) -> FreshLinks:
    """The links of every note that is not as the manifest of the index has it.

    Costs a walk over the vault. Raises StoreUnreachable.
    """
    names: set[str] = set()
    for path, entry in vault.scan().notes.items():
        known = manifest.get(path)
        if known is not None and known[:2] == (entry.size, entry.mtime_ns):
            continue
        try:
            data = vault.read_bytes(path)
        except (FileNotFoundError, NoteUnreadable):
            continue
        names.update(_targets(data))
    return FreshLinks(frozenset(names))


def destination(
    subject: Subject,
    judgment: Judgment,
    rules: LoadedRules,
    history: NoteHistory,
) -> Locator:
    """Where the judgment wants the note: its own place, but for a class or a name that may still be
    corrected. Whether that place is free is not looked at."""
    if not (is_renamable(subject) and is_sure(judgment, rules)):
        return subject.locator
    *folders, name = subject.locator.parts
    slug_done, class_done = history.corrected(subject.locator.key)
    if judgment.memory_class != subject.memory_class and not class_done and len(folders) > 2:
        folders[2] = judgment.memory_class
    if judgment.slug and subject.status == "unfiled" and not slug_done:
        name = f"{judgment.slug}.md"
    return Locator("/".join([*folders, name]))


def free_place(backend: StorageBackend, wanted: Locator, own: Locator) -> Locator | None:
    """The first free name of that kind, the note's own included; None when all are taken."""
    for place in names_like(wanted):
        if place == own or not backend.exists(place):
            return place
    return None


def names_like(wanted: Locator) -> Iterator[Locator]:
    """The name, and those that are tried when it is taken."""
    stem = wanted.name.removesuffix(".md")
    yield wanted
    for number in range(2, LAST_NUMBER + 1):
        yield wanted.parent.child(f"{with_suffix(stem, str(number))}.md")


def _targets(data: bytes) -> Iterator[str]:
    frontmatter = read_frontmatter(data)
    values = [
        (text, field.start, field.line)
        for field in frontmatter.fields.values()
        for text in (field.items if field.kind == "list" else (field.text,))
        if text
    ]
    for link in extract_links(data, frontmatter.body_start, values):
        yield _folded(link.target)


def _folded(target: str) -> str:
    name = target.rpartition("/")[2]
    return name_key(name[:-3] if name[-3:].lower() == ".md" else name)
