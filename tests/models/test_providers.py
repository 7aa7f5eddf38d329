"""What holds for every provider behind HTTP, against a server that speaks its wire format."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from asking import Waits, question
from model_servers import (
    KEY,
    Busy,
    Drop,
    Hang,
    ModelServer,
    Raw,
    Stop,
    anthropic_server,
    openai_server,
)

from agentm_assets.models.anthropic import AnthropicProvider
from agentm_assets.models.openai_compatible import OpenAICompatibleProvider
from agentm_assets.models.pace import MOST_TRIES, Pace
from agentm_assets.models.prices import Price
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelMisconfigured,
    ModelUnavailable,
    Provider,
)

Make = Callable[..., Provider]


def claude(server: ModelServer, pace: Pace | None = None, **given: Any) -> Provider:
    return AnthropicProvider(
        given.pop("model", server.model), KEY, base_url=server.url, pace=pace, **given
    )


def compatible(server: ModelServer, pace: Pace | None = None, **given: Any) -> Provider:
    return OpenAICompatibleProvider(
        given.pop("model", server.model), KEY, base_url=server.url, pace=pace, **given
    )


@pytest.fixture(params=["anthropic", "openai-compatible"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[ModelServer, Make]]:
    opened: AbstractContextManager[ModelServer]
    make: Make
    if request.param == "anthropic":
        opened, make = anthropic_server(), claude
    else:
        opened, make = openai_server(), compatible
    with opened as server:
        yield server, make


def test_an_answer_comes_with_its_model_usage_and_cost(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.answer = '{"type": "fix", "confidence": 0.9, "tags": []}'
    reply = make(server, price=Price(1, 5)).ask(question(), timeout=10)
    assert json.loads(reply.text)["type"] == "fix"
    assert (reply.model, reply.usage.input_tokens, reply.usage.output_tokens) == (
        "test-model",
        1000,
        200,
    )
    assert reply.usage.cost == pytest.approx(0.002)
    assert server.asked[0].user == question().user
    assert server.asked[0].system == question().system
    assert server.asked[0].schema is not None
    assert server.asked[0].schema["properties"]["type"] == {"enum": ["fix", "reference"]}


def test_a_cost_nobody_knows_is_none(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    assert make(server).ask(question(), timeout=10).usage.cost is None


@pytest.mark.parametrize(
    "trouble", [Busy(429), Busy(500), Busy(503), Busy(529), Drop(), Drop(in_body=True)], ids=str
)
def test_what_passes_is_tried_again(both: tuple[ModelServer, Make], trouble: Any) -> None:
    server, make = both
    server.trouble += [trouble, trouble]
    waits = Waits()
    assert make(server, waits.pace).ask(question(), timeout=60).text == '{"ok": true}'
    assert len(server.requests) == 3
    assert waits.slept == [0.25, 0.5]


def test_the_server_says_how_long_to_wait(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.trouble += [
        Busy(429, retry_after="7"),
        Busy(503, retry_after="Wed, 04 Mar 2026 12:00:09 GMT"),
    ]
    waits = Waits()
    make(server, waits.pace).ask(question(), timeout=60)
    assert waits.slept == [7.125, 9.25]


def test_no_wait_is_begun_that_the_timeout_ends(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.trouble += [Busy(429, retry_after="120")]
    waits = Waits()
    with pytest.raises(ModelUnavailable, match="busy or broken") as caught:
        make(server, waits.pace).ask(question(), timeout=60)
    assert caught.value.retry_after == 120
    assert (waits.slept, len(server.requests)) == ([], 1)


def test_it_is_given_up_after_a_few_tries(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.trouble += [Busy(500)] * 20
    with pytest.raises(ModelUnavailable, match="500"):
        make(server, Waits().pace).ask(question(), timeout=60)
    assert len(server.requests) == MOST_TRIES


@pytest.mark.parametrize("drip", [False, True])
def test_a_server_that_keeps_one_waiting_is_left_in_time(
    both: tuple[ModelServer, Make], drip: bool
) -> None:
    server, make = both
    server.trouble += [Hang(drip=drip)]
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="answer"):
        make(server).ask(question(), timeout=0.3)
    assert time.monotonic() - began < 5
    assert len(server.requests) == 1


def test_nobody_listening_is_unavailable(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.url = "http://127.0.0.1:1"
    with pytest.raises(ModelUnavailable, match="can't be reached"):
        make(server, Waits().pace).ask(question(), timeout=5)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (Raw(b'{"type": "message", "content": [{"te'), "no answer"),
        (Raw(b"<html>hello</html>", "text/html"), "no answer"),
        (Raw(b"[" * 100_000), "no answer"),
        (Raw(b"[1]"), "no answer"),
        (Raw(b"null"), "no answer"),
        (Raw(b"", status=204), "no answer"),
        (Raw(b"\xff\xfe"), "no answer"),
        (Raw(b" " * (5 * 1024 * 1024)), "longer than"),
    ],
    ids=["truncated", "html", "deep", "list", "null", "empty", "bytes", "5 MB"],
)
def test_what_is_no_answer_is_unusable(both: tuple[ModelServer, Make], raw: Raw, said: str) -> None:
    server, make = both
    server.trouble += [raw]
    with pytest.raises(AnswerUnusable, match=said):
        make(server).ask(question(), timeout=10)
    assert len(server.requests) == 1, "what was paid for is not asked again"


@pytest.mark.parametrize("size", [1_000_001, 5_000_000])
def test_a_long_answer_is_cut_short(both: tuple[ModelServer, Make], size: int) -> None:
    server, make = both
    server.answer = "x" * size
    with pytest.raises(AnswerUnusable, match="longer than 1,000,000 bytes"):
        make(server).ask(question(), timeout=10)


def test_an_answer_of_nothing_is_unusable(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.answer = " \n"
    with pytest.raises(AnswerUnusable, match="nothing") as caught:
        make(server, price=Price(1, 5)).ask(question(), timeout=10)
    assert caught.value.usage.cost == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("claude", "max_tokens", "cut off"),
        ("claude", "model_context_window_exceeded", "cut off"),
        ("claude", "refusal", "refused"),
        ("claude", "tool_use", "stopped before"),
        ("compatible", "length", "cut off"),
        ("compatible", "content_filter", "refused"),
        ("compatible", "tool_calls", "stopped before"),
    ],
)
def test_an_answer_that_ended_early_was_paid_and_is_unusable(
    name: str, reason: str, said: str
) -> None:
    opened, make = {
        "claude": (anthropic_server, claude),
        "compatible": (openai_server, compatible),
    }[name]
    with opened() as server:
        server.trouble += [Stop(reason)]
        with pytest.raises(AnswerUnusable, match=said) as caught:
            make(server).ask(question(), timeout=10)
    assert caught.value.usage.output_tokens == 200


def test_a_refusal_in_the_message_is_one() -> None:
    with openai_server() as server:
        server.trouble += [Stop("stop", text="", refusal="I can't help with that")]
        with pytest.raises(AnswerUnusable, match="refused"):
            compatible(server).ask(question(), timeout=10)


@pytest.mark.parametrize(
    ("busy", "said"),
    [
        (Busy(401, code="authentication_error"), "key"),
        (Busy(403, code="permission_error"), "key"),
        (Busy(402, code="billing_error"), "pay"),
        (Busy(429, code="insufficient_quota"), "pay"),
        (Busy(404, code="not_found_error"), "test-model"),
        (Busy(400, code="invalid_request_error"), "structured outputs"),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_what_the_operator_must_mend_is_not_tried_again(
    both: tuple[ModelServer, Make], busy: Busy, said: str
) -> None:
    server, make = both
    server.trouble += [busy] * 3
    with pytest.raises(ModelMisconfigured, match=said):
        make(server, Waits().pace).ask(question(), timeout=10)
    assert len(server.requests) <= 2  # a form that is refused is asked in the other one


def test_a_question_that_is_too_long_is_the_notes_fault(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.trouble += [Busy(413, code="request_too_large")]
    with pytest.raises(AnswerUnusable, match="too long for this model"):
        make(server).ask(question(), timeout=10)
    code = "context_length_exceeded" if make is compatible else "invalid_request_error"
    server.trouble += [Busy(400, code=code, message="prompt is too long: 9 tokens > 8 maximum")]
    with pytest.raises(AnswerUnusable, match="too long for this model"):
        make(server).ask(question(), timeout=10)
    assert len(server.requests) == 2


def test_nothing_follows_a_redirect(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    with openai_server() as elsewhere:
        server.trouble += [Raw(b"", status=307, headers=(("location", elsewhere.url),))]
        with pytest.raises(ModelMisconfigured, match="elsewhere"):
            make(server).ask(question(), timeout=10)
        assert elsewhere.requests == []


def test_a_compressed_answer_is_not_unpacked(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    server.trouble += [Raw(b"\x1f\x8b", headers=(("content-encoding", "gzip"),))]
    with pytest.raises(ModelMisconfigured, match="compressed"):
        make(server).ask(question(), timeout=10)


def test_a_proxy_of_the_environment_gets_nothing_for_this_machine(
    both: tuple[ModelServer, Make], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, make = both
    with openai_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        make(server).ask(question(), timeout=10)
        assert proxy.requests == []


def test_reachable_finds_the_model_and_spends_nothing(both: tuple[ModelServer, Make]) -> None:
    server, make = both
    assert make(server).reachable(timeout=10) is None
    said = make(server, model="other").reachable(timeout=10)
    assert said is not None
    assert "other" in said
    server.trouble += [Busy(401, code="authentication_error")]
    assert "key" in (make(server).reachable(timeout=10) or "")
    assert server.count("POST", "/") == 0


def test_the_key_goes_in_the_providers_own_header() -> None:
    with anthropic_server() as server:
        claude(server).ask(question(), timeout=10)
        headers = server.requests[0].headers
        assert headers["x-api-key"] == KEY
        assert headers["anthropic-version"] == "2023-06-01"
    with openai_server() as other:
        compatible(other).ask(question(), timeout=10)
        assert other.requests[0].headers["authorization"] == f"Bearer {KEY}"
        OpenAICompatibleProvider("m", None, base_url=other.url).ask(question(), timeout=10)
        assert "authorization" not in other.requests[1].headers


def test_claude_is_held_to_what_its_schema_mode_knows() -> None:
    with anthropic_server() as server:
        claude(server).ask(question(), timeout=10)
        body = server.requests[0].json()
    held = body["output_config"]["format"]
    assert held["type"] == "json_schema"
    assert held["schema"]["properties"]["confidence"] == {"type": "number"}
    assert held["schema"]["properties"]["tags"] == {"type": "array", "items": {"type": "string"}}
    assert held["schema"]["additionalProperties"] is False
    assert body["max_tokens"] > 500, "thinking counts against it, too"
    assert not {"temperature", "tools", "tool_choice"} & set(body)


def test_a_server_without_json_schema_is_asked_in_the_older_form_and_that_is_remembered() -> None:
    with openai_server() as server:
        server.takes_json_schema = False
        provider = compatible(server)
        provider.ask(question(), timeout=10)
        provider.ask(question(), timeout=10)
        forms = [each.json()["response_format"]["type"] for each in server.requests]
        assert forms == ["json_schema", "json_object", "json_object"]
        assert '"confidence"' in server.asked[0].system, "the schema stands in the prompt, too"
        assert server.asked[0].schema == question().schema


def test_a_refused_question_is_not_taken_for_a_refused_form() -> None:
    with openai_server() as server:
        server.trouble += [Busy(400), Busy(400)]
        provider = compatible(server)
        with pytest.raises(ModelMisconfigured):
            provider.ask(question(), timeout=10)
        provider.ask(question(), timeout=10)
        forms = [each.json()["response_format"]["type"] for each in server.requests]
        assert forms == ["json_schema", "json_object", "json_schema"]


def test_one_model_on_this_machine_is_served_whatever_it_is_called() -> None:
    one = Raw(b'{"data": [{"id": "/models/qwen.gguf"}]}')
    with openai_server() as server:
        server.trouble += [one, Raw(b'{"data": [{"id": "llama3:latest"}, {"id": "b"}]}')]
        assert compatible(server, model="qwen").reachable(timeout=10) is None
        assert compatible(server, model="llama3").reachable(timeout=10) is None
