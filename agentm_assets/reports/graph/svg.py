"""The graph as a picture: SVG without scripts, fonts or anything from elsewhere."""

import math
import re
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Final

from agentm_assets.reports.graph.layout import HEIGHT, WIDTH, Place
from agentm_assets.reports.graph.model import GROUPS, MemoryGraph

COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "semantic": "#2f6fb7",
        "procedural": "#2a8f5b",
        "episodic": "#d9822b",
        "entities": "#8250a8",
        "crystallized": "#c2334d",
        "mocs": "#5b6573",
        "calendar": "#e3b23c",
        "projects": "#1d9aa6",
        "desk": "#a0795a",
        "standards": "#7a8f2a",
        "other": "#9aa3ad",
    }
)
"""A colour a group: memory classes in strong ones, spaces in others."""

_LABELLED: Final = 28
_LETTERS: Final = 34
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw(graph: MemoryGraph, places: tuple[Place, ...]) -> str:
    """The picture, the same for the same graph. Titles and paths are text wherever they stand."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{said(graph)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        '<g class="links">',
        *(
            f'<line data-a="{a}" data-b="{b}" x1="{places[a].x}" y1="{places[a].y}" '
            f'x2="{places[b].x}" y2="{places[b].y}"/>'
            for a, b in graph.edges
        ),
        "</g>",
        '<g class="notes">',
        *(_circle(graph, number, places[number]) for number in range(len(graph.nodes))),
        "</g>",
        '<g class="names">',
        *_names(graph, places),
        "</g>",
        *_legend(graph),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def said(graph: MemoryGraph) -> str:
    """What is in the picture and what is not, in a sentence."""
    text = f"{_count(len(graph.nodes), 'note')}, {_count(len(graph.edges), 'link')}"
    if graph.left_out:
        text += f"; {_count(graph.left_out, 'linked note')} left out"
    return f"{text}; {_count(graph.unlinked, 'note')} without a link"


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"


def text_of(written: str) -> str:
    """Text of a note as XML can hold it, escaped."""
    return escape(_UNWRITABLE.sub("\ufffd", written), quote=True)


def radius(degree: int, notes: int) -> float:
    """The area grows with the degree, so that a hub looks as big as it is; in a small graph of so
    many notes all are bigger."""
    return round(min(26.0, (3.0 + 1.55 * math.sqrt(degree)) * _zoom(notes)), 1)


def _zoom(notes: int) -> float:
    return min(1.7, max(1.0, math.sqrt(200 / max(notes, 1))))


def _circle(graph: MemoryGraph, number: int, place: Place) -> str:
    node = graph.nodes[number]
    links = _count(node.degree, "link")
    return (
        f'<circle id="n{number}" class="{node.group}" cx="{place.x}" cy="{place.y}" '
        f'r="{radius(node.degree, len(graph.nodes))}" data-path="{text_of(node.path)}" '
        f'data-title="{text_of(node.title)}" data-degree="{node.degree}">'
        f"<title>{text_of(node.title)}\n{text_of(node.path)}\n{node.group}, {links}</title>"
        "</circle>"
    )


def _names(graph: MemoryGraph, places: tuple[Place, ...]) -> list[str]:
    """Names of the greatest hubs, where they cover neither each other nor a greater hub."""
    ranked = sorted(
        range(len(graph.nodes)), key=lambda n: (-graph.nodes[n].degree, graph.nodes[n].path)
    )
    taken: list[tuple[float, float, float, float]] = []
    for number in ranked[:_LABELLED]:
        at, size = places[number], radius(graph.nodes[number].degree, len(graph.nodes))
        taken.append((at.x - size, at.y - size, at.x + size, at.y + size))
    found: list[str] = []
    for number in ranked[:_LABELLED]:
        node, at = graph.nodes[number], places[number]
        name = " ".join(node.title.split()) or node.path
        name = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        half, size = len(name) * 4.1 + 2, radius(node.degree, len(graph.nodes))
        x = min(max(at.x, half + 4), WIDTH - half - 4)
        for y in (at.y + size + 15, at.y - size - 5):
            box = (x - half, y - 13, x + half, y + 4)
            if not any(_cover(box, other) for other in taken):
                taken.append(box)
                found.append(
                    f'<text data-n="{number}" x="{x:.1f}" y="{y:.1f}">{text_of(name)}</text>'
                )
                break
    return found


def _cover(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _legend(graph: MemoryGraph) -> list[str]:
    counts = {group: sum(node.group == group for node in graph.nodes) for group in GROUPS}
    present = [group for group in GROUPS if counts[group]]
    lines = ['<g class="legend">']
    for row, group in enumerate(present):
        y = 28 + row * 20
        lines.append(f'<circle class="{group}" cx="24" cy="{y}" r="6"/>')
        lines.append(f'<text x="38" y="{y + 4}">{group} ({counts[group]:,})</text>')
    lines.append(f'<text class="said" x="18" y="{HEIGHT - 16}">{said(graph)}</text>')
    return [*lines, "</g>"]


_STYLE = (
    ".page{fill:#fbfbf9}"
    ".links line{stroke:#8a94a0;stroke-opacity:.35;stroke-width:1}"
    ".notes circle{stroke:#fff;stroke-width:1}"
    ".names text{font-size:14px;text-anchor:middle;fill:#1d2329;paint-order:stroke;"
    "stroke:#fbfbf9;stroke-width:3px;stroke-linejoin:round}"
    ".legend text{font-size:14px;fill:#39424c}"
    + "".join(f".{group}{{fill:{colour}}}" for group, colour in COLOURS.items())
)
