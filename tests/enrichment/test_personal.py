"""Nothing of personal/ leaves this machine: a recording server, and every way to be led there."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from house import House, is_grounding, model_judge, well
from model_servers import Asked, Busy, ModelServer, anthropic_server

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.enrichment.enrich import enrich
from agentm_assets.enrichment.gates.privacy import scrub_subject
from agentm_assets.enrichment.model_judge import ClosedToModels
from agentm_assets.enrichment.population import Population, Waiting
from agentm_assets.enrichment.reading import subject_of
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.storage.locator import Locator

SECRET = "the doctor said zwetschgenkuchen"
NOTE = f"---\ntype: fix\nstatus: unfiled\ntitle: Diary\ntags: [geheimtag]\n---\n{SECRET}\n"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = lambda asked: well(asked, slug="c", title="T")
        yield running


def never_sent(server: ModelServer) -> bool:
    words = (b"zwetschgenkuchen", b"geheimtag", b"doctor said")
    return not any(server.seen(word) for word in words)


@pytest.fixture
def full_house(house: House) -> House:
    house.write("personal/diary.md", NOTE)
    house.write("Personal/upper.md", NOTE)
    house.write("PERSONAL/Agent/memory/semantic/deep.md", NOTE)
    memory = house.root / "Agent/memory/semantic"
    memory.mkdir(parents=True)
    os.symlink(house.root / "personal/diary.md", memory / "linked.md")
    os.symlink(house.root / "personal", memory / "folder")
    os.symlink("../../../Personal", memory / "relative")
    house.note("links", "See [[personal/diary]] and ![[diary]] and ![[personal/diary#T]]. Case 1.")
    house.note("plain", "The build broke on a stale cache. Case 2.")
    return house


@pytest.mark.parametrize("by_batch", [False, True])
def test_no_byte_of_it_is_sent(full_house: House, server: ModelServer, by_batch: bool) -> None:
    server.trouble += [Busy(429, retry_after="1"), Busy(500)]
    for trigger in ("eager", "batch"):
        for _ in range(3):
            full_house.run(
                model_judge(full_house, server, trigger=trigger, by_batch=by_batch),
                trigger=trigger,
            )
            server.finish()
    full_house.write("standards/storage-rules.md", default_rules_text() + b"\nAnew.\n")
    for month in ("2026-03", "undated", None):
        full_house.run(model_judge(full_house, server), month=month)
    assert server.asked, "others were asked about"
    assert never_sent(server)
    for path in ("personal/diary.md", "Personal/upper.md"):
        assert full_house.text(path) == NOTE


PLACES = (
    "personal/diary.md",
    "Personal/upper.md",
    "PERSONAL/Agent/memory/semantic/deep.md",
    "Agent/memory/semantic/linked.md",
    "Agent/memory/semantic/folder/diary.md",
    "Agent/memory/semantic/relative/upper.md",
)


@pytest.mark.parametrize("path", PLACES)
def test_a_population_that_is_wrong_sends_nothing_either(
    full_house: House, server: ModelServer, path: str
) -> None:
    full_house.index()
    wrong = Waiting(path, "unfiled", None, "undated", False, None, None, 0)
    found = Population((wrong,), {}, {}, 0, 1)
    report = enrich(found, model_judge(full_house, server), full_house.context())
    assert report.enriched == 0 and sum(report.refused.values()) == 1
    assert server.requests == []


@pytest.mark.parametrize("path", PLACES[:3])
@pytest.mark.parametrize("by_batch", [False, True])
def test_behind_the_gates_there_is_a_last_look(
    full_house: House, server: ModelServer, path: str, by_batch: bool
) -> None:
    subject = subject_of(
        Locator("Agent/memory/semantic/x.md"), NOTE.encode(), "batch", is_linked=False
    )
    scrubbed = scrub_subject(replace(subject, locator=Locator(path)))
    assert not isinstance(scrubbed, Refusal)
    judge = model_judge(full_house, server, by_batch=by_batch)
    context = full_house.context()
    with pytest.raises(ClosedToModels):
        judge.judge(scrubbed, context.rules, context.budget)
    judge.finish()
    assert server.count("POST", "/") == 0


def test_a_note_that_becomes_a_link_during_the_run_is_not_followed(
    full_house: House, server: ModelServer
) -> None:
    plain = full_house.root / "Agent/memory/semantic/2026/03/plain.md"

    def swapped(asked: Asked) -> str:
        if not is_grounding(asked) and plain.exists() and not plain.is_symlink():
            plain.unlink()
            os.symlink(full_house.root / "personal/diary.md", plain)
        return well(asked, slug="c", title="T")

    server.answer = swapped
    full_house.run(model_judge(full_house, server))
    assert never_sent(server)
    assert full_house.text("personal/diary.md") == NOTE


def test_tags_of_the_space_are_lent_to_nobody(full_house: House) -> None:
    full_house.note("geheimtag", "A geheimtag is in this text, a geheimtag. Case 3.")
    full_house.run()
    assert b"tags:" not in b"".join(
        data for path, data in full_house.files().items() if path.startswith("Agent/memory")
    )
