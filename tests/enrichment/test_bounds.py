"""Budget, cursor, commits, repositories: what a run leaves for the next one."""

import shutil
from collections.abc import Iterator

import pytest
from house import House, answer, is_grounding, judgments, model_judge, well
from model_servers import Asked, Busy, ModelServer, anthropic_server

from agentm_assets.enrichment.gates.grounding import is_sampled
from agentm_assets.enrichment.judges import Completeness
from agentm_assets.enrichment.population import STOPPED
from agentm_assets.enrichment.refusals import RECORD
from agentm_assets.history.outcome import NoRepository, RepositoryRequired
from agentm_assets.history.revert import revert
from agentm_assets.ledger import ledger


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with anthropic_server() as running:
        running.answer = lambda asked: well(asked, slug=f"case-{case(asked)}")
        yield running


def case(asked: Asked) -> str:
    return asked.user.rpartition("Case ")[2].partition(".")[0]


def captures(house: House, notes: int) -> list[str]:
    return [
        house.note(f"note-{number}", f"The build broke. Case {number}.") for number in range(notes)
    ]


def test_the_budget_is_counted_before_the_call_with_the_second_models_calls(
    house: House, server: ModelServer
) -> None:
    captures(house, 5)
    server.answer = lambda asked: well(asked, title=f"Case {case(asked)}", slug=f"c-{case(asked)}")
    report = house.run(model_judge(house, server), budget=(5, None, None))
    assert len(server.asked) == 5, "two for each note, and the judgment of a third"
    assert (report.enriched, report.deferred) == (2, 3)
    assert "the 5 calls of this run are used up" in (report.deferred_because or "")
    rest = house.run(model_judge(house, server))
    assert rest.enriched == 3
    assert len(server.asked) == 10, "the third's judgment is not asked for again"


def test_a_run_of_few_notes_comes_to_all_of_them_in_turn(house: House, server: ModelServer) -> None:
    captures(house, 5)
    server.answer = lambda asked: well(
        asked,
        title=f"note {case(asked)}",
        slug=f"case-{case(asked)}",
        type="nonsense" if case(asked) in "012" else "fix",
    )
    house.run(model_judge(house, server), most_notes=2)
    house.run(model_judge(house, server), most_notes=2)
    last = house.run(model_judge(house, server), most_notes=2)
    assert [case(asked) for asked in server.asked if not is_grounding(asked)] == list("01234")
    assert (last.enriched, last.deferred) == (1, 0)


def test_a_run_of_no_notes_asks_about_none(house: House, server: ModelServer) -> None:
    captures(house, 2)
    report = house.run(model_judge(house, server), most_notes=0)
    assert (report.enriched, report.deferred, server.asked) == (0, 2, [])


def test_time_is_a_budget_too(house: House, server: ModelServer) -> None:
    captures(house, 4)

    def slow(asked: Asked) -> str:
        house.clock.pass_by(30)
        return well(asked, slug=f"case-{case(asked)}", title=f"note {case(asked)}")

    server.answer = slow
    report = house.run(model_judge(house, server), budget=(None, None, 60.0))
    assert (report.enriched, report.deferred) == (2, 2)


def test_what_no_run_can_afford_keeps_nobody_waiting(house: House, server: ModelServer) -> None:
    house.note("a-big-one", "The build broke. " * 1300 + "Case 9.")
    captures(house, 2)
    house.index()
    report = house.run(model_judge(house, server), budget=(None, 14_000, None))
    assert report.refused == {"budget-tokens": 1} and report.enriched >= 1


def test_the_next_run_goes_on_where_the_last_one_stopped(house: House, server: ModelServer) -> None:
    captures(house, 6)
    server.answer = lambda asked: well(asked, title=f"note {case(asked)}", type="nonsense")
    tried = []
    for _ in range(3):
        server.asked.clear()
        house.run(model_judge(house, server), budget=(2, None, None))
        tried.append([case(asked) for asked in server.asked])
    assert tried == [["0", "1"], ["2", "3"], ["4", "5"]]


def test_those_that_fail_for_ever_do_not_starve_the_others(
    house: House, server: ModelServer
) -> None:
    captures(house, 4)

    def some(asked: Asked) -> str:
        if is_grounding(asked):
            return well(asked)
        bad = case(asked) in ("0", "1")
        return "no answer" if bad else answer(title=f"note {case(asked)}", slug=f"c-{case(asked)}")

    server.answer = some
    enriched = 0
    for _ in range(2):
        enriched += house.run(model_judge(house, server), budget=(2, None, None)).enriched
    assert enriched == 2


def test_a_busy_model_is_left_alone_and_the_rest_deferred(
    house: House, server: ModelServer
) -> None:
    captures(house, 8)
    server.answer = Busy(529, code="overloaded_error")
    report = house.run(model_judge(house, server))
    assert report.deferred == 6 and report.refused == {"model-unavailable": 2}
    assert report.population == report.deferred + sum(report.refused.values())


def test_a_wrong_key_ends_the_run_at_the_first_call(house: House, server: ModelServer) -> None:
    captures(house, 8)
    server.answer = Busy(401, code="authentication_error")
    report = house.run(model_judge(house, server))
    assert report.deferred == 8 and report.deferred_because is not None
    assert len(server.asked) == 1


