"""Drift, completeness and corrections: what they measure, and when they speak up."""

import json
import random

import numpy as np
from estate import Estate

from agentm_assets.dreaming.meters.completeness import Completeness, coverage, sampled
from agentm_assets.dreaming.meters.corpus import Document, Vector
from agentm_assets.dreaming.meters.corrections import Corrections, class_corrections
from agentm_assets.dreaming.meters.drift import BASELINE, DriftMeters, alike, measure, tripped
from agentm_assets.dreaming.run import run_stage
from agentm_assets.history.revert_log import Change
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import content_hash

WORDS = [f"{a}{b}" for a in ("ba", "ke", "li", "mo", "nu") for b in ("ra", "te", "vi", "zo", "pu")]


def texts(count: int, spread: int, seed: int = 7) -> list[str]:
    """Notes over `spread` words: fewer words, more alike."""
    chosen = random.Random(seed)
    return [" ".join(chosen.choice(WORDS[:spread]) for _ in range(60)) for _ in range(count)]


def documents(bodies: list[str]) -> list[Document]:
    return [
        Document(f"n{number:03}.md", "", f"2026-01-{number % 28 + 1:02}", "", "", False, body)
        for number, body in enumerate(bodies)
    ]


def vectors(count: int, spread: float) -> dict[str, Vector]:
    chosen = np.random.default_rng(3)
    rows = np.array([1.0] + [0.0] * 15) + spread * chosen.normal(size=(count, 16))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return {f"n{number:03}.md": row.astype(np.float32) for number, row in enumerate(rows)}


def test_a_memory_that_sounds_alike_moves_every_meter_the_right_way(estate: Estate) -> None:
    varied = measure(documents(texts(60, 25)), vectors(60, 1.0))
    alike = measure(documents(texts(60, 6)), vectors(60, 0.1))
    assert alike.lexical_diversity < varied.lexical_diversity
    assert alike.trigram_share > varied.trigram_share
    assert varied.similarity is not None
    assert alike.similarity is not None
    assert alike.similarity > varied.similarity
    assert (alike.dispersion or 0) < (varied.dispersion or 0)
    lines = estate.rules().rules.thresholds
    assert len(tripped(alike, varied, lines)) == 4
    assert tripped(varied, varied, lines) == []
    without = measure(documents(texts(60, 25)), {})
    assert (without.similarity, without.dispersion) == (None, None)
    assert tripped(without, varied, lines) == []


def test_notes_that_are_alike_are_named_the_nearest_first() -> None:
    notes = documents(["a", "b", "c"])
    placed = {
        "n000.md": np.array([1.0, 0.0], np.float32),
        "n001.md": np.array([0.96, 0.28], np.float32),
        "n002.md": np.array([0.0, 1.0], np.float32),
    }
    assert alike(notes, placed) == ["0.960 alike: n000.md and n001.md"]
    placed["n002.md"] = placed["n000.md"]
    assert alike(notes, placed)[0] == "1.000 alike: n000.md and n002.md"
    assert alike(notes, {}) == []


def test_the_baseline_is_frozen_once_and_outlives_the_index(estate: Estate) -> None:
    few = run_stage(estate.night(), DriftMeters())
    assert few.measured == {"notes": 0}
    for number, text in enumerate(texts(50, 25)):
        estate.memory(f"n{number}", text)
    estate.commit()
    first = run_stage(estate.night(), DriftMeters())
    assert first.applied == 0, "a machine record is no mutation"
    baseline = estate.read(BASELINE.key)
    assert json.loads(baseline)["meters"]["notes"] == 50
    assert estate.git("status", "--porcelain") == ""
    head = estate.head()
    for number, text in enumerate(texts(50, 5)):
        estate.memory(f"n{number}", text)
    estate.location.duckdb_file.unlink()
    second = run_stage(estate.night(), DriftMeters())
    assert estate.read(BASELINE.key) == baseline
    assert estate.head() == head
    assert second.measured["tripped"] == 2
    assert any(note.startswith("lexical_diversity has fallen") for note in second.notes)


