"""Questions that go in a batch: answered later, killed at any point, never paid for twice."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from house import House, answer, is_grounding, judgments, model_judge, well
from model_servers import NOT_RUN, Asked, Busy, Drop, ModelServer, Stop, anthropic_server

NOTES = 4


@pytest.fixture
def server(house: House) -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.now = house.clock.now
        running.answer = says
        yield running


def says(asked: Asked) -> str:
    if is_grounding(asked):
        return well(asked)
    number = asked.user.rpartition("Case ")[2][0]
    return answer(title=f"Case {number}", slug=f"case-{number}")


def captures(house: House) -> None:
    for number in range(NOTES):
        house.note(f"note-{number}", f"The build broke on a stale cache. Case {number}.")


def submitted(server: ModelServer) -> int:
    return server.count("POST", "/v1/messages/batches")


def test_a_batch_is_handed_over_and_taken_up_by_a_later_run(
    house: House, server: ModelServer
) -> None:
    captures(house)
    before = house.files()
    report = house.run(model_judge(house, server, by_batch=True))
    assert (report.in_batch, report.enriched, report.deferred) == (NOTES, 0, 0)
    assert {k: v for k, v in house.files().items() if k.startswith("Agent/memory")} == {
        k: v for k, v in before.items() if k.startswith("Agent/memory")
    }
    waits = house.run(model_judge(house, server, by_batch=True))
    assert waits.in_batch == NOTES and submitted(server) == 1
    server.finish()
    done = house.run(model_judge(house, server, by_batch=True))
    assert done.enriched == NOTES and judgments(server) == NOTES
    assert submitted(server) == 1
    assert done.usage["strong"].calls == 2 * NOTES, "answers of the batch, and their grounding"
    assert not list((house.location.log_dir / "batches").iterdir())
    assert not list((house.location.log_dir / "answers").iterdir())


def test_what_a_batch_did_not_answer_waits(house: House, server: ModelServer) -> None:
    captures(house)

    def partly(asked: Asked) -> str | Busy | Stop:
        number = asked.user.rpartition("Case ")[2][0]
        by_number = {"0": says(asked), "1": Busy(500, code="api_error"), "3": NOT_RUN}
        return by_number.get(number, Stop("max_tokens"))

    server.batch_answers = partly
    house.run(model_judge(house, server, by_batch=True))
    server.finish()
    report = house.run(model_judge(house, server, by_batch=True))
    assert report.enriched == 1
    assert report.refused == {"model-unusable": 1}
    assert report.in_batch == 2, "what was not run is asked for again"
    assert any("2 of 4" in remark for remark in report.remarks)


def test_an_answer_counts_in_the_run_that_uses_it_whoever_has_read_it(
    house: House, server: ModelServer
) -> None:
    for month in ("2026-03", "2026-04"):
        house.note(
            f"of-{month}",
            f"The build broke on a stale cache. Case {month[-1]}.",
            captured=f"{month}-01T09:00:00Z",
        )
    server.batch_answers = lambda asked: (
        Stop("max_tokens") if "Case 4" in asked.user else says(asked)
    )
    for month in ("2026-03", "2026-04"):
        house.run(model_judge(house, server, by_batch=True), month=month)
    server.finish()
    march = house.run(model_judge(house, server, by_batch=True), month="2026-03")
    assert march.enriched == 1 and march.usage["strong"].calls == 2, "its own and the grounding"
    april = house.run(model_judge(house, server, by_batch=True), month="2026-04")
    assert april.refused == {"model-unusable": 1}, "though the run of March has read it"
    assert april.usage["strong"].calls == 1
    assert (april.in_batch, submitted(server)) == (0, 2), "nor is it asked for again at once"
    again = house.run(model_judge(house, server, by_batch=True), month="2026-04")
    assert again.in_batch == 1


def test_a_batch_has_the_runs_budget(house: House, server: ModelServer) -> None:
    captures(house)
    judge = model_judge(house, server, by_batch=True)
    report = house.run(judge, budget=(3, None, None))
    assert (report.in_batch, report.deferred) == (3, 1)
    assert len(server.batches["msgbatch_1"]["requests"]) == 3


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_a_batch_that_ended_without_answers_is_asked_anew(
    house: House, server: ModelServer, status: str
) -> None:
    captures(house)
    house.run(model_judge(house, server, by_batch=True))
    server.finish(status)
    report = house.run(model_judge(house, server, by_batch=True))
    assert report.in_batch == NOTES and submitted(server) == 2
    server.finish()
    assert house.run(model_judge(house, server, by_batch=True)).enriched == NOTES


def test_a_batch_that_could_not_be_handed_over_waits(house: House, server: ModelServer) -> None:
    captures(house)
    server.trouble += [Busy(400, code="invalid_request_error")]
    report = house.run(model_judge(house, server, by_batch=True))
    assert (report.in_batch, report.deferred) == (0, NOTES)
    assert report.deferred_because is not None
    assert house.run(model_judge(house, server, by_batch=True)).in_batch == NOTES


def test_the_answer_to_the_handing_over_is_lost(house: House, server: ModelServer) -> None:
    captures(house)
    server.drops_what_it_takes = 1
    assert house.run(model_judge(house, server, by_batch=True)).in_batch == NOTES
    assert len(server.batches) == 1
    server.finish()
    assert house.run(model_judge(house, server, by_batch=True)).enriched == NOTES
    assert submitted(server) == 1, "it was found, not sent again"


def test_the_connection_breaks_before_the_server_took_it(house: House, server: ModelServer) -> None:
    captures(house)
    server.trouble += [Drop()]
    assert house.run(model_judge(house, server, by_batch=True)).in_batch == NOTES
    assert server.batches == {}
    house.clock.pass_by(3600)
    server.now = house.clock.now
    assert house.run(model_judge(house, server, by_batch=True)).in_batch == NOTES
    assert len(server.batches) == 1


def test_a_note_that_was_edited_meanwhile_is_asked_about_anew(
    house: House, server: ModelServer
) -> None:
    captures(house)
    house.run(model_judge(house, server, by_batch=True))
    path = "Agent/memory/semantic/2026/03/note-2.md"
    house.write(path, house.read(path).replace(b"stale cache", b"wrong cache"))
    server.finish()
    report = house.run(model_judge(house, server, by_batch=True))
    assert (report.enriched, report.in_batch) == (NOTES - 1, 1)
    assert b"wrong cache" in house.read(path)


def test_a_batch_of_other_rules_files_nothing(house: House, server: ModelServer) -> None:
    from agentm_assets.contract.rules import default_rules_text

    captures(house)
    house.run(model_judge(house, server, by_batch=True))
    server.finish()
    house.write("standards/storage-rules.md", default_rules_text() + b"\nBe brief.\n")
    report = house.run(model_judge(house, server, by_batch=True))
    assert report.enriched == 0 and report.in_batch == NOTES


KILLED = """
import os, signal, sys
sys.path += {paths!r}
from house import reopened, model_judge, provider_at
import agentm_assets.enrichment.batches as batches
import agentm_assets.enrichment.enrich as enrich_module
from agentm_assets.enrichment.answers import KeptAnswers
import agentm_assets.history.run as run_module
import agentm_assets.storage.local_files as local_files

