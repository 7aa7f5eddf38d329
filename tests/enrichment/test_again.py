"""Who waits again, who does not, and from what text a note is judged anew."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest
from house import House, is_grounding, judgments, model_judge, well
from model_servers import Asked, ModelServer, anthropic_server

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.enrichment.enrich import enrich
from agentm_assets.enrichment.judges import Judge
from agentm_assets.enrichment.population import UNDATED
from agentm_assets.enrichment.staleness import OPERATOR
from agentm_assets.history.revert import revert

BODY = "The build broke: `E_STALE` came from a stale cache. Clearing `~/.cache/frob` cured it."
FIRST = "A stale cache broke the build with `E_STALE`; clearing `~/.cache/frob` cured it."
SECOND = "`E_STALE` broke the build. Cause: a stale cache. Cure: clearing `~/.cache/frob`."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = lambda asked: well(asked, body=FIRST, slug="build-broke")
        yield running


def new_rules(house: House, text: bytes = b"\nBe brief.\n") -> None:
    house.write("standards/storage-rules.md", default_rules_text() + text)


def shown(server: ModelServer) -> list[str]:
    """The notes that were asked about."""
    return [asked.user for asked in server.asked if not is_grounding(asked)]


def test_a_note_is_judged_anew_from_the_raw_capture(house: House, server: ModelServer) -> None:
    house.note("build-broke", BODY)
    path = house.run(model_judge(house, server)).written[0]
    assert FIRST in house.text(path)
    new_rules(house)
    server.answer = lambda asked: well(asked, body=SECOND, slug="build-broke")
    report = house.run(model_judge(house, server))
    assert report.enriched == 1
    assert BODY in shown(server)[1] and FIRST not in shown(server)[1]
    assert SECOND in house.text(path)
    new_rules(house, b"\nBe brief, and kind.\n")
    house.run(model_judge(house, server))
    assert BODY in shown(server)[2], "also the third time: never the last rewrite"


def test_what_a_human_has_edited_keeps_its_words_for_ever(
    house: House, server: ModelServer
) -> None:
    house.note("build-broke", BODY)
    path = house.run(model_judge(house, server)).written[0]
    edited = house.read(path).replace(b"cured it.", b"cured it. Ask Olga first.")
    house.write(path, edited)
    server.answer = lambda asked: well(asked, body=SECOND, title="Other", type="workflow")
    for round_ in (1, 2, 3):
        report = house.run(model_judge(house, server))
        assert report.enriched == 1, f"round {round_}"
        text = house.text(path)
        assert "Ask Olga first." in text and SECOND not in text
        assert "type: workflow" in text and "title: Other" not in text
        assert "Ask Olga first." in shown(server)[-1]
        new_rules(house, f"\nRound {round_}.\n".encode())


def test_an_edit_of_properties_is_no_edit_of_the_body(house: House, server: ModelServer) -> None:
    house.note("build-broke", BODY)
    path = house.run(model_judge(house, server)).written[0]
    house.write(path, house.read(path).replace(b"tags: [build]", b"tags: [build, mine]"))
    assert house.run(model_judge(house, server)).population == 0
    new_rules(house)
    server.answer = lambda asked: well(asked, body=SECOND, slug="build-broke")
    house.run(model_judge(house, server))
    text = house.text(path)
    assert SECOND in text and "tags: [build, mine]" in text


def test_a_model_judges_again_what_the_extractive_judge_filed(
    house: House, server: ModelServer
) -> None:
    house.note("build-broke", BODY)
    assert house.run().enriched == 1
    judge = model_judge(house, server)
    house.index()
    assert house.waiting(judge.stamp).counts["version"] == 1
    assert house.run(judge).enriched == 1
    found = house.waiting("extractive-1")
    assert (found.items, found.awaiting_model) == ((), 0), "never the other way round"
    new_rules(house)
    house.index()
    found = house.waiting("extractive-1")
    assert (found.items, found.awaiting_model) == ((), 1), "it waits for a model"


def test_who_waits_and_why_is_known_without_opening_a_file(
    house: House, server: ModelServer
) -> None:
    stamp = model_judge(house, server).stamp
    fresh = house.note("fresh", "Raw.", captured="2026-03-01T09:00:00Z")
    rules_hash = house.rules().rules_hash

    def note(name: str, *lines: str, folder: str = "semantic", day: str = "2026-02-01") -> str:
        head = "".join(f"{line}\n" for line in lines)
        text = f"---\ntype: fix\ncaptured: {day}\n{head}---\nBody of {name}.\n"
        return house.write(f"Agent/memory/{folder}/{name}.md", text)

    def judged(by: str, rules: str, at: str) -> tuple[str, ...]:
        return (f"enriched_by: {by}", f"enriched_at: {at}", f"rules_hash: {rules}")

    active = note("active", "status: active")
    old = note("old", "status: active", *judged(stamp, "aaaa", "2026-01-03T00:00:00Z"))
    older = note("older", "status: active", *judged("m+1", rules_hash, "2026-01-02T00:00:00Z"))
    note("current", "status: active", *judged(stamp, rules_hash, "2026-01-01T00:00:00Z"))
    note("reviewed", "status: active", *judged(OPERATOR, "aaaa", "2026-01-01T00:00:00Z"))
    note("over", "status: superseded")
    note("expired", "status: expired", *judged(stamp, "aaaa", "2026-01-01T00:00:00Z"))
    note("derived", "status: unfiled", folder="entities")
    note("record", "status: unfiled", "kind: brief")
    house.write("personal/diary.md", "---\nstatus: unfiled\n---\nMine.\n")
    undated = house.write(
        "Agent/memory/semantic/undated.md", "---\nstatus: unfiled\n---\nWhen was it?\n"
    )
    house.index()
    for path in house.files():
        (house.root / path).chmod(0)
    found = house.waiting(stamp)
    assert [item.path for item in found.items] == [undated, active, fresh, older, old]
    assert found.counts == {
        "unfiled": 2,
        "active-unjudged": 1,
        "rules": 1,
        "version": 1,
        "body": 0,
    }
    assert found.months == {"2026-02": 3, "2026-03": 1, UNDATED: 1}
    assert [item.path for item in house.waiting(stamp, month=UNDATED).items] == [undated]
    assert [item.path for item in house.waiting(stamp, month="2026-03").items] == [fresh]
    assert [item.path for item in house.waiting(stamp, only=[old]).items] == [old]
    assert house.waiting(stamp).eligible == 7


def test_what_the_rules_hide_does_not_wait(house: House) -> None:
    house.note("plain", "Raw.")
    house.write("Agent/memory/semantic/hidden/x.md", "---\nstatus: unfiled\n---\nRaw.\n")
    house.index()
    assert len(house.waiting("extractive-1").items) == 2
    hiding = default_rules_text().replace(b"excludes: []", b'excludes: ["**/hidden/**"]')
    house.write("standards/storage-rules.md", hiding)
    assert len(house.waiting("extractive-1").items) == 1


def test_a_deleted_index_is_paid_for_with_a_scan(house: House, server: ModelServer) -> None:
    for number in range(3):
        house.note(f"build-{number}", f"{BODY} Case {number}.")
    server.answer = lambda asked: well(asked, slug=f"build-{asked.user.count('x')}")
    house.run(model_judge(house, server))
    asked = len(server.asked)
    path = next(p for p in house.files() if p.startswith("Agent/memory"))
    house.write(path, house.read(path).replace(b"cured it.", b"cured it, says Olga."))
    house.location.duckdb_file.unlink()
    house.index()
    found = house.waiting(model_judge(house, server).stamp)
    assert [item.reason for item in found.items] == ["body"], "the edit is not forgotten either"
    assert len(server.asked) == asked
    assert house.run(model_judge(house, server)).enriched == 1
    house.location.duckdb_file.unlink()
    assert house.run(model_judge(house, server)).population == 0


def test_the_name_is_corrected_once(house: House, server: ModelServer) -> None:
    house.note("raw-name", BODY)
    server.answer = lambda asked: well(asked, slug="stale-cache", confidence=0.9)
    path = house.run(model_judge(house, server)).written[0]
    assert path == "Agent/memory/procedural/2026/03/stale-cache.md"
    new_rules(house)
    server.answer = lambda asked: well(asked, slug="second", **{"class": "episodic"})
    report = house.run(model_judge(house, server))
    assert (report.enriched, report.moved) == (1, {})
    assert house.text(path).count("stale-cache") == 1


def test_a_name_that_is_taken_gets_a_number(house: House, server: ModelServer) -> None:
    other = house.note("broke-build", "Other.", memory_class="procedural")
    house.write(other, house.read(other).replace(b"unfiled", b"expired"))
    house.note("raw-name", BODY)
    server.answer = lambda asked: well(asked, slug="broke-build")
    path = house.run(model_judge(house, server)).written[0]
    assert path.endswith("/broke-build-2.md") and "slug: broke-build-2" in house.text(path)


def test_what_the_operator_links_to_stays_where_it_is(house: House, server: ModelServer) -> None:
    path = house.note("raw-name", BODY)
    house.write("ideas.md", "- see [[raw-name]]\n")
    report = house.run(model_judge(house, server))
    assert (report.enriched, report.moved) == (1, {})
    assert "Other notes link to this one" in shown(server)[0]
    assert house.text(path).count('title: "raw name"') == 1


def asks(asked: Asked) -> bool:
    return not is_grounding(asked)


def test_a_long_note_becomes_several(house: House, server: ModelServer) -> None:
    parts = "".join(
        f"# Part {number}\n\n" + f"Number {number} is about `thing_{number}`. " * 800 + "\n\n"
        for number in range(3)
    )
    path = house.note("long", parts)
    server.answer = lambda asked: well(asked, slug=f"part-{asked.user.count('thing_1')}")
    report = house.run(model_judge(house, server))
    assert (report.split, report.fragments, report.enriched) == (1, 3, 3)
    assert report.population == 4
    text = house.text(path)
    assert "status: superseded" in text and parts.strip() in text
    made = [p for p in house.files() if p.startswith("Agent/memory") and p != path]
    assert len(made) == 3
    assert all("derived_from: long" in house.text(p) for p in made)
    assert all("status: active" in house.text(p) for p in made)
    limit = house.rules().rules.thresholds.enrichment_input_chars
    assert all(len(user) < limit + 2000 for user in shown(server))
    assert judgments(server) == 3
    assert house.run(model_judge(house, server)).population == 0


def test_a_long_note_of_the_operators_stays_one(house: House, server: ModelServer) -> None:
    path = house.note("long", "Word and thing. " * 3000)
    house.write(path, house.read(path).replace(b"unfiled", b"active"))
    before = house.text(path)
    server.answer = lambda asked: well(asked, body="Short.")
    report = house.run(model_judge(house, server))
    assert (report.split, report.enriched) == (0, 1)
    assert before.rpartition("---\n")[2] in house.text(path)
    assert house.run(model_judge(house, server)).population == 0


def test_parts_that_a_killed_run_has_made_are_not_made_again(house: House) -> None:
    text = "".join(f"# Part {number}\n\n" + "Word and thing. " * 1400 for number in range(3))
    path = house.note("long", text)
    data = house.read(path)
    house.run()
    made = sorted(p for p in house.files() if p.startswith("Agent/memory"))
    assert len(made) == 4
    house.write(path, data)  # as a kill would have left it: its parts are there, itself is not done
    report = house.run()
    assert report.split == 1
    assert sorted(p for p in house.files() if p.startswith("Agent/memory")) == made
    assert "status: superseded" in house.text(path)


def active(house: House) -> list[str]:
    notes = [path for path in house.files() if path.startswith("Agent/memory")]
    return [path for path in notes if "status: active" in house.text(path)]


@pytest.mark.parametrize("renamed", [True, False])
def test_a_split_is_taken_back_whole_and_not_made_again(
    house: House, server: ModelServer, renamed: bool
) -> None:
    text = "".join(
        f"# Part {number}\n\n" + f"Number {number} is about `thing_{number}`. " * 800 + "\n\n"
        for number in range(3)
    )
    path = house.note("long", text)
    raw = house.read(path)
    server.answer = lambda asked: well(asked, **{"class": "semantic"}, slug="number-thing")

    def judge() -> Judge:
        return model_judge(house, server) if renamed else house.extractive()

    report = house.run(judge())
    assert report.split == 1 and bool(report.moved) == renamed
    parts = [p for p in house.files() if p.startswith("Agent/memory") and p != path]
    done = revert(house.location, house.backend, "enrich-run-1", now=house.clock)
    assert not done.conflicts and house.read(path) == raw
    assert all("status: expired" in house.text(part) for part in parts)
    asked, before = len(server.asked), house.files()
    again = house.run(judge())
    assert again.refused == {"refused-reverted": 1} and again.split == 0
    notes = {name: data for name, data in house.files().items() if name.startswith("Agent/memory")}
    assert notes == {name: before[name] for name in notes} and len(server.asked) == asked
    new_rules(house)
    assert house.run(judge()).split == 1, "other rules are another version"
    new = [p for p in house.files() if p.startswith("Agent/memory") and p not in (path, *parts)]
    assert len(new) == 3 and not any("status: expired" in house.text(part) for part in new)
    assert not renamed or active(house) == new


def test_a_long_note_that_is_edited_meanwhile_is_not_split(house: House) -> None:
    path = house.note("long", "# One\n\n" + "Word and thing. " * 3000)
    house.index()
    judge = house.extractive()
    found = house.waiting(judge.stamp)

    context = replace(house.context(), now=lambda: _typing(house, path))
    report = enrich(found, judge, context)
    assert report.refused == {"journal-changed-meanwhile": 1}
    assert len([p for p in house.files() if p.startswith("Agent/memory")]) == 1


def _typing(house: House, path: str) -> datetime:
    """Whoever looks at the clock finds the operator at work on the note."""
    house.write(path, house.read(path) + b"more\n")
    return house.clock()


def test_a_population_that_is_out_of_date_pays_for_nothing(
    house: House, server: ModelServer
) -> None:
    path = house.note("build-broke", BODY)
    judge = model_judge(house, server)
    house.index()
    found = house.waiting(judge.stamp)
    house.run(judge)
    moved = next(p for p in house.files() if p.startswith("Agent/memory"))
    asked = len(server.asked)
    late = replace(found, items=(replace(found.items[0], path=moved), found.items[0]))
    report = enrich(late, model_judge(house, server), house.context())
    assert report.refused == {"current": 1, "eligibility-gone": 1}
    assert len(server.asked) == asked and path != moved


def test_a_note_that_is_no_utf8_keeps_its_bytes_and_is_paid_for_by_nobody(
    house: House, server: ModelServer
) -> None:
    path = house.note("build-broke", BODY)
    house.write(path, house.read(path) + b"Caf\xe9 \xff\n")
    before = house.read(path)
    for judge in (model_judge(house, server), None):
        report = house.run(judge)
        assert report.refused == {"eligibility-not-utf8": 1}
    assert house.read(path) == before and not server.asked


def test_what_the_operator_accepted_is_judged_no_more(house: House, server: ModelServer) -> None:
    path = house.note("build-broke", BODY)
    accepted = house.read(path).replace(
        b"status: unfiled", b"status: active\nenriched_by: operator"
    )
    house.write(path, accepted)
    house.write("standards/storage-rules.md", default_rules_text().replace(b"0.65", b"0.64"))
    house.run(model_judge(house, server))
    assert house.read(path) == accepted and not server.asked


def test_nothing_is_filed_where_the_rules_hide_it(house: House, server: ModelServer) -> None:
    rules = default_rules_text().replace(
        b"excludes: []", b'excludes: ["Agent/memory/procedural/**"]'
    )
    house.write("standards/storage-rules.md", rules)
    path = house.note("build-broke", BODY)
    before = house.read(path)
    assert house.run(model_judge(house, server)).refused == {"class-excluded": 1}
    assert house.read(path) == before


def test_what_the_operator_has_reviewed_is_left_alone(house: House, server: ModelServer) -> None:
    path = house.note("build-broke", BODY)
    judge = model_judge(house, server)
    house.index()
    found = house.waiting(judge.stamp)
    text = house.text(path).replace("slug:", f"enriched_by: {OPERATOR}\nslug:")
    house.write(path, text)
    assert enrich(found, judge, house.context()).refused == {"eligibility-reviewed": 1}
    assert house.text(path) == text and server.asked == []
