"""The pass with a model: a real server that speaks the wire format, answers and lies."""

from collections.abc import Iterator
from typing import Any

import pytest
from house import House, answer, is_grounding, judgments, model_judge, well
from model_servers import Asked, Busy, ModelServer, Stop, anthropic_server

BODY = (
    "The build failed with `ModuleNotFoundError` after the upgrade. The cause was a stale cache. "
    "Clearing `~/.cache/frob` cured it, fixed in 2.4.1."
)
REWRITTEN = (
    "A stale cache broke the build after the upgrade: `ModuleNotFoundError`. "
    "Clearing `~/.cache/frob` cures it. Fixed in 2.4.1."
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = lambda asked: well(asked, body=REWRITTEN)
        yield running


def test_a_capture_becomes_a_memory(house: House, server: ModelServer) -> None:
    path = house.note("build-broke", BODY)
    report = house.run(model_judge(house, server))
    new = "Agent/memory/procedural/2026/03/stale-cache-breaks-the-build.md"
    assert report.moved == {path: new}
    assert not (house.root / path).exists()
    text = house.text(new)
    assert REWRITTEN in text and BODY not in text
    for line in (
        "type: fix",
        "status: active",
        "altitude: canonical",
        "slug: stale-cache-breaks-the-build",
        "title: Stale cache breaks the build",
        "captured: 2026-03-01T09:00:00Z",
        "confidence: 0.9",
        "enriched_by: anthropic/test-model+",
        "enriched_at: 2026-04-12T08:15:00Z",
    ):
        assert line in text
    assert house.git("status", "--porcelain") == ""
    assert report.usage["strong"].calls == 2, "the judgment and its grounding"
    assert house.run(model_judge(house, server)).population == 0
    assert len(server.asked) == 2


def test_a_run_is_taken_back_with_its_name_and_its_bytes(house: House, server: ModelServer) -> None:
    from agentm_assets.history.revert import revert

    path = house.note("build-broke", BODY)
    raw = house.read(path)
    house.run(model_judge(house, server))
    done = revert(house.location, house.backend, "enrich-run-1", now=house.clock)
    assert not done.conflicts
    assert house.read(path) == raw
    assert not (house.root / "Agent/memory/procedural/2026/03").exists() or not list(
        (house.root / "Agent/memory/procedural/2026/03").iterdir()
    )
    assert house.git("status", "--porcelain") == ""
    again = house.run(model_judge(house, server))
    assert again.refused == {"refused-reverted": 1}, "the operator's word stands"
    assert house.read(path) == raw
    redone = revert(house.location, house.backend, str(done.by), now=house.clock)
    assert not redone.conflicts
    assert not (house.root / path).exists(), "taken back, the move is made again"


LIES: dict[str, dict[str, Any]] = {
    "schema-unknown-type": {"type": "wisdom"},
    "schema-unknown-class": {"class": "mocs"},
    "schema-slug": {"slug": "../x"},
    "schema-tags": {"tags": [f"tag-{number}" for number in range(50)]},
    "schema-body": {"body": "   "},
    "schema-html": {"body": f"{REWRITTEN}\n\n<script>alert(1)</script>"},
    "tokens-lost": {"body": "A stale cache broke the build."},
    "aliases-foreign": {"aliases": ["catastrophic frobnication"]},
}


@pytest.mark.parametrize("code", LIES)
def test_a_lie_reaches_no_file_and_is_not_paid_for_twice(
    house: House, server: ModelServer, code: str
) -> None:
    path = house.note("build-broke", BODY)
    before = house.read(path)
    server.answer = lambda asked: well(asked, **{"body": REWRITTEN, **LIES[code]})
    report = house.run(model_judge(house, server))
    assert report.enriched == 0
    assert list(report.refused) == [code]
    assert house.read(path) == before
    asked = len(server.asked)
    again = house.run(model_judge(house, server))
    assert again.refused == {"refused-before": 1}
    assert len(server.asked) == asked
    assert house.git("status", "--porcelain") == "", "the record of the refusal is committed"


def test_a_claim_of_its_own_is_found_by_the_second_model(house: House, server: ModelServer) -> None:
    path = house.note("build-broke", BODY)
    before = house.read(path)

    def says(asked: Asked) -> str:
        if is_grounding(asked):
            return '{"faithful": false, "claim": "the cache was on a full disk"}'
        return answer(body=f"{REWRITTEN} The cache was on a full disk.")

    server.answer = says
    report = house.run(model_judge(house, server))
    assert report.refused == {"grounding-unfaithful": 1}
    assert house.read(path) == before


def test_a_judge_that_can_not_answer_is_asked_again_and_parked_at_last(
    house: House, server: ModelServer
) -> None:
    house.note("build-broke", BODY)
    server.answer = "I would file it as a fix."
    for _ in range(3):
        report = house.run(model_judge(house, server))
        assert list(report.refused) == ["schema-not-json"] and report.remembered == 0
    assert judgments(server) == 3
    assert house.run(model_judge(house, server)).refused == {"refused-parked": 1}
    assert judgments(server) == 3


def test_an_unable_second_model_costs_no_second_judgment(house: House, server: ModelServer) -> None:
    house.note("build-broke", BODY)
    server.answer = lambda asked: "maybe" if is_grounding(asked) else answer(body=REWRITTEN)
    assert house.run(model_judge(house, server)).refused == {"grounding-unable": 1}
    server.answer = lambda asked: well(asked, body=REWRITTEN)
    assert house.run(model_judge(house, server)).enriched == 1
    assert judgments(server) == 1, "the answer that was paid for is used"


def test_nobody_answers_and_nothing_is_remembered(house: House, server: ModelServer) -> None:
    for number in range(5):
        house.note(f"build-broke-{number}", f"{BODY} Case {number}.")
    server.answer = Busy(500, code="api_error")
    report = house.run(model_judge(house, server))
    assert report.deferred == 3 and report.deferred_because is not None
    assert report.refused == {"model-unavailable": 2}
    server.answer = lambda asked: FINE if is_grounding(asked) else answer()
    assert house.run(model_judge(house, server)).enriched == 5


FINE = '{"faithful": true, "claim": null}'


@pytest.mark.parametrize("stop", [Stop("max_tokens"), Stop("refusal")])
def test_an_answer_that_was_cut_off_reaches_no_file(
    house: House, server: ModelServer, stop: Stop
) -> None:
    path = house.note("build-broke", BODY)
    before = house.read(path)
    server.answer = stop
    assert house.run(model_judge(house, server)).refused == {"model-unusable": 1}
    assert house.read(path) == before


@pytest.mark.parametrize("linked", [False, True])
def test_a_human_edit_during_the_call_wins(house: House, server: ModelServer, linked: bool) -> None:
    path = house.note("build-broke", BODY)
    if linked:  # then it is written where it is, else it is moved
        house.write("ideas.md", "- [[build-broke]]\n")
    edited = house.read(path).replace(b"stale cache", b"corrupt cache, says Olga")

    def while_the_operator_types(asked: Asked) -> str:
        house.write(path, edited)
        return well(asked, body=REWRITTEN)

    server.answer = while_the_operator_types
    report = house.run(model_judge(house, server))
    assert report.refused == {"journal-changed-meanwhile": 1} and report.remembered == 0
    assert house.read(path) == edited
    server.answer = lambda asked: well(asked)
    again = house.run(model_judge(house, server))
    assert again.enriched == 1, "it is judged as the operator left it"
    assert b"says Olga" in house.read(again.written[0])


def test_a_link_that_appears_during_the_call_keeps_the_name(
    house: House, server: ModelServer
) -> None:
    path = house.note("build-broke", BODY)

    def while_a_note_is_captured(asked: Asked) -> str:
        house.write("calendar/2026/2026-04-12_day.md", "See [[build-broke]].\n")
        return well(asked, body=REWRITTEN)

    server.answer = while_a_note_is_captured
    report = house.run(model_judge(house, server))
    assert report.enriched == 1 and not report.moved
    text = house.text(path)
    assert 'title: "build broke"' in text and "slug: build-broke\n" in text
    assert REWRITTEN in text


def test_under_the_floor_a_note_stays_and_is_not_paid_for_again(
    house: House, server: ModelServer
) -> None:
    path = house.note("build-broke", BODY)
    server.answer = lambda asked: well(asked, body=REWRITTEN, confidence=0.64)
    report = house.run(model_judge(house, server))
    assert (report.kept_unfiled, report.activated, report.moved) == (1, 0, {})
    text = house.text(path)
    assert "status: unfiled" in text and "confidence: 0.64" in text and BODY in text
    asked = len(server.asked)
    assert house.run(model_judge(house, server)).population == 0
    assert len(server.asked) == asked
    house.write(path, house.read(path).replace(b"stale", b"very stale"))
    assert house.waiting(model_judge(house, server).stamp).counts["body"] == 0
    house.index()
    assert house.waiting(model_judge(house, server).stamp).counts["body"] == 1


def test_captured_active_gets_judgment_fields_and_keeps_its_words(
    house: House, server: ModelServer
) -> None:
    path = house.note("build-broke", BODY)
    house.write(path, house.read(path).replace(b"unfiled", b"active"))
    report = house.run(model_judge(house, server))
    assert report.enriched == 1 and not report.moved
    text = house.text(path)
    assert BODY in text and 'title: "build broke"' in text
    assert "status: active" in text and "type: fix" in text and "altitude: canonical" in text
