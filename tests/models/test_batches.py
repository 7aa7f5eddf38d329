"""Batches of both kinds: handed over once, followed, and read whatever became of them."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from asking import NOW, Waits, question
from model_servers import (
    KEY,
    NOT_RUN,
    AnthropicServer,
    Asked,
    Busy,
    Drop,
    ModelServer,
    Raw,
    Stop,
    anthropic_server,
    openai_server,
)

from agentm_assets.models.anthropic import AnthropicProvider
from agentm_assets.models.openai_compatible import OpenAICompatibleProvider
from agentm_assets.models.prices import Price
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    BatchState,
    ModelMisconfigured,
    ModelUnavailable,
    PerhapsTaken,
)

REQUESTS = [question(f"note-{number}", f"the text of note {number}") for number in range(4)]
KEYS = [each.key for each in REQUESTS]
Both = tuple[ModelServer, BatchProvider]


@pytest.fixture(params=["anthropic", "openai-compatible"])
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    opened: AbstractContextManager[ModelServer]
    opened = anthropic_server() if request.param == "anthropic" else openai_server()
    with opened as server:
        yield server, batches_of(server)


def batches_of(server: ModelServer) -> BatchProvider:
    given: dict[str, Any] = {"base_url": server.url, "price": Price(1, 5), "pace": Waits().pace}
    if isinstance(server, AnthropicServer):
        return AnthropicProvider("test-model", KEY, **given).batches
    held = OpenAICompatibleProvider("test-model", KEY, has_batches=True, **given).batches
    assert held is not None
    return held


def test_every_request_is_answered_under_its_key_at_half_the_price(both: Both) -> None:
    server, batches = both
    server.answer = lambda asked: f'{{"of": "{asked.user[-1]}"}}'
    batch_id = batches.submit(REQUESTS, timeout=10)
    assert batches.state(batch_id, timeout=10).status == "in_progress"
    assert not batches.state(batch_id, timeout=10).ended
    server.finish()
    assert batches.state(batch_id, timeout=10) == BatchState("ended", 4, 4)
    results = {each.key: each for each in batches.results(batch_id, timeout=10)}
    assert sorted(results) == KEYS
    for number in range(4):
        reply = results[f"note-{number}"].reply
        assert reply is not None
        assert reply.text == f'{{"of": "{number}"}}'
        assert reply.usage.cost == pytest.approx(0.001)
    assert all(asked.in_batch and asked.schema for asked in server.asked)


def test_a_batch_that_partly_failed_gives_what_there_is(both: Both) -> None:
    server, batches = both

    def answer(asked: Asked) -> Any:
        return {
            "note-0": '{"ok": true}',
            "note-1": Busy(500, code="api_error"),
            "note-2": Stop("max_tokens" if isinstance(server, AnthropicServer) else "length"),
            "note-3": NOT_RUN,
        }[asked.key]

    server.batch_answers = answer
    batch_id = batches.submit(REQUESTS, timeout=10)
    server.finish()
    assert batches.state(batch_id, timeout=10).ended
    results = {each.key: each for each in batches.results(batch_id, timeout=10)}
    assert results["note-0"].reply is not None
    assert isinstance(results["note-1"].error, ModelUnavailable)
    assert isinstance(results["note-2"].error, AnswerUnusable)
    assert results["note-2"].error.usage.output_tokens == 200, "it was paid for"
    assert isinstance(results["note-3"].error, ModelUnavailable)


def test_a_request_that_is_refused_in_a_batch_is_the_operators_to_mend(both: Both) -> None:
    server, batches = both
    server.batch_answers = Busy(400, code="invalid_request_error")
    batch_id = batches.submit(REQUESTS[:1], timeout=10)
    server.finish()
    assert isinstance(next(batches.results(batch_id, timeout=10)).error, ModelMisconfigured)


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_a_batch_that_was_not_run_has_ended_and_answered_nothing(both: Both, status: str) -> None:
    server, batches = both
    batch_id = batches.submit(REQUESTS, timeout=10)
    server.finish(status)
    state = batches.state(batch_id, timeout=10)
    assert (state.status, state.ended) == (status, True)
    results = list(batches.results(batch_id, timeout=10))
    assert len(results) == 4
    assert all(isinstance(each.error, ModelUnavailable) for each in results)
    assert server.asked == []


def test_a_file_that_was_not_valid_gives_a_failed_batch() -> None:
    with openai_server() as server:
        batches = batches_of(server)
        batch_id = batches.submit(REQUESTS, timeout=10)
        server.finish("failed")
        assert batches.state(batch_id, timeout=10).status == "failed"
        assert list(batches.results(batch_id, timeout=10)) == []


def test_a_batch_is_handed_over_once_when_its_answer_is_lost(both: Both) -> None:
    server, batches = both
    uploads = 0 if isinstance(server, AnthropicServer) else 1
    first = batches.submit(REQUESTS[:2], timeout=10)
    server.requests.clear()
    server.trouble += [Raw(b'{"id": "file-1"}')] * uploads + [Drop()]
    with pytest.raises(PerhapsTaken):
        batches.submit(REQUESTS, timeout=60)
    made = [each for each in server.requests if each.path.endswith("/batches")]
    assert len(made) == 1, "sent again, it might be paid twice"
    assert list(server.batches) == [first]


def test_a_batch_that_was_surely_not_taken_is_handed_over_again(both: Both) -> None:
    server, batches = both
    upload = [] if isinstance(server, AnthropicServer) else [Busy(503)]
    server.trouble += [*upload, Busy(429)]
    batches.submit(REQUESTS, timeout=60)
    assert len(server.batches) == 1


def test_a_batch_whose_id_got_lost_is_found_by_its_keys(both: Both) -> None:
    server, batches = both
    other = batches.submit([question(f"other-{n}") for n in range(4)], timeout=10)
    server.drops_what_it_takes = 1
    with pytest.raises((PerhapsTaken, ModelUnavailable)):
        if isinstance(server, AnthropicServer):
            batches.submit(REQUESTS, timeout=10)
        else:  # the upload goes well, the batch's answer is lost
            server.drops_what_it_takes = 0
            lost = iter([0, 1])
            served = server.handle

            def handle(handler: Any, request: Any) -> None:
                server.drops_what_it_takes = next(lost, 0)
                served(handler, request)

            server.handle = handle  # type: ignore[method-assign]
            batches.submit(REQUESTS, timeout=10)
    batches.submit([question(f"later-{n}") for n in range(4)], timeout=10)
    server.finish()
    found = batches.find(KEYS, since=NOW, timeout=10)
    assert found is not None
    assert found != other
    assert sorted(each.key for each in batches.results(found, timeout=10)) == KEYS
    assert batches.find(KEYS[:3], since=NOW, timeout=10) is None
    assert batches.find(KEYS, since=NOW + timedelta(days=1), timeout=10) is None


def test_while_claude_can_not_tell_whether_a_batch_is_the_one_it_is_not_sent_again() -> None:
    with anthropic_server() as server:
        batches = batches_of(server)
        batches.submit(REQUESTS, timeout=10)
        with pytest.raises(ModelUnavailable, match="under way"):
            batches.find(KEYS, since=NOW, timeout=10)
        assert batches.find(KEYS[:1], since=NOW, timeout=10) is None


def test_results_that_break_off_are_read_again(both: Both) -> None:
    server, batches = both
    batch_id = batches.submit(REQUESTS, timeout=10)
    server.finish()
    list(batches.results(batch_id, timeout=10))
    before = len(server.requests)
    results = batches.results(batch_id, timeout=10)
    server.trouble += [Raw(_state(server, batch_id)), Drop(in_body=True)]
    assert sorted({each.key for each in results}) == KEYS
    assert len(server.requests) > before + 2


def test_torn_lines_among_the_results_are_passed_over() -> None:
    with openai_server() as server:
        batches = batches_of(server)
        batch_id = batches.submit(REQUESTS[:1], timeout=10)
        server.finish()
        name = f"file-output-{batch_id}"
        server.files[name] = b'\n{"custom_id": 7}\n[]\n{"custom' + b"\n" + server.files[name]
        assert [each.key for each in batches.results(batch_id, timeout=10)] == KEYS[:1]


def test_a_batch_nobody_knows_is_said_to_be_so(both: Both) -> None:
    _server, batches = both
    with pytest.raises(ModelMisconfigured, match="no such batch"):
        batches.state("batch_99", timeout=10)
    with pytest.raises(ModelMisconfigured, match="no such batch"):
        next(batches.results("batch_99", timeout=10))


def test_the_key_does_not_follow_results_to_another_server() -> None:
    with anthropic_server() as server, anthropic_server() as other:
        batches = batches_of(server)
        batch_id = batches.submit(REQUESTS, timeout=10)
        server.finish()
        server.url = other.url  # what the server says where the results are
        with pytest.raises(ModelMisconfigured, match="another server"):
            list(batches.results(batch_id, timeout=10))
        assert other.requests == []


def test_a_server_without_batch_files_has_no_batches() -> None:
    with openai_server() as server:
        assert OpenAICompatibleProvider("m", None, base_url=server.url).batches is None
    official = OpenAICompatibleProvider("m", KEY)
    assert official.batches is not None


def _state(server: ModelServer, batch_id: str) -> bytes:
    held: Callable[[str], dict[str, Any]] = server._batch  # type: ignore[attr-defined]
    return json.dumps(held(batch_id)).encode()
