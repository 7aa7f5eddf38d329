"""How many derivations a note is away from what was captured.

A raw note has depth 0. A derived one is one deeper than the deepest of what its `derived_from` and
`consolidated_from` name. Where what recall returns is deeper than the corpus, the vault has begun
to feed on its own output.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from agentm_assets.contract.frontmatter import FieldValue, read_frontmatter
from agentm_assets.contract.properties import list_in_text
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

EDGES = ("derived_from", "consolidated_from")


@dataclass(frozen=True, slots=True)
class Depths:
    """`by_path`: the depth of every note, by vault-relative path."""

    by_path: Mapping[str, int]

    def mean(self, paths: Iterable[str] | None = None) -> float:
        """Over these notes, each as often as it is there; over all without."""
        found = [*self.by_path.values()] if paths is None else [self.of(path) for path in paths]
        return sum(found) / len(found) if found else 0.0

    def of(self, path: str) -> int:
        return self.by_path.get(path, 0)

    def histogram(self) -> dict[int, int]:
        """How many notes have which depth."""
        return dict(sorted(Counter(self.by_path.values()).items()))


@dataclass(frozen=True, slots=True)
class DepthComparison:
    """Mean depths. `returned`: of what recall gave, each hit counted."""

    corpus: float
    returned: float
    hits: int

    @property
    def feeds_on_itself(self) -> bool:
        """Whether recall returns deeper notes than the corpus holds: then derived pages are to rank
        below their facts."""
        return self.hits > 0 and self.returned > self.corpus


def compare(depths: Depths, returned: Sequence[str]) -> DepthComparison:
    """`returned`: the paths of the hits of many questions."""
    return DepthComparison(depths.mean(), depths.mean(returned), len(returned))


def read_depths(connection: duckdb.DuckDBPyConnection, backend: StorageBackend) -> Depths:
    """The depth of every note of the index. Notes whose properties name no origin cost a look at
    their first bytes; one that can't be read counts as raw."""
    rows = connection.execute("SELECT path, slug FROM notes ORDER BY path").fetchall()
    origins = {path: _origins(backend, path) for path, _ in rows}
    named: defaultdict[str, list[str]] = defaultdict(list)
    for path, slug in rows:
        stem = path.removesuffix(".md")
        for name in dict.fromkeys((slug, path, stem, stem.rpartition("/")[2])):
            if name:
                named[name].append(path)
    edges = {
        path: tuple(dict.fromkeys(target for name in names for target in named.get(name, ())))
        for path, names in origins.items()
    }
    return Depths(depths_of(edges, {path for path, names in origins.items() if names}))


def depths_of(edges: Mapping[str, Sequence[str]], derived: Iterable[str]) -> dict[str, int]:
    """The depth of each node of `edges` (node: what it was made from). `derived`: nodes that say
    that they are, though perhaps of nothing that is there any more: at least 1. A circle counts
    once round."""
    depths: dict[str, int] = {}
    marked = set(derived)
    for start in edges:
        stack: list[tuple[str, int]] = [(start, 0)]
        on_path: set[str] = set()
        while stack:
            node, at = stack.pop()
            if node in depths:
                continue
            on_path.add(node)
            below = edges.get(node, ())
            if at < len(below):
                stack.append((node, at + 1))
                if below[at] not in depths and below[at] not in on_path:
                    stack.append((below[at], 0))
                continue
            on_path.discard(node)
            deepest = max((depths.get(each, 0) for each in below if each != node), default=0)
            depths[node] = 1 + deepest if below or node in marked else 0
    return depths


def _origins(backend: StorageBackend, path: str) -> tuple[str, ...]:
    try:
        data = backend.read_bytes(Locator(path))
    except (FileNotFoundError, StorageError):
        return ()
    if not any(key.encode() in data for key in EDGES):
        return ()
    fields = read_frontmatter(data).fields
    return tuple(name for key in EDGES if key in fields for name in _names(fields[key]))


def _names(field: FieldValue) -> Iterable[str]:
    listed = field.items or list_in_text(field.text or "") or ([field.text] if field.text else [])
    for name in listed:
        yield name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].strip()
