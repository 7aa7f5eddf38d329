"""All stages of a night together, with and without a model."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # model_servers

from declared import declare_person
from estate import Estate
from model_servers import Asked, ModelServer, anthropic_server
from night_models import FAITHFUL, by_batch, is_grounding, numbers_of
from words_embedder import WordsEmbedder, embed

from agentm_assets.dreaming.attempt import run_night
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.stage import StageReport


def says(asked: Asked) -> str:
    """A model that only repeats what its notes say."""
    if is_grounding(asked):
        return FAITHFUL
    if '"same"' in asked.system:
        return '{"same": false}'
    line = {"text": "The lid sticks in the cold.", "notes": numbers_of(asked)[:3]}
    wanted = asked.schema or {}
    fields = wanted.get("properties", {})
    if "title" in fields and "sentences" in fields:
        return json.dumps({"title": "The lid sticks in the cold", "sentences": [line]})
    if "sentences" in fields:
        return json.dumps({"sentences": [line]})
    return "{}"


@pytest.fixture
def server(estate: Estate) -> Iterator[ModelServer]:
    with anthropic_server(answer=says) as running:
        running.now = estate.now
        yield running


def fill(estate: Estate) -> None:
    declare_person(estate)
    for number, memory_class in enumerate(("episodic", "semantic", "episodic", "episodic"), 1):
        estate.memory(
            f"lid-{number}",
            f"From: Anna Kern <anna@example.org>\n\nThe lid sticks in the cold. "
            f"See acme/kettle#12, case {number}.\n",
            memory_class=memory_class,
            captured=f"2026-06-0{number}T08:00:00Z",
            enriched_by="operator",
        )
    estate.memory(
        "raw", "Always warm the lid before use, it sticks in the cold.\n", status="unfiled"
    )
    estate.memory("test", "test\n", title="test", status="unfiled", enriched_by="operator")
    estate.write("personal/own.md", "My secret of acme/kettle#12.\n")
    embed(estate)
    estate.commit()


def night(estate: Estate) -> dict[str, StageReport]:
    embed(estate)
    found = run_night(estate.night(now=estate.now, embedder=WordsEmbedder), STAGES)
    reports = {report.stage: report for report in found}
    assert [each.error for each in reports.values() if each.error] == []
    return reports


def test_without_a_model_a_second_night_has_nothing_to_do(estate: Estate) -> None:
    fill(estate)
    first = night(estate)
    assert first["entity-rollups"].applied >= 2 and first["unfiled-drain"].applied == 1
    assert first["crystallized-lessons"].waiting_for_model == 1
    night(estate)
    night(estate)
    before, head = estate.files(), estate.head()
    again = night(estate)
    assert {name: report.planned for name, report in again.items() if report.planned} == {}
    assert estate.files() == before and estate.head() == head
    assert "secret" not in "".join(
        data.decode(errors="replace")
        for path, data in before.items()
        if not path.startswith("personal/")
    )


def test_with_batches_all_answers_come_and_the_nights_fall_quiet(
    estate: Estate, server: ModelServer
) -> None:
    fill(estate)
    estate.models = by_batch(server)
    for _ in range(6):
        night(estate)
        server.finish()
    lessons = [path for path in estate.files() if "memory/crystallized/" in path]
    assert lessons and "The lid sticks in the cold." in estate.text(lessons[0])
    assert "enriched_by: anthropic/" in estate.text("Agent/memory/entities/anna-kern.md")
    asked, head, before = len(server.asked), estate.head(), estate.files()
    keys = [each.key for each in server.asked]
    assert len(keys) == len(set(keys)), "no question was paid for twice"
    night(estate)
    assert len(server.asked) == asked and estate.head() == head and estate.files() == before
    assert not server.seen(b"My secret") and not server.seen(b"anna@example.org")
    (estate.location.duckdb_file).unlink()
    night(estate)
    server.finish()
    night(estate)
    assert len(server.asked) == asked, "an index that is built anew pays for nothing again"
