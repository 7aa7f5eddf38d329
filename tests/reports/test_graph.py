"""The memory graph: what it shows, that it is the same each time, and that text stays text."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import default_rules_text, parse_rules
from agentm_assets.evaluation.scratch import build_index
from agentm_assets.index.store import IndexStore
from agentm_assets.reports.graph.layout import HEIGHT, WIDTH, place
from agentm_assets.reports.graph.model import MemoryGraph, graph_of, read_graph
from agentm_assets.reports.graph.page import page
from agentm_assets.reports.graph.svg import COLOURS, draw, radius

RULES = parse_rules(default_rules_text(), Path("storage-rules.md"), "default").rules
SVG = "{http://www.w3.org/2000/svg}"
NASTY = "</script><script>alert(1)</script> \"'>&\x00\x1b]]> <!-- \ud800"


def wheel(spokes: int, title: str = "Spoke") -> MemoryGraph:
    notes = {f"s{n:03}.md": (f"{title} {n}", "semantic") for n in range(spokes)}
    notes["hub.md"] = ("Hub", "entities")
    notes["alone.md"] = ("Alone", "episodic")
    return graph_of(notes, [(path, "hub.md") for path in notes if path[0] == "s"], 400)


def test_links_are_counted_once_both_ways_and_not_to_oneself() -> None:
    notes = {path: (path, "semantic") for path in ("a", "b", "c", "d")}
    links = [("a", "b"), ("b", "a"), ("a", "b"), ("c", "c"), ("b", "c"), ("a", "gone")]
    graph = graph_of(notes, links, 400)
    assert [(node.path, node.degree) for node in graph.nodes] == [("a", 1), ("b", 2), ("c", 1)]
    assert graph.edges == ((0, 1), (1, 2))
    assert (graph.left_out, graph.unlinked) == (0, 1)


def test_of_a_big_vault_the_most_linked_notes_are_shown() -> None:
    graph = wheel(30)
    few = graph_of(
        {node.path: (node.title, node.group) for node in graph.nodes},
        [(graph.nodes[a].path, graph.nodes[b].path) for a, b in graph.edges],
        5,
    )
    assert len(few.nodes) == 5
    assert few.left_out == 26
    assert few.hubs[0].path == "hub.md"
    assert few.hubs[0].degree == 30, "the degree is that of the vault, not of the picture"
    assert "26 linked notes left out" in draw(few, place(few))


def test_the_most_linked_are_shown_wherever_they_stand() -> None:
    notes = {f"{n}.md": (f"{n}", "semantic") for n in range(9)}
    links = [("0.md", "1.md"), ("2.md", "3.md"), *((f"{n}.md", "8.md") for n in range(4, 8))]
    shown = graph_of(notes, links, 3)
    assert [node.path for node in shown.nodes] == ["4.md", "5.md", "8.md"]
    assert shown.left_out == 6
    both = graph_of(notes, links, 7)
    assert [node.path for node in both.nodes] == [
        *(f"{n}.md" for n in (0, 1)),
        *(f"{n}.md" for n in range(4, 9)),
    ], "a part of its own comes when nothing is left round the first"


def test_the_same_graph_gives_the_same_bytes_in_another_process() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from tests_graph import wheel, draw, page, place;"
        "g = wheel(60); p = place(g); print(draw(g, p) + page(g, p), end='')"
    )
    here = Path(__file__)
    shim = (
        f"import importlib.util as u; s = u.spec_from_file_location('tests_graph', {str(here)!r});"
    )
    load = f"{shim} m = u.module_from_spec(s); import sys; sys.modules['tests_graph'] = m;"
    made = [
        subprocess.run(
            [sys.executable, "-c", f"{load} s.loader.exec_module(m); {code}", "."],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    graph = wheel(60)
    places = place(graph)
    assert made[0] == made[1] == (draw(graph, places) + page(graph, places)).encode()


def test_everything_stands_inside_the_picture_and_apart() -> None:
    notes = {f"{n:02}.md": (f"Note {n}", "semantic") for n in range(40)}
    pairs = [(f"{n:02}.md", f"{n + 1:02}.md") for n in range(0, 40, 2)]  # twenty islands
    graph = graph_of(notes, pairs, 400)
    places = place(graph)
    assert all(0 < at.x < WIDTH and 0 < at.y < HEIGHT for at in places)
    assert len(set(places)) == len(places)
    width = max(at.x for at in places) - min(at.x for at in places)
    near = [abs(places[a].x - places[b].x) for a, b in graph.edges]
    assert max(near) < width / 3, "linked notes stand near each other"
    single = graph_of({"a": ("A", "desk"), "b": ("B", "desk")}, [("a", "b")], 400)
    assert len(place(single)) == 2
    assert place(graph_of({}, [], 400)) == ()


def test_the_picture_is_xml_coloured_by_class_and_sized_by_degree() -> None:
    graph = wheel(40)
    root = ElementTree.fromstring(draw(graph, place(graph)))
    circles = [each for each in root.iter(f"{SVG}circle") if each.get("id")]
    assert len(circles) == 41
    hub = next(each for each in circles if each.get("data-path") == "hub.md")
    spoke = next(each for each in circles if each.get("data-path") == "s000.md")
    assert (hub.get("class"), spoke.get("class")) == ("entities", "semantic")
    assert float(hub.get("r") or 0) == radius(40, 41) > 2 * float(spoke.get("r") or 0)
    style = root.find(f"{SVG}style")
    assert style is not None
    assert all(
        f".{group}{{fill:{colour}}}" in (style.text or "") for group, colour in COLOURS.items()
    )
    assert len(list(root.iter(f"{SVG}line"))) == 40
    legend = "".join(root.itertext())
    assert "semantic (40)" in legend
    assert "1 note without a link" in legend


def test_titles_are_text_in_the_picture_and_on_the_page() -> None:
    graph = graph_of({NASTY: (NASTY, "semantic"), "b": ("B", "desk")}, [(NASTY, "b")], 400)
    places = place(graph)
    picture, made = draw(graph, places), page(graph, places)
    root = ElementTree.fromstring(picture)
    assert any("alert(1)" in (each.get("data-title") or "") for each in root.iter(f"{SVG}circle"))
    for text in (picture, made):
        assert "<script>alert" not in text
        assert text.encode("utf-8")
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    assert made.count("<script") == 1


def test_the_page_loads_nothing_from_elsewhere() -> None:
    graph = wheel(5)
    made = page(graph, place(graph))
    assert "default-src 'none'" in made
    for attribute in ("src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"):
        assert attribute not in made
    outside = set(re.findall(r"https?://[^\"' )]+", made))
    assert outside <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("space", ["personal", "Personal", "PERSONAL"])
def test_a_closed_space_is_not_in_the_graph(
    vault: Path, put: Callable[[str, bytes], Path], space: str
) -> None:
    put("Agent/memory/semantic/a.md", b"# A\n[[b]] [[secret]] [[Tangle]]\n")
    put("Agent/memory/semantic/b.md", b"# B\n")
    put(f"{space}/secret.md", b"# Secret\n[[a]] [[b]]\n")
    put("index.md", b"# All\n[[a]] [[b]]\n")
    put("drafts/tangle.md", b"# Tangle\n[[a]]\n")
    settings = Settings.load(os.environ)
    build_index(settings, os.environ, None)
    hiding = RULES.model_copy(update={"excludes": ("drafts",)})
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        shown = {node.path for node in read_graph(connection, hiding).nodes}
        assert shown == {"Agent/memory/semantic/a.md", "Agent/memory/semantic/b.md"}
        while_broken = {node.path for node in read_graph(connection, None).nodes}
        assert while_broken == shown | {"drafts/tangle.md"}
