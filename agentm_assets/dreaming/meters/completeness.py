"""Completeness: did the rewriting of notes keep what their sources said? A sample, every night.

The floor is a gate at write time: no identifier, number, name, date or address may be lost. This
looks at what is above it: of each claim of the source, how much of it is still in the note.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from agentm_assets.dreaming.meters.corpus import WORD, Document, body_of, read_corpus
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.stage import Plan
from agentm_assets.enrichment.gates.eligibility import EXTRACTIVE
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.enrichment.staleness import OPERATOR
from agentm_assets.storage.locator import Locator

SAMPLE: Final = 40
"""Notes looked at in a night."""

COVERED: Final = 0.6
"""Share of a claim's telling words that the note must have for the claim to count as covered."""

_CLAIM = re.compile(r"[^.!?。！？\r\n]+")
_LEAST_WORDS: Final = 3


class Completeness:
    name: Final = "completeness"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "A sample of rewritten notes: how much of their sources' claims they hold."

    def plan(self, night: Night) -> Plan:
        history = NoteHistory(night.location, night.backend)
        scores: list[tuple[float, str]] = []
        for each in sampled(read_corpus(night), night.now.date().isoformat()):
            if len(scores) == SAMPLE:
                break
            data = night.backend.read_bytes(Locator(each.path))
            raw = history.past(each.path, data).raw
            if raw is not None:
                scores.append((coverage(body_of(raw), f"{each.title}\n{each.body}"), each.path))
        if not scores:
            return Plan(measured={"sample": 0})
        mean = sum(score for score, _ in scores) / len(scores)
        line = night.rules.rules.thresholds.trip_completeness
        notes: list[str] = []
        if mean < line:
            notes.append(f"completeness is {mean:.2f}, under its line of {line:.2f}")
            notes += [f"{score:.2f} {path}" for score, path in sorted(scores)[:10]]
        return Plan(
            notes=tuple(notes),
            measured={
                "sample": len(scores),
                "completeness": round(mean, 4),
                "worst": round(min(scores)[0], 4),
                "tripped": int(mean < line),
            },
        )


def sampled(documents: Sequence[Document], day: str) -> list[Document]:
    """The notes that a model has rewritten, in an order that each day mixes anew: every note's turn
    comes, and the same day gives the same sample."""
    rewritten = [
        each
        for each in documents
        if each.enriched_by
        and each.enriched_by != OPERATOR
        and not each.enriched_by.startswith(EXTRACTIVE)
    ]
    return sorted(
        rewritten, key=lambda each: hashlib.sha256(f"{day}\0{each.path}".encode()).digest()
    )


def coverage(source: str, note: str) -> float:
    """The share of the source's claims that the note holds, 0 to 1; 1 for a source without any."""
    held = {word.casefold() for word in WORD.findall(note)}
    stems = {word[:6] for word in held if len(word) > 5}
    claims = [
        words
        for claim in _CLAIM.findall(source)
        if len(words := {w.casefold() for w in WORD.findall(claim) if len(w) > 3}) >= _LEAST_WORDS
    ]
    if not claims:
        return 1.0
    covered = sum(
        sum(word in held or word[:6] in stems for word in words) / len(words) >= COVERED
        for words in claims
    )
    return covered / len(claims)
