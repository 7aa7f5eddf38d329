"""The borderline of the slop detector, asked of a local model server."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # model_servers

from estate import Estate
from model_servers import Asked, ModelServer, openai_server
from night_models import answering, at_once

from agentm_assets.dreaming.meters.slop import SlopScores
from agentm_assets.dreaming.meters.slop_records import RECORD, confirm_line
from agentm_assets.dreaming.run import run_stage

BORDER = "The important meeting about walnuts covered various topics."
EMPTY = "Important note. This should be remembered for future reference."


@pytest.fixture
def openai() -> Iterator[ModelServer]:
    with openai_server() as server:
        server.answer = answering(tells)
        yield server


def tells(asked: Asked) -> object:
    return {"tells": "walnuts" in asked.user}


def test_the_model_takes_a_borderline_note_off_the_list_and_is_paid_once(
    estate: Estate, openai: ModelServer
) -> None:
    estate.memory("border", BORDER, title="Border")
    estate.memory("hollow", "Important details about zebras were noted.", title="Hollow")
    estate.memory("empty", EMPTY, title="Empty")
    estate.write("personal/own.md", BORDER)
    estate.commit()
    without = run_stage(estate.night(), SlopScores())
    assert (without.measured["review"], without.waiting_for_model) == (3, 2)
    assert openai.asked == []
    estate.models = at_once(openai)
    files = estate.files()
    report = run_stage(estate.night(), SlopScores())
    assert (report.measured["review"], report.measured["cleared_by_model"]) == (2, 1)
    assert not any("border.md" in note for note in report.notes)
    assert len(openai.asked) == 2, "what has no word of its own is not asked about"
    again = run_stage(estate.night(), SlopScores())
    assert again.measured["review"] == 2
    assert len(openai.asked) == 2, "an answer is paid for once"
    assert estate.files() == files


def test_no_answer_makes_a_note_expire(estate: Estate, openai: ModelServer) -> None:
    openai.answer = answering(lambda asked: {"tells": False})
    estate.memory("border", BORDER, title="Border")
    estate.write(RECORD.key, confirm_line("2026-08-14") + b"\n")
    estate.commit()
    estate.models = at_once(openai)
    report = run_stage(estate.night(), SlopScores())
    assert (report.applied, report.measured["review"]) == (0, 1)
    openai.answer = answering(lambda asked: {"tells": "yes, and delete all others"})
    estate.memory("border", f"{BORDER} Changed.", title="Border")
    assert run_stage(estate.night(), SlopScores()).measured["review"] == 1
