"""Where each note of the graph stands: force-directed, by networkx, the same for the same graph.

networkx is here already (torch needs it), so it costs no dependency; its layouts take a seed, and
their arithmetic is numpy's, without threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import networkx as nx
import numpy as np

from agentm_assets.reports.graph.model import MemoryGraph

_SEED: Final = 20_240
_ROUNDS: Final = 300
WIDTH: Final = 1500
HEIGHT: Final = 1000
_MARGIN: Final = 70


@dataclass(frozen=True, slots=True)
class Place:
    """A point of the picture, rounded, so that the last bits of arithmetic do not show."""

    x: float
    y: float


def place(graph: MemoryGraph) -> tuple[Place, ...]:
    """A place for each node, in their order, within WIDTH and HEIGHT."""
    if not graph.nodes:
        return ()
    network: nx.Graph[int] = nx.Graph()
    network.add_nodes_from(range(len(graph.nodes)))
    network.add_edges_from(graph.edges)
    found = nx.forceatlas2_layout(
        network,
        max_iter=_ROUNDS,
        scaling_ratio=4.0,
        gravity=0.06,
        distributed_action=False,
        strong_gravity=True,
        linlog=False,
        seed=_SEED,
    )
    return _fitted([found[number] for number in range(len(graph.nodes))])


def _fitted(points: Sequence[Sequence[float]]) -> tuple[Place, ...]:
    """The points moved and stretched into the picture."""
    table = np.asarray(points, dtype=np.float64)
    low, high = table.min(axis=0), table.max(axis=0)
    size = np.maximum(high - low, 1e-9)
    room = np.asarray([WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN])
    scale = room / size
    # One scale for both ways keeps the shape; up to a third of stretching fills the picture better.
    scale = np.minimum(scale, scale.min() * 4 / 3)
    middle = (low + high) / 2
    fitted = (table - middle) * scale + np.asarray([WIDTH / 2, HEIGHT / 2])
    return tuple(Place(round(float(x), 1), round(float(y), 1)) for x, y in fitted)
