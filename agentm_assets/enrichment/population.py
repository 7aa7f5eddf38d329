"""Which notes wait for a judgment, and why. Asked of the index: no file is opened for it."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import duckdb

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt
from agentm_assets.enrichment.gates.eligibility import EXTRACTIVE
from agentm_assets.enrichment.staleness import OPERATOR

STAGE: Final = "enrichment"
STOPPED: Final = "enrichment-stopped"
"""Stages of the ledger: judgments that stand in notes, and notes that a gate stopped, with its
code."""

UNREAD: Final = ""
"""In the place of a fingerprint, of a note that could not be read."""

UNDATED: Final = "undated"

Reason = Literal["unfiled", "active-unjudged", "rules", "version", "body"]
"""Never judged: a raw capture, or one that was captured active. Judged: under other rules, by
another version of the pass, or before its body was changed."""

REASONS: Final[tuple[Reason, ...]] = ("unfiled", "active-unjudged", "rules", "version", "body")

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])(?![0-9])")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A note that waits. `judged_fingerprint`: that of its body when it was judged, as the ledger
    has it. `month`: of its capture, such as "2026-08", or UNDATED. `is_linked`: another note links
    to it. `tries`: how often in a row no judgment came about. `stopped_by`: the code of the gate
    that stopped the note as it is, when this judge was to judge it last."""

    path: str
    reason: Reason
    judged_fingerprint: str | None
    month: str
    is_linked: bool
    judged_at: str | None
    captured: str | None
    tries: int
    stopped_by: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether a gate stopped the note for what it is, so that the same is to be expected."""
        by = self.stopped_by
        return by is not None and not by.startswith(("budget-", "model-"))

    @property
    def position(self) -> str:
        """Its place in the queue: oldest stamp first, a note without one before all."""
        return "\0".join((self.judged_at or "", self.captured or "", self.path))


@dataclass(frozen=True, slots=True)
class Population:
    """The notes that wait, in the order in which they are worked off. `counts`: of these, by
    reason. `awaiting_model`: notes that a model has judged, that are stale, and that no model can
    be asked about now; they are not among the items. `eligible`: all notes that are judged at all.
    """

    items: tuple[Waiting, ...]
    counts: Mapping[Reason, int]
    months: Mapping[str, int]
    awaiting_model: int
    eligible: int


def population(
    connection: duckdb.DuckDBPyConnection,
    rules: LoadedRules,
    stamp: str,
    *,
    month: str | None = None,
    only: Collection[str] | None = None,
    also_current: Collection[str] = (),
) -> Population:
    """The notes that wait for the judge with this stamp, under these rules.

    `month`: only those captured in it (UNDATED for notes without a date). `only`: only these paths,
    as an eager run wants that was set off by them. `also_current`: stamps whose judgments are as
    good as this judge's (`Judge.also_current`).
    """
    found: list[Waiting] = []
    awaiting = eligible = 0
    for row in connection.execute(_JUDGED_NOTES, [stamp]).fetchall():
        path, status, by, at, rules_hash, captured, fingerprint, *ledger, is_linked = row
        if is_model_exempt(path, rules.rules) or is_excluded(path, rules.rules.excludes):
            continue
        if month is not None and month_of(captured) != month:
            continue
        if only is not None and path not in only:
            continue
        eligible += 1
        if by == OPERATOR:
            continue
        judged_fingerprint, version, judged_at, tries, stopped_by = ledger
        if (version, judged_at) != (by, at):
            judged_fingerprint = None  # of another judgment than the note's
        reason = _reason(
            status,
            by,
            rules_hash,
            judged_fingerprint,
            fingerprint,
            by if by in also_current else stamp,
            rules.rules_hash,
        )
        if reason is None:
            continue
        if by and not by.startswith(EXTRACTIVE) and stamp.startswith(EXTRACTIVE):
            awaiting += reason != "version"  # of the version alone it is better off as it is
            continue
        found.append(
            Waiting(
                path,
                reason,
                judged_fingerprint,
                month_of(captured),
                bool(is_linked),
                at,
                captured,
                int(tries or 0),
                stopped_by,
            )
        )
    found.sort(key=lambda each: each.position)
    return Population(
        items=tuple(found),
        counts={reason: sum(each.reason == reason for each in found) for reason in REASONS},
        months=_counted(each.month for each in found),
        awaiting_model=awaiting,
        eligible=eligible,
    )


def month_of(captured: str | None) -> str:
    """The month of a capture, as partitions are named."""
    found = _MONTH.match(captured or "")
    return found[0] if found else UNDATED


def _reason(
    status: str,
    by: str | None,
    rules_hash: str | None,
    judged_fingerprint: str | None,
    fingerprint: str,
    stamp: str,
    current_rules: str,
) -> Reason | None:
    if not by:
        return "unfiled" if status == "unfiled" else "active-unjudged"
    if rules_hash != current_rules:
        return "rules"
    if by != stamp:
        return "version"
    if judged_fingerprint not in (None, fingerprint):
        return "body"
    return None


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


_JUDGED_NOTES = f"""
SELECT n.path, n.status, n.enriched_by, n.enriched_at, n.rules_hash, n.captured, n.fingerprint,
       l.fingerprint, l.version, l.judged_at, s.tries, s.outcome, k.resolved_path IS NOT NULL
FROM notes n
LEFT JOIN ledger l ON l.stage = '{STAGE}' AND l.target = n.path
LEFT JOIN ledger s ON s.stage = '{STOPPED}' AND s.target = n.path AND s.fingerprint = n.fingerprint
  AND s.version = ?
LEFT JOIN (SELECT DISTINCT resolved_path FROM links
           WHERE resolved_path IS NOT NULL AND resolved_path <> path) k ON k.resolved_path = n.path
WHERE n.memory_class IN ('semantic', 'procedural', 'episodic') AND NOT n.generated
  AND n.status IN ('unfiled', 'active') AND n.kind IS NULL
ORDER BY n.path
"""
