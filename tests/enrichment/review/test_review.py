"""The review queue and the operator's answers, on a real vault under git."""

from typing import Any as Desk

import pytest

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.enrichment.refusals import RECORD, RefusedBefore
from agentm_assets.enrichment.review import Answered, ReviewRefused
from agentm_assets.history.revert import revert
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import content_hash


def test_the_queue_holds_what_was_judged_and_not_filed_the_longest_waiting_first(
    desk: Desk,
) -> None:
    desk.note("raw")  # nobody has judged it yet: it waits for a judge, not for the operator
    desk.judged("filed", status="active", confidence="0.9")
    desk.judged("record", kind="brief")
    desk.judged("gone", status="expired")
    newer = desk.judged("newer", enriched_at="2026-05-03T08:00:00Z")
    older = desk.judged("older", enriched_at="2026-05-01T08:00:00Z")
    first, second = desk.queue()
    assert [first.path, second.path] == [older, newer]
    assert (first.confidence, first.why, first.judged_by) == (0.41, "unsure", "extractive-1")


def refused(desk: Desk, path: str, body: bytes, code: str = "tokens-lost") -> None:
    line = RefusedBefore(
        path, fingerprint(body), "model/x+1", "rules", "1", code, "lost: 42", "2026-05-02T08:00:00Z"
    ).line()
    desk.put(RECORD.key, line + b"\n")


def test_a_refused_note_waits_until_its_body_is_another(desk: Desk) -> None:
    path = desk.note("raw", body="The valve has 42 teeth.")
    refused(desk, path, b"The valve has 42 teeth.\n")
    (waiting,) = desk.queue()
    assert (waiting.path, waiting.why, waiting.confidence) == (path, "tokens-lost", None)
    assert waiting.detail == "lost: 42"
    desk.note("raw", body="The valve has 43 teeth.")
    assert desk.queue() == ()


def test_accepting_changes_two_lines_and_is_taken_back_by_its_run(desk: Desk) -> None:
    path = desk.judged("valve")
    before = desk.read(path)
    done = desk.review.accept(path, desk.rules)
    assert desk.read(path) == before.replace("status: unfiled", "status: active").replace(
        "enriched_by: extractive-1", "enriched_by: operator"
    )
    assert "-status: unfiled\n+status: active\n" in done.diff
    assert desk.git("log", "-1", "--format=%an %s").strip() == f"agentm-review Accept {path}"
    assert desk.queue() == ()
    assert done.run is not None
    revert(desk.location, desk.backend, done.run, now=desk.now)
    assert desk.read(path) == before
    assert [each.path for each in desk.queue()] == [path]


def test_an_answer_is_not_asked_for_again_before_the_index_has_read_it(desk: Desk) -> None:
    accepted, retyped, other = (desk.judged(name) for name in ("accepted", "retyped", "other"))
    assert len(desk.queue()) == 3
    desk.review.accept(accepted, desk.rules)
    with desk.facts() as facts:
        moved = desk.review.retype(retyped, "workflow", desk.rules, desk.vault, facts).moved_to
    assert moved is not None
    assert [each.path for each in desk.queue_of_the_last_index()] == [other]
    assert [each.path for each in desk.queue()] == [other]


def test_a_judgment_that_was_taken_back_waits_for_the_operator(desk: Desk) -> None:
    path = desk.note("raw")
    with begin(desk.location, desk.backend, pass_name="enrich", now=desk.now) as run:
        run.rewrite(
            Locator(path),
            lambda data: data.replace(b"unfiled", b"active\nenriched_by: extractive-1"),
        )
    assert desk.queue() == ()
    revert(desk.location, desk.backend, run.run_id, now=desk.now)
    (waiting,) = desk.queue()
    assert (waiting.path, waiting.why, waiting.confidence) == (path, "taken-back", None)
    desk.review.reject(path, desk.rules, "old")
    assert desk.queue() == ()


def test_a_judgment_that_gave_another_name_is_known_as_taken_back_too(desk: Desk) -> None:
    path = desk.note("raw")
    data = desk.read(path).encode()
    judged = data.replace(b"unfiled", b"active\nenriched_by: extractive-1")
    with begin(desk.location, desk.backend, pass_name="enrich", now=desk.now) as run:
        target = Locator(path.replace("raw", "valve-that-sticks"))
        run.move(Locator(path), target, judged, expect=content_hash(data))
    assert desk.queue() == ()
    revert(desk.location, desk.backend, run.run_id, now=desk.now)
    assert [(each.path, each.why) for each in desk.queue()] == [(path, "taken-back")]


def test_what_another_pass_wrote_and_a_revert_undid_is_none_of_the_queue(desk: Desk) -> None:
    path = desk.note("raw")
    with begin(desk.location, desk.backend, pass_name="forget", now=desk.now) as run:
        run.rewrite(Locator(path), lambda data: data.replace(b"unfiled", b"expired"))
    revert(desk.location, desk.backend, run.run_id, now=desk.now)
    assert desk.queue() == ()


