"""What an open note says of a closed one goes no further."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # model_servers

from estate import Estate
from hypothesis import given
from hypothesis import strategies as st
from model_servers import openai_server
from night_models import at_once
from words_embedder import WordsEmbedder, embed

from agentm_assets.dreaming.attempt import run_night
from agentm_assets.dreaming.brief.stage import TomorrowsBrief
from agentm_assets.dreaming.crystallize.stage import CrystallizedLessons
from agentm_assets.dreaming.entities.stage import EntityRollups
from agentm_assets.dreaming.insights.stage import Insights
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.summaries.stage import LONG_FROM, Summaries
from agentm_assets.dreaming.veil import HIDDEN, Veil
from agentm_assets.reports.graph.layout import place
from agentm_assets.reports.graph.model import read_graph
from agentm_assets.reports.graph.page import page
from agentm_assets.reports.graph.svg import draw

VEIL = Veil({"quiet diary", "zebra-1"}, lambda path: path.casefold().startswith("personal/"))


@pytest.mark.parametrize(
    "said",
    [
        "[[zebra-1]]",
        "[[Quiet  Diary]]",
        "![[zebra-1#Monday|what I thought]]",
        "[[zebra-1\\|in a table]]",
        "[[personal/other]]",
        "[[PERSONAL/zebra-1.md]]",
        "[mine](../personal/other.md)",
        "[mine](<../../personal/some thing.md>)",
        "[mine](personal%2Fother.md)",
        "personal/other.md",
        "../personal/deep/other.md",
        "personal/zebra-1",
    ],
)
def test_links_to_closed_notes_and_paths_of_theirs_are_hidden(said: str) -> None:
    assert VEIL.over(f"See {said}, and [[kettle]].") == f"See {HIDDEN}, and [[kettle]]."


@pytest.mark.parametrize(
    "said",
    [
        "A quiet diary is kept by many.",
        "Our personal/professional lives.",
        "[[kettle|zebra-1 of the zoo]] [a](https://example.org/personal/x.md)",
        "src/personal/x.md and impersonal/x.md",
        "[[zebra-10]]",
    ],
)
def test_other_words_stay(said: str) -> None:
    assert VEIL.over(said) == said


@given(st.text(alphabet="[]()|#!/\\<> \r\npersonal.md-zb1%2F", max_size=80))
def test_no_text_breaks_it_and_twice_is_once(text: str) -> None:
    once = VEIL.over(text)
    assert VEIL.over(once) == once


def test_no_page_of_the_night_and_no_picture_names_a_closed_note(estate: Estate) -> None:
    for name in ("zebra-0", "zebra-1", "zebra-2"):
        estate.write(f"personal/{name}.md", f"---\naliases: [Quiet {name}]\n---\nMine.\n")
    repo = "acme/gizmo#3"
    for number, said in enumerate(
        (
            f"The lid of {repo} is told of in personal/zebra-0.md as well, see the list.",
            f"The lid of {repo} sticks in winter, says [[zebra-1]] at length.",
            f"The lid of {repo} sticks in summer, says [[Quiet zebra-2|the diary]] at length.",
        )
    ):
        estate.memory(f"lid-{number}", f"{said}\n", tags="[lid]")
    estate.memory("about", f"{repo} has a lid that was mended.", title='"About [[zebra-0]]"')
    estate.memory("sum", f"Of {repo}.", summary='"It was mended as [[zebra-1]] says"', tags="[lid]")
    estate.memory("by", "See [[about]], [[lid-1]], [[Tin Cup]].", title='"By [[zebra-2]]"')
    estate.memory("by-2", "See [[Tin Cup]].", title='"Of [[zebra-2]]"')
    estate.memory("lead", f"The old lid was red, says [[zebra-0]] at last.\n\n{repo}\n")
    estate.memory("soon", "On 2026-08-15 the lid is painted, as [[zebra-1]] says.")
    for day in (3, 9, 21):
        estate.write(
            f"calendar/2026/2026-04-{day:02}_session.md",
            f"---\nkind: conversation\ncaptured: 2026-04-{day:02}\ntitle: Talk [[zebra-1]]\n"
            "summary: As personal/zebra-2.md has it.\n---\nOf a lid.\n",
        )
    estate.write(
        "Agent/desk/tasks/descale/progress.md",
        "---\nkind: brief\nstatus: active\ntitle: Descale [[zebra-2]]\n---\n"
        "- [ ] read [[zebra-0]]\n- [ ] copy personal/zebra-1.md <script>\n",
    )
    estate.write("projects/kettle/project.yaml", "slug: kettle\n")
    estate.write("projects/kettle/charter.md", "---\nkind: project\ntitle: Of [[zebra-2]]\n---\n")
    embed(estate)
    estate.commit()
    before = estate.files()
    reports = run_night(estate.night(embedder=WordsEmbedder), STAGES)
    assert [each.error for each in reports if each.error] == []
    made = {path: data for path, data in estate.files().items() if before.get(path) != data}
    pages = {path for path in made if path.endswith(".md")}
    assert {"Agent/desk/moc-tasks.md", "projects/kettle/moc-kettle.md"} <= pages
    assert {"Agent/memory/mocs/topic-lid.md", "Agent/memory/entities/tin-cup.md"} <= pages
    assert any(path.startswith("Agent/memory/entities/acme-gizmo") for path in pages)
    for path, data in made.items():
        # A note that was edited says itself what it said before.
        assert set(_named(data)) <= set(_named(before.get(path, b""))), path
    with estate.store.transaction() as connection:
        graph = read_graph(connection, estate.rules().rules)
    assert len(graph.nodes) >= 3
    for drawn in (draw(graph, place(graph)), page(graph, place(graph))):
        assert "zebra" not in drawn


def test_no_question_of_the_night_names_a_closed_note(estate: Estate) -> None:
    estate.write("personal/zebra-1.md", "Mine.\n")
    for number, memory_class in enumerate(("episodic", "episodic", "episodic", "semantic"), 1):
        estate.memory(
            f"lid-{number}",
            f"The lid of acme/kettle#12 sticks in the cold, says [[zebra-1]]. Case {number}.\n",
            memory_class=memory_class,
            captured=f"2026-06-0{number}T08:00:00Z",
            enriched_by="operator",
        )
    long = "It is told at length in personal/zebra-1.md how that went.\n" * (LONG_FROM // 50)
    estate.memory("long", long, enriched_by="operator")
    embed(estate)
    estate.commit()
    with openai_server() as server:
        server.answer = "{}"
        estate.models = at_once(server)
        stages = [CrystallizedLessons(), EntityRollups(), Insights(), Summaries(), TomorrowsBrief()]
        for stage in stages:
            run_stage(estate.night(embedder=WordsEmbedder), stage)
        told = [asked.user for asked in server.asked]
    assert len(told) >= 4
    assert not [user for user in told if "zebra" in user]
    assert sum(HIDDEN in user for user in told) >= 4


def _named(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if b"zebra" in line]
