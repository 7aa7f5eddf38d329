"""The drain of unfiled notes: judged, doubles superseded, noise expired; nothing lost."""

import pytest
from estate import Estate

from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.stage import StageReport
from agentm_assets.dreaming.unfiled.noise import is_noise
from agentm_assets.dreaming.unfiled.stage import NAME, UnfiledDrain
from agentm_assets.ledger import queue


def dream(estate: Estate, *, dry_run: bool = False) -> StageReport:
    return run_stage(estate.night(), UnfiledDrain(), dry_run=dry_run)


def raw(estate: Estate, slug: str, body: str, **properties: object) -> str:
    return estate.memory(slug, body, **{"status": "unfiled", "type": None} | properties)


def test_what_is_unfiled_is_judged_without_a_model(estate: Estate) -> None:
    path = raw(estate, "cache", "Always clear the build cache before a release, or it breaks.\n")
    report = dream(estate)
    assert report.measured["judged"] == 1
    assert "enriched_by: extractive-" in estate.text(path)
    head = estate.head()
    again = dream(estate)
    assert again.measured["judged"] == 0 and again.planned == 0 and estate.head() == head


def test_a_dry_run_judges_and_writes_nothing(estate: Estate) -> None:
    raw(estate, "cache", "Always clear the build cache before a release, or it breaks.\n")
    before = estate.files()
    dream(estate, dry_run=True)
    assert estate.files() == before


def test_the_weaker_double_is_superseded_by_edits_of_lines(estate: Estate) -> None:
    body = "The valve opens at 4 bar and closes at 3.\n"
    filed = estate.memory("valve", body)
    copy = raw(estate, "valve-again", body, type="idea", enriched_by="operator")
    before = estate.text(copy)
    report = dream(estate)
    assert report.applied == 1 and report.measured["doubles"] == 1
    after = estate.text(copy)
    assert "status: superseded\nsuperseded_by: valve\n" in after.replace(
        "superseded_at", "\nsuperseded_at"
    ) or ("status: superseded" in after and "superseded_by: valve" in after)
    assert after.endswith(before.partition("---\n")[2].partition("---\n")[2])
    assert "status: active" in estate.text(filed)
    assert dream(estate).planned == 0


def test_of_two_filed_copies_both_stay(estate: Estate) -> None:
    for slug in ("one", "two"):
        estate.memory(slug, "The valve opens at 4 bar.\n", enriched_by="operator")
    assert dream(estate).planned == 0


def test_a_double_that_is_edited_meanwhile_stays(estate: Estate) -> None:
    body = "The valve opens at 4 bar and closes at 3.\n"
    filed = estate.memory("valve", body, enriched_by="operator")
    copy = raw(estate, "valve-again", body, type="idea", enriched_by="operator")
    night = estate.night()
    estate.write(filed, estate.text(filed) + "More.\n")
    assert run_stage(night, UnfiledDrain()).applied == 0
    assert "status: unfiled" in estate.text(copy)


@pytest.mark.parametrize(
    ("title", "text", "wanted"),
    [
        ("Untitled", "test\n", True),
        ("Hello", "# Hello\n\nhello, hi\n", True),
        ("x", "...\n", True),
        ("Call Anna", "Call Anna tomorrow about lids.\n", False),
        ("Pin", "4711\n", False),
        ("See", "[[other]]\n", False),
        ("Url", "https://example.org/x\n", False),
        ("Name", "`do_it`\n", False),
        ("Long", "ok " * 60, False),
        ("Test", "The test of the kettle failed again.\n", False),
    ],
)
def test_only_what_says_nothing_is_noise(title: str, text: str, wanted: bool) -> None:
    assert is_noise(title, text) is wanted


def test_noise_expires_after_its_grace_and_can_be_taken_back(estate: Estate) -> None:
    old = raw(estate, "test", "test\n", title="test", enriched_by="operator")
    new = raw(
        estate, "hi", "hi\n", title="hi", captured="2026-08-12T08:00:00Z", enriched_by="operator"
    )
    linked = raw(estate, "foo", "foo\n", title="foo", enriched_by="operator")
    probe = raw(estate, "bar", "bar\n", title="bar", probe="abc", enriched_by="operator")
    estate.memory("names-it", "See [[foo]] for the rest of it.\n", enriched_by="operator")
    dream(estate)
    assert "status: expired" in estate.text(old) and "status_reason:" in estate.text(old)
    for path in (new, linked, probe):
        assert "status: unfiled" in estate.text(path)


def test_personal_notes_are_neither_merged_nor_expired(estate: Estate) -> None:
    body = "The valve opens at 4 bar and closes at 3.\n"
    estate.memory("valve", body, enriched_by="operator")
    own = "---\nstatus: unfiled\ncaptured: 2026-01-01\n---\n"
    for path in ("personal/valve.md", "Personal/test.md"):
        estate.write(path, own + (body if "valve" in path else "test\n"))
    before = estate.files()
    dream(estate)
    assert {k: v for k, v in estate.files().items() if k.casefold().startswith("personal")} == {
        k: v for k, v in before.items() if k.casefold().startswith("personal")
    }


def test_more_than_the_cap_waits_in_the_queue_oldest_first(estate: Estate) -> None:
    estate.memory("valve", "The valve opens at 4 bar.\n", enriched_by="operator")
    for number in range(5):
        raw(estate, f"copy-{number}", "The valve opens at 4 bar.\n", enriched_by="operator")
    estate.limits = estate.limits.model_copy(update={"mutations_per_stage": 2})
    assert [dream(estate).applied for _ in range(4)] == [2, 2, 1, 0]
    with estate.store.transaction() as connection:
        assert queue.rows(connection, NAME) == []