def test_a_baseline_that_cannot_be_read_is_not_overwritten(estate: Estate) -> None:
    for number, text in enumerate(texts(50, 25)):
        estate.memory(f"n{number}", text)
    estate.write(BASELINE.key, '{"v": 99}\n')
    estate.commit()
    report = run_stage(estate.night(), DriftMeters())
    assert estate.text(BASELINE.key) == '{"v": 99}\n'
    assert dict(report.skipped) == {"baseline-is-there": 1}


def test_a_line_of_the_rules_is_really_read(estate: Estate) -> None:
    now = measure(documents(texts(60, 20)), {})
    base = measure(documents(texts(60, 25)), {})
    lines = estate.rules().rules.thresholds
    loose = lines.model_copy(update={"trip_trigram_rise": 1.0, "trip_diversity_fall": 1.0})
    tight = lines.model_copy(update={"trip_trigram_rise": 0.0, "trip_diversity_fall": 0.0})
    assert tripped(now, base, loose) == []
    assert len(tripped(now, base, tight)) == 2


def test_how_much_of_a_source_a_note_holds() -> None:
    source = "The pump tripped the breaker at dawn. Ines replaced the gland with type EPDM."
    assert coverage(source, source) == 1.0
    assert coverage(source, "At dawn the breaker tripped, since the pump did.") == 0.5
    assert coverage(source, "Nothing of it.") == 0.0
    assert coverage("Yes.", "") == 1.0


def test_completeness_is_of_notes_that_a_model_rewrote(estate: Estate) -> None:
    raw = "The pump tripped the breaker at dawn. Ines replaced the gland with type EPDM."
    path = estate.memory("pump", raw, enriched_by="strong-1+p1", enriched_at="2026-07-01T00:00:00Z")
    estate.memory("own", raw, enriched_by="operator")
    estate.memory("built-in", raw, enriched_by="extractive-1")
    estate.commit()
    old = estate.read(path)
    new = old.replace(raw.encode(), b"The breaker was tripped by the pump at dawn.")
    with begin(estate.location, estate.backend, pass_name="enrich") as run:
        run.write(Locator(path), new, expect=content_hash(old))
    report = run_stage(estate.night(), Completeness())
    assert (report.measured["sample"], report.measured["completeness"]) == (1, 0.5)
    assert report.notes[0] == "completeness is 0.50, under its line of 0.80"


def test_the_sample_is_mixed_anew_each_day_and_is_the_same_on_one() -> None:
    notes = [Document(f"n{n}.md", "", "", "strong-1+p1", "", False, "") for n in range(30)]
    one = sampled(notes, "2026-08-14")
    assert one == sampled(notes[::-1], "2026-08-14")
    assert one != sampled(notes, "2026-08-15")
    assert len(one) == 30


def test_class_corrections_are_counted_by_month(estate: Estate) -> None:
    def moved(source: str, target: str, at: str) -> Change:
        return Change("r", "enrich", target, None, "h", None, at, moved_from=source)

    semantic, procedural = (
        "Agent/memory/semantic/2026/06/a.md",
        "Agent/memory/procedural/2026/06/a.md",
    )
    changes = [
        moved(semantic, procedural, "2026-08-01T00:00:00Z"),
        moved(procedural, semantic, "2026-08-02T00:00:00Z"),
        moved(semantic, procedural, "2026-07-31T23:59:59Z"),
        moved(semantic, "Agent/memory/semantic/2026/06/b.md", "2026-08-03T00:00:00Z"),
        Change("r", "forget", semantic, None, "h", None, "2026-08-03T00:00:00Z"),
    ]
    assert class_corrections(changes) == {"2026-08": 2, "2026-07": 1}
    assert run_stage(estate.night(), Corrections()).measured == {"this_month": 0, "tripped": 0}
