"""What an answer says beyond its source: told by its tokens, and by a second model."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.gates.grounding import (
    JudgeUnable,
    grounding_request,
    is_sampled,
    parse_grounding,
    refuse_ungrounded_mechanically,
    states_something,
)
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject
from agentm_assets.enrichment.gates.schema import parse_answer
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject

Note = Callable[..., Subject]
Shown = Callable[[Subject], ScrubbedSubject]


@pytest.fixture
def judged(
    note: Note, shown: Shown, rules: LoadedRules, answer: Callable[..., str]
) -> tuple[ScrubbedSubject, Judgment]:
    scrubbed = shown(note())
    judgment = parse_answer(answer(), rules, scrubbed)
    assert isinstance(judgment, Judgment)
    return scrubbed, judgment


@pytest.mark.parametrize(
    "body",
    [
        "In April 2026 the WD reset it.",
        "It was 30 s; the board, INES says, reset.",
        "1. It reset.\n2. It was cured.",
        "# A Fine Heading With Capitals 99\n\nIt reset.",
        "The cure: raise `boil_timeout` to 45 s in `config.toml`.",
        "Its URL is <https://acme.example/kettle/17>.",
        "It is at [the tracker](https://acme.example/kettle/17).",
    ],
)
def test_the_source_in_other_words_is_grounded(
    judged: tuple[ScrubbedSubject, Judgment], body: str
) -> None:
    scrubbed, judgment = judged
    said = replace(judgment, body=body.replace("URL", "address"))
    assert refuse_ungrounded_mechanically(scrubbed.subject, said) is None


def test_properties_of_the_note_ground_what_is_said(note: Note) -> None:
    subject = note("It reset.", block="status: unfiled\nsource: https://acme.example/42")
    said = Judgment(
        *("fix", "artifact", "procedural", "Reset", None, (), (), None),
        "It reset, says https://acme.example/42.",
        0.9,
    )
    assert refuse_ungrounded_mechanically(subject, said) is None


def test_a_title_in_title_case_names_nobody(judged: tuple[ScrubbedSubject, Judgment]) -> None:
    scrubbed, judgment = judged
    shouting = replace(judgment, title="Board Reset After Short Boiling Timeout")
    assert refuse_ungrounded_mechanically(scrubbed.subject, shouting) is None
    naming = replace(judgment, title="Board reset after Siemens timeout")
    refusal = refuse_ungrounded_mechanically(scrubbed.subject, naming)
    assert refusal is not None
    assert refusal.code == "grounding-new-name"


def test_the_second_model_sees_source_and_rewrite_without_secrets(
    judged: tuple[ScrubbedSubject, Judgment],
) -> None:
    scrubbed, judgment = judged
    assert judgment.body is not None
    assert "hunter2x" in judgment.body
    request = grounding_request(scrubbed, judgment, "ground-1")
    assert request.key == "ground-1"
    sent = request.system + request.user
    assert "hunter2x" not in sent
    assert "ines@kettle.example" not in sent
    assert request.user.count("\u27e6password-1\u27e7") == 2
    assert "Ines had set `boil_timeout`" in request.user
    assert judgment.title in request.user
    assert judgment.summary is not None
    assert judgment.summary in request.user


def test_a_rejection_names_a_claim() -> None:
    assert parse_grounding('{"faithful": true, "claim": null}') is None
    refusal = parse_grounding('{"faithful": false, "claim": "It  cost\\n\\u001b[31m nothing."}')
    assert isinstance(refusal, Refusal)
    assert (refusal.gate, refusal.code) == ("grounding", "grounding-unfaithful")
    assert refusal.detail == "the source does not say: It cost [31m nothing."
    assert refusal.remembered


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The note is fine.",
        'Verdict: {"faithful": true, "claim": null}',
        '{"faithful": false, "claim": null}',
        '{"faithful": false, "claim": "  "}',
        '{"faithful": true, "claim": "It cost nothing."}',
        '{"faithful": "no", "claim": "x"}',
        '{"faithful": 0, "claim": "x"}',
        '{"faithful": false, "claim": ["x"]}',
        '{"faithful": false}',
        '{"faithful": true, "claim": null, "score": 1}',
        '{"faithful": true, "faithful": false, "claim": "x"}',
    ],
)
def test_a_verdict_that_is_none_is_an_error_not_a_refusal(text: str) -> None:
    assert isinstance(parse_grounding(text), JudgeUnable)


def test_only_words_of_its_own_need_a_second_model(
    judged: tuple[ScrubbedSubject, Judgment],
) -> None:
    scrubbed, judgment = judged
    bare = replace(judgment, body=None, summary=None, title=scrubbed.subject.title)
    assert not states_something(scrubbed.subject, bare)
    for said in ({"body": "x"}, {"summary": "x"}, {"title": "x"}):
        assert states_something(scrubbed.subject, replace(bare, **said))


def test_one_note_in_twenty_is_sampled_and_always_the_same() -> None:
    paths = [f"Agent/memory/semantic/2026/04/note-{n}.md" for n in range(4_000)]
    sampled = [path for path in paths if is_sampled(path)]
    assert 140 <= len(sampled) <= 260
    assert sampled == [path for path in paths if is_sampled(path)]
    assert is_sampled("Agent/memory/semantic/2026/04/note-10.md") == (paths[10] in sampled)


def test_a_claim_has_a_length_that_a_report_can_show() -> None:
    refusal = parse_grounding(json.dumps({"faithful": False, "claim": "a" * 5_000}))
    assert isinstance(refusal, Refusal)
    assert len(refusal.detail) < 400