def test_accepting_twice_or_without_a_known_type(desk: Desk) -> None:
    path = desk.judged("valve")
    desk.review.accept(path, desk.rules)
    assert not desk.review.accept(path, desk.rules).changed
    odd = desk.judged("odd", type="blog")
    with pytest.raises(ReviewRefused, match="retype"):
        desk.review.accept(odd, desk.rules)


def test_rejecting_expires_softly_with_the_reason(desk: Desk) -> None:
    path = desk.judged("valve")
    done = desk.review.reject(path, desk.rules, "said before")
    text = desk.read(path)
    assert "status: expired\n" in text and "status_reason: said before\n" in text
    assert text.endswith("The valve sticks.\n")
    assert done.changed and "+status: expired" in done.diff
    assert desk.git("log", "-1", "--format=%an").strip() == "agentm-review"
    assert desk.queue() == ()
    assert not desk.review.reject(path, desk.rules, "again").changed


def retyped(desk: Desk, path: str, type_: str, *, dry_run: bool = False) -> Answered:
    desk.index()
    with desk.facts() as facts:
        return desk.review.retype(path, type_, desk.rules, desk.vault, facts, dry_run=dry_run)


def test_retyping_files_the_note_and_corrects_its_class_once(desk: Desk) -> None:
    path = desk.judged("valve", custom="kept")
    done = retyped(desk, path, "fix")
    moved = path.replace("/semantic/", "/procedural/")
    assert done.moved_to == moved
    assert not (desk.root / path).exists()
    text = desk.read(moved)
    for line in ("type: fix", "status: active", "enriched_by: operator", "custom: kept"):
        assert f"{line}\n" in text
    assert f"rules_hash: {desk.rules.rules_hash}\n" in text
    assert desk.git("log", "-1", "--format=%an").strip() == "agentm-review"
    again = retyped(desk, moved, "reference")
    assert again.moved_to is None, "a class is corrected once"
    assert "type: reference\n" in desk.read(moved)


def test_a_linked_note_stays_where_it_is(desk: Desk) -> None:
    path = desk.judged("valve")
    desk.put("projects/p/notes/a.md", "see [[valve]]\n")
    assert retyped(desk, path, "fix").moved_to is None
    assert "type: fix\n" in desk.read(path)
    other = desk.judged("other")
    desk.index()
    desk.put("projects/p/notes/b.md", "see [[other]]\n")  # not indexed yet
    with desk.facts() as facts:
        done = desk.review.retype(other, "fix", desk.rules, desk.vault, facts)
    assert done.moved_to is None


def test_a_dry_run_shows_the_difference_and_writes_nothing(desk: Desk) -> None:
    path = desk.judged("valve")
    before, head = desk.read(path), desk.git("rev-parse", "HEAD")
    for done in (
        desk.review.accept(path, desk.rules, dry_run=True),
        desk.review.reject(path, desk.rules, "why", dry_run=True),
        retyped(desk, path, "fix", dry_run=True),
    ):
        assert not done.changed and done.run is None
        assert "-status: unfiled" in done.diff
    assert (desk.read(path), desk.git("rev-parse", "HEAD")) == (before, head)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("personal/diary.md", "no note that a judge files"),
        ("Agent/memory/mocs/map.md", "no note that a judge files"),
        ("Agent/memory/semantic/absent.md", "there is no note"),
        ("../outside.md", "leads nowhere"),
    ],
)
def test_what_is_no_note_of_the_queue_is_refused(desk: Desk, path: str, says: str) -> None:
    if not path.startswith("..") and "absent" not in path:
        desk.put(path, "---\ntype: reference\nstatus: unfiled\n---\nText.\n")
    desk.index()
    with desk.facts() as facts:
        for answer in (
            lambda: desk.review.accept(path, desk.rules),
            lambda: desk.review.reject(path, desk.rules, "why"),
            lambda: desk.review.retype(path, "fix", desk.rules, desk.vault, facts),
        ):
            with pytest.raises(ReviewRefused, match=says):
                answer()


def test_a_type_that_the_rules_do_not_know_is_refused(desk: Desk) -> None:
    path = desk.judged("valve")
    before = desk.read(path)
    with pytest.raises(ReviewRefused, match="blog"):
        retyped(desk, path, "blog")
    assert desk.read(path) == before


def test_showing_a_note_tells_what_the_judge_changed(desk: Desk) -> None:
    path = desk.note("valve")
    raw = desk.read(path)
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Capture")
    judged = raw.replace("status: unfiled", "status: unfiled\nconfidence: 0.41\nenriched_by: x-1")
    with begin(desk.location, desk.backend, pass_name="enrich") as run:
        run.rewrite(Locator(path), lambda old: judged.encode())
    shown = desk.review.show(path, desk.queue())
    assert shown.queued is not None
    assert "+confidence: 0.41\n+enriched_by: x-1\n" in shown.judged_diff
    desk.review.accept(path, desk.rules)
    shown = desk.review.show(path, desk.queue())
    assert shown.queued is None and shown.status == "active"
