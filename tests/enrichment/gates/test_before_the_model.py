"""The seven gates before a model is asked."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.gates.budget import Budget, estimate_of
from agentm_assets.enrichment.gates.current import refuse_current
from agentm_assets.enrichment.gates.eligibility import refuse_ineligible
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject, scrub_subject
from agentm_assets.enrichment.gates.probe import refuse_probe
from agentm_assets.enrichment.gates.refused import refuse_known
from agentm_assets.enrichment.gates.size import refuse_oversized
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject
from agentm_assets.models.protocol import ModelRequest

Note = Callable[..., Subject]

MODEL = "anthropic/some-model+0123abcd"


def code_of(refusal: object) -> str | None:
    return refusal.code if isinstance(refusal, Refusal) else None


@pytest.mark.parametrize("value", ["", "true", "round-trip 7", "[a]", "{a: b}"])
def test_a_probe_is_refused_whatever_its_marker_holds(note: Note, value: str) -> None:
    refusal = refuse_probe(note(block=f"status: unfiled\nprobe: {value}"))
    assert refusal == Refusal("probe", "probe", "the note is agentm's own probe, not a memory")
    assert refuse_probe(note()) is None
    assert refuse_probe(note("probe: true\n")) is None


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("Agent/memory/procedural/2026/04/a.md", None),
        ("Agent/memory/semantic/a.md", None),
        ("Agent/memory/episodic/2026/04/a.md", None),
        ("agent/memory/semantic/a.md", None),
        ("personal/a.md", "model-exempt"),
        ("Personal/diary/a.md", "model-exempt"),
        ("PERSONAL/a.md", "model-exempt"),
        ("Agent/memory/mocs/a.md", "derived"),
        ("Agent/memory/MOCS/a.md", "derived"),
        ("Agent/memory/entities/a.md", "derived"),
        ("Agent/Memory/crystallized/a.md", "derived"),
        ("Agent/memory/a.md", "not-memory"),
        ("Agent/memory/other/a.md", "not-memory"),
        ("Agent/desk/a.md", "not-memory"),
        ("projects/kettle/a.md", "not-memory"),
        ("calendar/2026/a.md", "not-memory"),
        ("standards/a.md", "not-memory"),
        ("a.md", "not-memory"),
    ],
)
def test_where_a_note_lies_decides(
    note: Note, rules: LoadedRules, path: str, code: str | None
) -> None:
    expected = code and f"eligibility-{code}"
    assert code_of(refuse_ineligible(note(path=path), rules, MODEL)) == expected


def test_spaces_and_patterns_of_the_rules_close_too(note: Note, rules: LoadedRules) -> None:
    def ruled(**changes: object) -> LoadedRules:
        return replace(rules, rules=rules.rules.model_copy(update=changes))

    closed = ruled(model_exempt_spaces=("memory",))
    assert code_of(refuse_ineligible(note(), closed, MODEL)) == "eligibility-model-exempt"
    hidden = ruled(excludes=("**/watchdog.md",))
    assert code_of(refuse_ineligible(note(), hidden, MODEL)) == "eligibility-excluded"


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ("status: unfiled", None),
        ("status: active", None),
        ("status: active\ntype: fix", None),
        ("status: superseded", "status"),
        ("status: expired", "status"),
        ("title: x", "status"),
        ("status: unfiled\nkind: brief", "record"),
        ("status: unfiled\nstatus: active", "unreadable"),
        ("status: [unfiled", "unreadable"),
    ],
)
def test_what_a_note_is_decides(
    note: Note, rules: LoadedRules, block: str, code: str | None
) -> None:
    expected = code and f"eligibility-{code}"
    assert code_of(refuse_ineligible(note(block=block), rules, MODEL)) == expected


def test_a_note_without_text_is_not_judged(note: Note, rules: LoadedRules) -> None:
    assert code_of(refuse_ineligible(note(" \n"), rules, MODEL)) == "eligibility-empty"


def test_the_extractive_judge_touches_nothing_that_a_model_judged(
    note: Note, rules: LoadedRules
) -> None:
    judged = note(block=f"status: active\nenriched_by: {MODEL}")
    refusal = refuse_ineligible(judged, rules, "extractive-1")
    assert code_of(refusal) == "eligibility-awaits-model"
    assert refuse_ineligible(judged, rules, "other/model+1") is None
    by_words = note(block="status: active\nenriched_by: extractive-1")
    assert refuse_ineligible(by_words, rules, MODEL) is None
    assert refuse_ineligible(by_words, rules, "extractive-2") is None


def test_a_model_sees_a_note_without_its_secrets(note: Note) -> None:
    scrubbed = scrub_subject(
        note(
            title="Ask ines@kettle.example",
            block="status: unfiled\naliases: [hunter2x, ines@kettle.example]\ntags: [a]",
        )
    )
    assert isinstance(scrubbed, ScrubbedSubject)
    seen = (scrubbed.source.text, scrubbed.title.text, *scrubbed.aliases, *scrubbed.tags)
    assert not any("hunter2x" in text or "kettle.example" in text for text in seen)
    assert scrubbed.title.text == "Ask \u27e6email-1\u27e7"
    assert scrubbed.aliases == ("\u27e6password-1\u27e7", "\u27e6email-1\u27e7")
    assert "\u27e6email-1\u27e7 with password: \u27e6password-1\u27e7" in scrubbed.source.text


@pytest.mark.parametrize("where", ["text", "title", "alias"])
def test_what_can_not_be_cut_out_is_not_sent(note: Note, where: str) -> None:
    key = "-----BEGIN PRIVATE KEY----- " + "Mm7x" * 16
    if where == "text":
        subject = note(f"Found {key}")
    elif where == "title":
        subject = note(title=key)
    else:
        subject = note(block=f"status: unfiled\naliases: ['{key}']")
    refusal = scrub_subject(subject)
    assert isinstance(refusal, Refusal)
    assert (refusal.gate, refusal.code) == ("privacy", "privacy-unscrubbable")
    assert "Mm7x" not in refusal.detail
    assert not refusal.remembered


def test_size_is_that_of_the_text_without_the_blanks_around_it(
    note: Note, rules: LoadedRules
) -> None:
    limit = rules.rules.thresholds.enrichment_input_chars
    assert refuse_oversized(note("a" * limit + "\n" * 9), rules) is None
    refusal = refuse_oversized(note("a" * limit + "b"), rules)
    assert code_of(refusal) == "size-over-limit"


def test_a_judgment_at_this_version_is_not_paid_for_again(note: Note) -> None:
    subject = note(block=f"status: active\nenriched_by: {MODEL}\nrules_hash: aa")
    same = subject.fingerprint
    assert code_of(refuse_current(subject, MODEL, "aa", same)) == "current"
    assert code_of(refuse_current(subject, MODEL, "aa", None)) == "current"
    assert refuse_current(subject, MODEL, "aa", "another body") is None
    assert refuse_current(subject, MODEL, "bb", same) is None
    assert refuse_current(subject, "another", "aa", same) is None
    assert refuse_current(note(), MODEL, "aa", None) is None


def test_a_judgment_as_good_as_this_versions_is_not_paid_for_again(note: Note) -> None:
    judged = note(block="enriched_by: m/small+1\nrules_hash: r1")
    assert refuse_current(judged, "m/large+1", "r1", None) is None
    assert refuse_current(judged, "m/large+1", "r1", None, {"m/small+1"}) is not None
    assert refuse_current(judged, "m/large+1", "r2", None, {"m/small+1"}) is None
    assert refuse_current(judged, "m/large+1", "r1", "another body", {"m/small+1"}) is None


def test_a_refused_note_is_asked_about_when_anything_changed(note: Note) -> None:
    subject = note()
    key = (subject.locator.key, subject.fingerprint, MODEL, "aa", "v1")

    class Known:
        def code_of(self, *asked: str) -> str | None:
            return "tokens-lost" if asked == key else None

    refusal = refuse_known(subject, MODEL, "aa", "v1", Known())
    assert refusal == Refusal("refused-before", "refused-before", "refused before with tokens-lost")
    assert refuse_known(subject, "another", "aa", "v1", Known()) is None
    assert refuse_known(subject, MODEL, "bb", "v1", Known()) is None
    assert refuse_known(subject, MODEL, "aa", "v2", Known()) is None
    assert refuse_known(note("Other."), MODEL, "aa", "v1", Known()) is None


def test_a_budget_is_taken_before_the_call() -> None:
    now = [100.0]
    budget = Budget(2, 1_000, 60.0, lambda: now[0])
    assert code_of(budget.take(1_001)) == "budget-tokens"
    assert budget.take(600) is None
    budget.settle(600, 100)
    assert budget.take(900) is None
    assert (budget.calls_used, budget.tokens_used) == (2, 1_000)
    assert code_of(budget.take(0)) == "budget-calls"


def test_a_budget_of_time_ends() -> None:
    now = [100.0]
    budget = Budget(None, None, 60.0, lambda: now[0])
    assert budget.take(10**9) is None
    now[0] = 160.0
    assert code_of(budget.take(1)) == "budget-seconds"


def test_an_estimate_counts_what_is_sent_and_what_may_come_back() -> None:
    request = ModelRequest("k", "word " * 100, "word " * 50, "n", {}, 400)
    assert estimate_of(request) == 100 + 50 + 400


def test_no_gate_reads_the_disk(note: Note, rules: LoadedRules, tmp_path: Path) -> None:
    """The path is the resolved one that the caller gives: a name is not looked up again."""
    missing = note(path="Agent/memory/semantic/not/there.md")
    assert refuse_ineligible(missing, rules, MODEL) is None