def test_everything_is_counted(house: House, server: ModelServer) -> None:
    captures(house, 3)
    house.write(
        "Agent/memory/semantic/probe.md", "---\nstatus: unfiled\nprobe: true\n---\nCase 77.\n"
    )
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA"
    house.note("broken-key", f"Case 78. {key}")
    server.answer = lambda asked: well(
        asked,
        title=f"note {case(asked)}",
        slug=f"case-{case(asked)}",
        confidence=0.3 if case(asked) == "1" else 0.9,
        type="nonsense" if case(asked) == "2" else "fix",
    )
    report = house.run(model_judge(house, server))
    assert report.refused == {"probe": 1, "privacy-unscrubbable": 1, "schema-unknown-type": 1}
    assert report.gates == {"probe": 1, "privacy": 1, "schema": 1}
    assert (report.enriched, report.activated, report.kept_unfiled) == (2, 1, 1)
    assert report.population == 5 and report.remembered == 1
    with house.store.transaction() as connection:
        assert ledger.counted(connection, STOPPED) == report.refused
    assert not server.seen(b"Case 77") and not server.seen(b"MIIEow")
    assert house.git("status", "--porcelain").split() == ["??", "Agent/memory/semantic/probe.md"]


def test_the_ledger_forgets_a_gate_when_the_body_is_another(
    house: House, server: ModelServer
) -> None:
    (path,) = captures(house, 1)
    server.answer = lambda asked: well(asked, type="nonsense")
    house.run(model_judge(house, server))
    with house.store.transaction() as connection:
        assert ledger.counted(connection, STOPPED) == {"schema-unknown-type": 1}
    house.write(path, house.read(path).replace(b"broke", b"failed"))
    house.index()
    with house.store.transaction() as connection:
        assert ledger.counted(connection, STOPPED) == {}


def test_one_rewrite_in_twenty_is_scored_and_the_score_stops_nothing(
    house: House, server: ModelServer
) -> None:
    paths = captures(house, 40)
    sampled = [path for path in paths if is_sampled(path)]
    assert 1 < len(sampled) < 10

    def says(asked: Asked) -> str:
        if not is_score(asked):
            body = f"The build broke. Case {case(asked)}."
            return well(asked, title=f"note {case(asked)}", slug=f"c-{case(asked)}", body=body)
        first = not any(map(is_score, server.asked[:-1]))
        return "half of it" if first else '{"missing": ["who built it"], "covered": 0.25}'

    server.answer = says
    report = house.run(model_judge(house, server))
    assert report.enriched == 40
    assert report.completeness == Completeness(len(sampled) - 1, 0.25, 1)
    assert report.usage["strong"].calls == 80 + len(sampled)
    scored = [case(asked) for asked in server.asked if is_score(asked)]
    assert sorted(scored) == sorted(path.rpartition("note-")[2][:-3] for path in sampled)


def is_score(asked: Asked) -> bool:
    return asked.schema is not None and "covered" in asked.schema["properties"]


def test_notes_are_committed_fifty_at_a_time(house: House) -> None:
    captures(house, 55)
    report = house.run()
    assert report.enriched == 55
    subjects = house.git("log", "--author=agentm-enrich", "--format=%s").split("\n")
    assert subjects[:2] == ["Enrich 5 notes", "Enrich 50 notes"]


def test_a_run_of_many_commits_is_taken_back_as_one(house: House) -> None:
    paths = captures(house, 55)
    before = {path: house.read(path) for path in paths}
    house.run()
    done = revert(house.location, house.backend, "enrich-run-1", now=house.clock)
    assert not done.conflicts
    assert {path: house.read(path) for path in paths} == before


def test_taking_back_a_run_leaves_the_record_of_refusals(house: House, server: ModelServer) -> None:
    captures(house, 2)
    server.answer = lambda asked: well(
        asked,
        title=f"note {case(asked)}",
        slug="fine",
        type="nonsense" if case(asked) == "1" else "fix",
    )
    house.run(model_judge(house, server))
    record = house.read(RECORD.key)
    revert(house.location, house.backend, "enrich-run-1", now=house.clock)
    assert house.read(RECORD.key) == record != b""


def test_without_a_repository_only_one_note_is_judged_and_no_word_rewritten(
    house: House, server: ModelServer
) -> None:
    (path,) = captures(house, 1)
    shutil.rmtree(house.root / ".git")
    with pytest.raises(RepositoryRequired):
        house.run(model_judge(house, server), trigger="eager")
    with pytest.raises(RepositoryRequired):
        house.run()
    assert server.asked == []
    report = house.run(trigger="eager", only=[path])
    assert report.enriched == 1
    assert isinstance(report.outcomes[0], NoRepository) and report.remarks


def test_the_askers_words_are_aliases_right_after_a_capture_alone(
    house: House, server: ModelServer
) -> None:
    (path,) = captures(house, 1)
    server.answer = lambda asked: well(asked, aliases=["that frob thing"], slug="c")
    words = {path: ("that frob thing", "mail olga@example.org")}
    report = house.run(
        model_judge(house, server, trigger="eager", asked_with=words),
        trigger="eager",
        only=[path],
        asked_with=words,
    )
    assert report.enriched == 1
    assert "aliases: [that frob thing]" in house.text(report.written[0])
    assert server.seen(b"that frob thing") and not server.seen(b"olga@example.org")
    house.note("other", "The build broke. Case 1.")
    report = house.run(model_judge(house, server))
    assert report.refused == {"aliases-foreign": 1}
    assert judgments(server) == 2
