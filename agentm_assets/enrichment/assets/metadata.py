"""What a person reads beside the enrichment assets: counts, spend, paths; never a note's text."""

from collections.abc import Mapping, Sequence

import dagster as dg
from dagster import MetadataValue

from agentm_assets.enrichment.answerability import WITHIN
from agentm_assets.enrichment.assets.work import Done
from agentm_assets.enrichment.report import PassReport
from agentm_assets.index.assets.metadata import SHOWN_ROWS, table

Metadata = Mapping[str, dg.MetadataValue | str | int | float]

REFUSED_SHARE = 0.2
"""Over this share of the judged notes refused behind the model, the prompt or the model is at
fault, not the notes."""

FEWEST_JUDGED = 5
"""Under so many a share says nothing."""

_BEHIND_THE_MODEL = ("schema", "tokens", "grounding", "aliases", "class")


def halted(problem: str) -> Metadata:
    """The rules can't be read, so nothing is judged."""
    return {
        "did": "halted: the rules are broken",
        "problem": MetadataValue.md(f"```\n{problem}\n```"),
    }


def pass_metadata(done: Done) -> Metadata:
    """One run of the pass."""
    report = done.report
    shared: dict[str, dg.MetadataValue | str | int | float] = {
        "did": did(done),
        "judge": done.stamp or "none",
        "waiting": done.waiting,
        "left": done.left,
        "remarks": "; ".join(done.remarks) or "none",
        "seconds": round(done.seconds, 3),
    }
    if report is None:
        return shared
    return shared | {
        "rules": report.rules_hash,
        "dagster/row_count": report.enriched,
        "enriched": report.enriched,
        "active": report.activated,
        "kept_unfiled": report.kept_unfiled,
        "split": report.split,
        "renamed": len(report.moved),
        "in_batch": report.in_batch,
        "deferred": report.deferred,
        "deferred_because": report.deferred_because or "nothing was deferred",
        "awaiting_model": report.awaiting_model,
        "refused": sum(report.refused.values()),
        "refused_by_code": MetadataValue.json(dict(report.refused)),
        "calls": sum(usage.calls for usage in report.usage.values()),
        "tokens": sum(usage.input_tokens + usage.output_tokens for usage in report.usage.values()),
        "cost_usd": round(sum(usage.cost for usage in report.usage.values()), 6),
        "spend": table(
            ("tier", "calls", "input_tokens", "output_tokens", "cost_usd"),
            [
                (tier, used.calls, used.input_tokens, used.output_tokens, f"{used.cost:.4f}")
                for tier, used in sorted(report.usage.items())
            ],
        ),
        "answerability": _answerability(report),
        "asked_for": 0 if report.answerability is None else report.answerability.asked,
        "found_again": 0 if report.answerability is None else report.answerability.found,
        "completeness": _completeness(report),
        "git": "; ".join(dict.fromkeys(outcome.text for outcome in report.outcomes)) or "none",
        "notes": table(("path", "was"), _changed(report)[:SHOWN_ROWS]),
        "missed": table(
            ("path",),
            [(path,) for path in (report.answerability.missed if report.answerability else ())][
                :SHOWN_ROWS
            ],
        ),
    }


def _answerability(report: PassReport) -> str:
    """Of what the run has judged: how much recall finds by a sentence of the note's own."""
    verdict = report.answerability
    if verdict is None or not verdict.asked:
        return "nothing to ask by"
    return (
        f"{verdict.found:,} of {verdict.asked:,} notes come among the first {WITHIN} when a "
        "sentence of theirs is asked for"
    )


def _completeness(report: PassReport) -> str:
    """Of the rewrites that were sampled: how much of the source a second model finds in them."""
    scored = report.completeness
    if scored is None or not scored.asked:
        return "no rewrite was sampled"
    said = f"{scored.covered:.2f} of the source over {scored.scored:,} rewrites"
    return f"{said}, {scored.unable:,} without a score" if scored.unable else said


def did(done: Done) -> str:
    """One line: what the run did, or why it did nothing."""
    if done.report is not None:
        said = done.report.text
    elif done.remarks:
        said = f"nothing: {done.remarks[0]}"
    else:
        said = "nothing waits"
    return f"{said}, {done.left:,} left for later" if done.left else said


def _changed(report: PassReport) -> Sequence[tuple[str, str]]:
    came_from = {new: old for old, new in report.moved.items()}
    return [(path, came_from.get(path, "")) for path in report.written]


def refusal_rate(done: Done) -> dg.AssetCheckResult:
    """Refused behind the model, of all that was judged."""
    report = done.report
    refused = 0 if report is None else sum(report.gates.get(gate, 0) for gate in _BEHIND_THE_MODEL)
    judged = refused + (0 if report is None else report.enriched)
    share = refused / judged if judged else 0.0
    return dg.AssetCheckResult(
        check_name="refusal_rate",
        passed=judged < FEWEST_JUDGED or share <= REFUSED_SHARE,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "refused": refused,
            "judged": judged,
            "share": round(share, 4),
            "by_code": MetadataValue.json({} if report is None else dict(report.refused)),
        },
    )


def within_budget(done: Done) -> dg.AssetCheckResult:
    """Nothing had to wait for the next run."""
    because = None if done.report is None else done.report.deferred_because
    if because is None and done.left:
        because = "one run judges no more notes"
    return dg.AssetCheckResult(
        check_name="within_budget",
        passed=done.left == 0,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "left": done.left,
            "because": because or "none",
        },
    )


def could_judge(done: Done) -> dg.AssetCheckResult:
    """There was a judge, and its work could be written so that it can be taken back."""
    git = () if done.report is None else done.report.remarks
    problems = tuple(dict.fromkeys((*done.remarks, *git)))
    return dg.AssetCheckResult(
        check_name="could_judge",
        passed=not problems,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"remarks": MetadataValue.json(list(problems))},
    )


def rules_hold(problem: str | None) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name="rules_parse",
        passed=problem is None,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"problem": problem or "none"},
    )
