"""Pages of reports: their block, whose they are, and the history read back from them."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import default_rules_text, parse_rules
from agentm_assets.extract.links import extract_links
from agentm_assets.history.run import begin
from agentm_assets.reports.day import ComponentDay, Day, QueueDay
from agentm_assets.reports.pages import blocks, dated, framed, latest, put, read_page, text_of
from agentm_assets.reports.text import code, plain, size, span, table
from agentm_assets.reports.trend import DAYS, Series, history, read_days, rows, sparkline
from agentm_assets.storage.seam import StorageBackend

TODAY = date(2026, 8, 14)
RULES = parse_rules(default_rules_text(), Path("storage-rules.md"), "default").rules


@given(
    st.text(), st.dictionaries(st.text(), st.text() | st.integers() | st.floats(allow_nan=False))
)
def test_a_page_gives_its_block_back_and_nothing_in_it_ends_the_comment(
    text: str, block: dict[str, object]
) -> None:
    wanted = json.loads(json.dumps({k: v for k, v in block.items() if k != "page"}))
    data = framed(text, wanted)
    held = read_page(data)
    assert held.block == wanted
    assert held.is_ours
    assert data.rstrip().count(b"-->") == data.count(b"-->")
    tail = data[data.rindex(b"<!-- agentm:report ") :]
    assert tail.count(b"-->") == tail.count(b"--") - 1 == 1
    assert text_of(data).rstrip("\n") == text.encode("utf-8", "replace").decode().rstrip("\n")


def test_a_page_that_somebody_edited_is_theirs() -> None:
    data = framed("# Report\n\nAll well.\n", {"v": 1})
    assert not read_page(data.replace(b"All well", b"All is not well")).is_ours
    assert not read_page(b"# Report\n").is_ours
    assert read_page(b"<!-- agentm:report {broken} -->\n").block is None


def test_an_edited_page_stays_and_an_unchanged_one_is_not_written(
    vault: Path, location: VaultLocation, backend: StorageBackend, git: Callable[..., str]
) -> None:
    place = dated(backend, "health", "2026-08-14")
    assert place.key == "Agent/diagnostics/health/2026-08-14-health-scorecard.md"
    assert latest(backend, "health").name == "latest_health_scorecard.md"
    assert latest(backend, "morning").name == "latest_morning_note.md"
    page, newer = framed("one\n", {"v": 1}), framed("two\n", {"v": 1})
    for data, fate in ((page, ""), (page, ""), (newer, "")):
        with begin(location, backend, pass_name="report") as run:
            assert put(run, backend, place, data) == fate
    assert git("rev-list", "--count", "HEAD").strip() == "3", "the start, and two that differ"
    edited = newer.replace(b"two", b"my own words")
    (vault / place.key).write_bytes(edited)
    with begin(location, backend, pass_name="report") as run:
        assert put(run, backend, place, page) == "edited"
    assert (vault / place.key).read_bytes() == edited


def test_history_is_read_from_dated_pages_alone(
    backend: StorageBackend, put: Callable[[str, bytes], Path]
) -> None:
    for back, memories in ((0, 30), (1, 20), (40, 5)):
        day = Day(date=f"{TODAY - timedelta(days=back)}", figures={"memories": memories})
        page = framed("x\n", day.model_dump(mode="json"))
        put(f"Agent/diagnostics/health/{day.date}-health-scorecard.md", page)
    put("Agent/diagnostics/health/latest_health_scorecard.md", page)
    put("Agent/diagnostics/health/2026-08-01-health-scorecard.md", b"# no block\n")
    put("Agent/diagnostics/health/2026-08-02-health-scorecard.md", framed("x", {"v": 9}))
    wrong = Day(date="2026-08-04").model_dump(mode="json")
    put("Agent/diagnostics/health/2026-08-03-health-scorecard.md", framed("x", wrong))
    assert sorted(blocks(backend, "health")) == [
        "2026-07-05", "2026-08-02", "2026-08-03", "2026-08-13", "2026-08-14",
    ]  # fmt: skip
    days = read_days(backend)
    assert [each.isoformat() for each in days] == ["2026-07-05", "2026-08-13", "2026-08-14"]
    shown = rows(days, TODAY, (Series("memories", "memories"), Series("nothing", "nothing")))
    assert shown == [("memories", "30", "20", "-", "-", "`▁█`")]


def test_a_day_without_a_card_is_a_gap_and_not_a_nought() -> None:
    assert sparkline([None, None, 1.0, None, 8.0]) == "▁·█"
    assert sparkline([2.0, 2.0]) == "▄▄"
    assert sparkline([None]) == ""
    days = {
        TODAY - timedelta(days=back): Day(date="x", figures={"a": back}) for back in (0, 30, 31)
    }
    values = history(days, TODAY, lambda day: day.figures["a"])
    assert len(values) == DAYS
    assert (values[0], values[-1]) == (30, 0)


def test_what_only_the_clock_changes_makes_no_other_day() -> None:
    day = Day(
        date="2026-08-14",
        at="05:40",
        figures={"memories": 3, "capture_ms": 5.5},
        components={"embedder": ComponentDay(ok=True, ms=300.0)},
        queues={"stubs": QueueDay(pending=1, oldest_age_seconds=5)},
    )
    later = day.model_copy(
        update={
            "at": "05:50",
            "figures": {"memories": 3, "capture_ms": 9.0},
            "components": {"embedder": ComponentDay(ok=True, ms=350.0)},
            "queues": {"stubs": QueueDay(pending=1, oldest_age_seconds=600)},
        }
    )
    assert later.comparable() == day.comparable()
    for change in (
        {"figures": {"memories": 4}},
        {"components": {"embedder": ComponentDay(ok=False)}},
        {"queues": {"stubs": QueueDay(pending=2)}},
    ):
        assert day.model_copy(update=change).comparable() != day.comparable()


@pytest.mark.parametrize(
    "text",
    ["[[kettle]]", "[a](b.md)", "`[[x]]", "a | b", "%%gone%%", "<b>", "# head", "\n- x\n",
     "a``[[b]]`", "![[img.png]]", "`", "$a$", "==hot=="],
)  # fmt: skip
def test_text_of_others_makes_no_link_and_no_cell(text: str) -> None:
    for shown in (plain(text), code(text)):
        page = f"---\nkind: telemetry\n---\n| a | b |\n| --- | --- |\n| {shown} | x |\n"
        assert not extract_links(page.encode(), page.index("|"))
        assert "\n" not in shown
        assert len(shown.replace("\\|", "").split("|")) == 1


def test_words_and_figures_as_a_person_reads_them() -> None:
    assert plain("memory_recent of 93%") == "memory_recent of 93%"
    assert [size(n) for n in (0, 999, 54_700, 3_200_000, 5 * 10**12)] == [
        "0 B", "999 B", "54.7 kB", "3.2 MB", "5000.0 GB",
    ]  # fmt: skip
    assert [span(n) for n in (5, 90, 7200, 86_400, 300_000)] == [
        "5 s", "1.5 min", "2 h", "1 day", "3.5 days",
    ]  # fmt: skip
    assert table(("a", "b"), [("x", "1")])[1] == "| --- | ---: |"