def die(*_a, **_k):
    os.kill(os.getpid(), signal.SIGKILL)

point = sys.argv[1]
if point == "before-submit":
    original = batches._Open.save
    def save(self):
        original(self)
        if self.batch_id is None:
            die()
    batches._Open.save = save
elif point == "after-submit":
    original = batches._Open.save
    def save(self):
        if self.batch_id is not None:
            die()
        original(self)
    batches._Open.save = save
elif point.startswith(("collecting", "online")):
    left = [int(point[-1])]
    original = KeptAnswers.keep
    def keep(self, *a):
        original(self, *a)
        left[0] -= 1
        if left[0] == 0:
            die()
    KeptAnswers.keep = keep
elif point.startswith("writing"):
    left = [int(point[-1])]
    original = run_module.Run.move
    def move(self, *a, **k):
        left[0] -= 1
        if left[0] == 0:
            die()
        return original(self, *a, **k)
    run_module.Run.move = move
elif point == "two-names":
    local_files._retire = die
elif point == "new-name":
    original = local_files.LocalFiles.write_bytes
    def write(self, locator, *a, **k):
        if "procedural" in locator.key:
            die()
        return original(self, locator, *a, **k)
    local_files.LocalFiles.write_bytes = write
elif point == "before-commit":
    run_module.Run.finish = die
house = reopened(sys.argv[3])
by_batch = not point.startswith("online")
house.run(model_judge(house, provider_at(sys.argv[2]), by_batch=by_batch))
"""


def kill_at(house: House, server: ModelServer, point: str, tmp_path: Path) -> None:
    """A run in a process of its own, which kills itself there (SIGKILL: nothing is cleaned up)."""
    here = Path(__file__).parent
    script = tmp_path / "killed.py"
    script.write_text(KILLED.format(paths=[str(here.parent), str(here)]))
    done = subprocess.run(
        [sys.executable, str(script), point, server.url, str(house.clock.now.timestamp())],
        env={**house.env, "PYTHONPATH": str(here.parent.parent), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == -9, done.stderr.decode()


@pytest.mark.parametrize(
    "point",
    [
        "before-submit",
        "after-submit",
        "collecting-1",
        "collecting-3",
        "collecting-6",
        "writing-1",
        "writing-3",
        "two-names",
        "new-name",
        "before-commit",
    ],
)
def test_killed_at_any_point_nothing_is_half_written_nor_paid_twice(
    house: House, server: ModelServer, point: str, tmp_path: Path
) -> None:
    captures(house)
    if point in ("before-submit", "after-submit"):
        kill_at(house, server, point, tmp_path)
        house.clock.now += timedelta(hours=1)
        server.now = house.clock.now - timedelta(hours=1)
        house.run(model_judge(house, server, by_batch=True))
        server.finish()
    else:
        house.run(model_judge(house, server, by_batch=True))
        server.finish()
        kill_at(house, server, point, tmp_path)
        for path, data in house.files().items():
            if path.startswith("Agent/memory"):
                assert data.endswith(b"\n") and data.count(b"---\n") == 2, path
    asked = len(server.asked)
    house.index()
    report = house.run(model_judge(house, server, by_batch=True))
    assert len(server.batches) == 1 and judgments(server) == NOTES
    groundings = len(server.asked) - judgments(server)
    assert groundings == NOTES, f"{asked} before the kill"
    assert report.deferred == report.in_batch == 0
    notes = [path for path in house.files() if path.startswith("Agent/memory")]
    assert sorted(notes) == [
        f"Agent/memory/procedural/2026/03/case-{number}.md" for number in range(NOTES)
    ]
    assert all(b"status: active" in house.read(path) for path in notes)
    assert house.git("status", "--porcelain") == ""


@pytest.mark.parametrize("point", ["online-1", "online-4", "online-8"])
def test_killed_between_two_calls_no_call_is_made_twice(
    house: House, server: ModelServer, point: str, tmp_path: Path
) -> None:
    captures(house)
    kill_at(house, server, point, tmp_path)
    assert len(server.asked) == int(point[-1])
    assert house.run(model_judge(house, server)).enriched == NOTES
    assert len(server.asked) == 2 * NOTES
    assert house.git("status", "--porcelain") == ""
