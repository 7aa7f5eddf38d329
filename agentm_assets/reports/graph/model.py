"""Which notes and links the memory graph shows. Read from the tables of the index."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

import duckdb

from agentm_assets.contract.closed import is_closed
from agentm_assets.contract.rules_model import StorageRules
from agentm_assets.dreaming.veil import veil_of

MOST_NOTES: Final = 400
"""Notes in the picture: more are a cloud without shapes, and the layout takes the square of it."""

_SEEDS: Final = 15
"""Of a hundred notes in the picture, those that are there for their links alone."""

GROUPS: Final = (
    *("semantic", "procedural", "episodic", "entities", "crystallized", "mocs"),
    *("calendar", "projects", "desk", "standards", "other"),
)
"""What a note is coloured by: its memory class, else its space."""


@dataclass(frozen=True, slots=True)
class Node:
    """A note. `degree`: the notes that it links to or that link to it, whether shown or not."""

    path: str
    title: str
    group: str
    degree: int


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """`nodes` in path order, `edges` as pairs of their positions, each pair once and in order.
    `left_out`: linked notes that are not shown, see `_chosen`. `unlinked`: notes
    without any link."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    left_out: int
    unlinked: int

    @property
    def hubs(self) -> tuple[Node, ...]:
        """The nodes, the one with the most links first."""
        return tuple(sorted(self.nodes, key=lambda node: (-node.degree, node.path)))


def read_graph(
    connection: duckdb.DuckDBPyConnection, rules: StorageRules | None, most: int = MOST_NOTES
) -> MemoryGraph:
    """The graph of the vault, without spaces that are closed to passes, what `excludes` hides,
    and pages that list the vault rather than remember. `rules` None: while they are broken."""
    notes: dict[str, tuple[str, str]] = {}
    veil = veil_of(connection, lambda path: is_closed(path, rules))
    for path, title, space, memory_class, generated in connection.execute(_NOTES).fetchall():
        if generated and memory_class is None:
            continue
        if is_closed(path, rules):
            continue
        notes[path] = (veil.over(title), memory_class or space)
    return graph_of(notes, connection.execute(_LINKS).fetchall(), most)


def graph_of(
    notes: dict[str, tuple[str, str]], links: Iterable[tuple[str, str]], most: int
) -> MemoryGraph:
    """`notes`: path -> title and group; `links`: pairs of paths, in any order and number."""
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for path, target in links:
        if path != target and path in notes and target in notes:
            beside[path].add(target)
            beside[target].add(path)
    shown = sorted(_chosen(beside, most))
    at = {path: number for number, path in enumerate(shown)}
    nodes = tuple(Node(path, *notes[path], len(beside[path])) for path in shown)
    edges = tuple(
        (at[path], other)
        for path in shown
        for other in sorted(at[target] for target in beside[path] if target in at)
        if at[path] < other
    )
    return MemoryGraph(nodes, edges, len(beside) - len(shown), len(notes) - len(beside))


def _chosen(beside: Mapping[str, set[str]], most: int) -> set[str]:
    """The most linked notes, and round them those with the most links to what is chosen already: of
    the most linked ones alone, few are linked with each other, and a picture would show no shapes.
    """
    ranked = sorted(beside, key=lambda path: (-len(beside[path]), path))
    if len(ranked) <= most:
        return set(ranked)
    chosen: set[str] = set()
    near: Counter[str] = Counter()
    waiting: list[tuple[int, int, str]] = []
    seeds = iter(ranked)
    while len(chosen) < most:
        path = (
            next(seeds) if len(chosen) < max(1, most * _SEEDS // 100) else _nearest(waiting, near)
        )
        while path is None or path in chosen:
            path = next(seeds)
        chosen.add(path)
        for other in sorted(beside[path] - chosen):
            near[other] += 1
            heappush(waiting, (-near[other], -len(beside[other]), other))
    return chosen


def _nearest(waiting: list[tuple[int, int, str]], near: Counter[str]) -> str | None:
    """The note with the most links to chosen ones; entries that are out of date are passed by."""
    while waiting:
        links, _degree, path = heappop(waiting)
        if -links == near[path]:
            return path
    return None


_NOTES = "SELECT path, title, space, memory_class, generated FROM notes ORDER BY path"
_LINKS = "SELECT path, resolved_path FROM links WHERE resolved_path IS NOT NULL"
