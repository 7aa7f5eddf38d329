"""The slop detector over 150 labelled notes, and what it does with what it finds."""

from pathlib import Path

import numpy as np
import pytest
from estate import Estate
from labelled_notes import labelled

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.dreaming.meters.corpus import Document, Vector
from agentm_assets.dreaming.meters.shingles import near_copies
from agentm_assets.dreaming.meters.slop import SlopScores, score
from agentm_assets.dreaming.meters.slop_records import RECORD, confirm_line, keep_line
from agentm_assets.dreaming.meters.template import common_lines, residual
from agentm_assets.dreaming.run import run_stage
from agentm_assets.models.embedder import Embedder

PRECISION, RECALL = 0.95, 0.90
SKELETON = "## What\nTBD\n## Why\nn/a\n"


def document(
    path: str, body: str, captured: str = "2026-05-01", *, linked: bool = False
) -> Document:
    return Document(path, path, captured, "", fingerprint(body.encode()), linked, body)


def same(documents: list[Document]) -> dict[str, Vector]:
    return {each.path: np.array([1.0, 0.0], np.float32) for each in documents}


@pytest.fixture(scope="module")
def lines() -> object:
    from agentm_assets.contract.rules_model import Thresholds

    fields = dict.fromkeys(
        ("decay_full_days", "decay_half_days", "decay_eighth_days", "decay_floor_days"), "182"
    )
    return Thresholds(
        low_confidence="0.65",
        enrichment_input_chars="24000",
        decay_floor_weight="0.0625",
        archive_after_days="1825",
        decay_enabled="false",
        **fields,
    )


def test_precision_and_recall_on_150_labelled_notes(minilm_folder: Path, lines: object) -> None:
    notes = labelled()
    assert len(notes) == 150
    documents = [document(n.slug, n.body, n.captured) for n in notes]
    vectors = Embedder.open(minilm_folder).embed([n.body for n in notes])
    found = {
        each.path: each
        for each in score(
            documents, dict(zip((n.slug for n in notes), vectors, strict=True)), lines
        )
    }
    slop = {n.slug for n in notes if n.is_slop}
    hits = slop & set(found)
    precision, recall = len(hits) / len(found), len(hits) / len(slop)
    assert precision >= PRECISION, sorted(set(found) - slop)
    assert recall >= RECALL, sorted(slop - set(found))
    expiring = {path for path, each in found.items() if each.band == "expire"}
    assert expiring
    assert expiring <= {f"skeleton-{n}" for n in range(20)}


def test_a_template_is_seen_by_its_lines_and_a_filled_one_counts() -> None:
    bodies = [f"## Cause\n{what}\n**Owner:** {what}\n" for what in ("a b", "c d", "e f", "TBD", "")]
    common = common_lines(bodies)
    assert residual("## Cause\nThe seal.\n**Owner:** Ines\n", common).own == ("the", "seal", "ines")
    assert residual("## Cause\nTBD\n**Owner:** n/a\n", common).ratio == 0.0
    assert residual("Port: 5433\n", common).ratio == 1.0  # nobody else's label: it says something


def test_length_never_counts_alone(lines: object) -> None:
    short = [document(f"s{n}", f"{word} rules.", "2026-05-01") for n, word in enumerate("abcdef")]
    telling = document("t", "Marek is allergic to walnuts.")
    found = {each.path for each in score([*short, telling], {}, lines)}
    assert "t" not in found


def test_overlap_alone_is_no_near_copy_of_a_fact_of_its_own(lines: object) -> None:
    documents = [
        document("a", "Host vega listens on port 8443 for orders; certificate until 2027."),
        document("b", "Host deneb listens on port 7443 for telemetry; certificate until 2028."),
    ]
    assert score(documents, same(documents), lines) == []


def test_without_vectors_nothing_expires(lines: object) -> None:
    documents = [document(f"n{n}", SKELETON, f"2026-05-0{n + 1}") for n in range(5)]
    bands = [each.band for each in score(documents, {}, lines)]
    assert bands
    assert set(bands) == {"review"}
    banded = {each.path: each.band for each in score(documents, same(documents), lines)}
    assert banded["n0"] == "review", "the oldest is the one that the others repeat"
    assert {banded[f"n{n}"] for n in range(1, 5)} == {"expire"}
    linked = [*documents, document("n5", SKELETON, "2026-05-09", linked=True)]
    assert {s.path: s.band for s in score(linked, same(linked), lines)}["n5"] == "review"


def test_near_copies_point_at_the_older_note_whatever_the_order() -> None:
    text = "The pump tripped the breaker because the terminal block was wet on the inside."
    documents = [
        document("new", text, "2026-06-01"),
        document("old", f"{text} Again.", "2026-01-01"),
    ]
    for order in (documents, documents[::-1]):
        copies = near_copies(order, same(documents))
        assert {path: copy.of for path, copy in copies.items()} == {"new": "old"}


def test_the_narrow_band_waits_for_the_operator_once(estate: Estate) -> None:
    class Same:
        model_id = "same"

    paths = [estate.memory(f"n{n}", SKELETON, captured=f"2026-05-0{n + 1}") for n in range(5)]
    estate.commit()
    night = estate.night()
    with night.index() as connection:
        connection.execute(
            "INSERT INTO embeddings SELECT DISTINCT embed_hash, 'same', ?::BLOB FROM chunks",
            [np.array([1.0, 0.0], np.float32).tobytes()],
        )
    before = estate.files()
    report = run_stage(night, SlopScores())
    assert (report.applied, report.skipped["awaits-confirmation"]) == (0, 4)
    assert report.measured["expire"] == 4
    assert estate.files() == before
    estate.write(RECORD.key, confirm_line("2026-08-14") + b"\n")
    kept = fingerprint(estate.read(paths[0]).split(b"---\n", 2)[2])
    report = run_stage(estate.night(), SlopScores())
    assert report.applied == 4
    assert "status: expired" in estate.text(paths[1])
    assert "status: active" in estate.text(paths[0])
    assert estate.read(paths[1]).endswith(SKELETON.encode() + b"\n"), "nothing is deleted"
    again = run_stage(estate.night(), SlopScores())
    assert again.applied == 0
    estate.write(RECORD.key, keep_line(paths[0], kept, "2026-08-14") + b"\n")
    assert run_stage(estate.night(), SlopScores()).measured["review"] == 0
