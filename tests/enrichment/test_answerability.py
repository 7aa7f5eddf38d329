"""The verdict over a pass: a note is found by what it says."""

from collections.abc import Iterator

import pytest
from house import House

from agentm_assets.config.settings import Settings
from agentm_assets.enrichment.answerability import answerability, question_of
from agentm_assets.index.publish import publish_lexical
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.sources import Sources

TEXTS = {
    "kettle-seal": "The kettle dripped because its rubber seal had perished in the heat.",
    "fern-frost": "A fern in the porch lost every frond when frost came early in October.",
    "bus-timetable": "On Sundays the last bus to the harbour leaves twenty minutes past nine.",
}


@pytest.fixture
def sources(house: House) -> Iterator[Sources]:
    for slug, text in TEXTS.items():
        house.note(slug, text)
    for number in range(8):
        house.note(f"filler-{number}", f"Nothing of interest happened on day {number} at all.")
    house.index()
    publish_lexical(house.store, house.location.lexical_dir)
    with open_sources(Settings.load(house.env), house.env) as opened:
        yield opened


def paths(house: House) -> list[str]:
    return [f"Agent/memory/semantic/2026/03/{slug}.md" for slug in TEXTS]


def test_notes_are_found_by_their_sentences(house: House, sources: Sources) -> None:
    verdict = answerability(
        paths(house), house.backend, sources, now=house.clock(), clock=lambda: 0.0, seconds=9
    )
    assert (verdict.asked, verdict.found, verdict.missed) == (3, 3, ())


def test_a_note_whose_words_the_index_lacks_is_missed(house: House, sources: Sources) -> None:
    path = paths(house)[0]
    house.write(path, b"---\ntitle: x\n---\nZyx wvu tsr qponm lkjih gfedc.\n")
    verdict = answerability(
        [path], house.backend, sources, now=house.clock(), clock=lambda: 0.0, seconds=9
    )
    assert (verdict.asked, verdict.found, verdict.missed) == (1, 0, (path,))


def test_it_ends_when_its_time_is_over(house: House, sources: Sources) -> None:
    ticks = iter(range(100))
    verdict = answerability(
        paths(house),
        house.backend,
        sources,
        now=house.clock(),
        clock=lambda: float(next(ticks)),
        seconds=2,
    )
    assert verdict.asked == 1


def test_the_title_is_not_asked_for_nor_code() -> None:
    data = b"---\ntitle: The kettle seal\n---\n```\nkettle code only lines here\n```\n"
    data += b"The kettle dripped because its rubber seal had perished.\n\nShort one.\n"
    question = question_of("a.md", data)
    assert question == "dripped because its rubber had perished"
    assert question_of("a.md", b"---\ntitle: x\n---\nToo short.\n") is None
