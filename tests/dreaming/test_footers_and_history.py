"""A footer that the night wrote since keeps no run from being taken back, and no judgment wrong."""

from datetime import UTC, datetime

from estate import Estate

from agentm_assets.contract.edit import set_key
from agentm_assets.contract.footer import find_footer, strip_footer
from agentm_assets.dreaming.pages.footers import ReferenceFooters
from agentm_assets.dreaming.run import run_stage
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.history.footer_writes import FOOTER_PASS
from agentm_assets.history.revert import revert
from agentm_assets.history.run import begin
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import content_hash

NOW = datetime(2026, 8, 20, tzinfo=UTC)


def judged(estate: Estate, path: str, run_id: str) -> bytes:
    """As enrichment writes: a body anew, and its stamp."""
    old = estate.read(path)
    new = set_key(old.replace(b"raw words", b"fine words"), "enriched_by", "strong-1+p1")
    new = set_key(new, "rules_hash", "r1")
    with begin(estate.location, estate.backend, pass_name="enrich", run_id=run_id) as run:
        run.write(Locator(path), new, expect=content_hash(old))
    return old


def test_a_run_under_footers_is_taken_back_and_stays_so(estate: Estate) -> None:
    path = estate.memory("pump", "These are raw words.")
    estate.memory("other", "See [[pump]].")
    estate.commit()
    raw = judged(estate, path, "enrich-1")
    assert run_stage(estate.night(), ReferenceFooters()).run_id is not None
    estate.memory("third", "See [[pump]] too.")
    run_stage(estate.night(), ReferenceFooters())
    data = estate.read(path)
    assert find_footer(data) is not None
    assert estate.git("log", "-1", "--format=%an", "--", path).strip() == f"agentm-{FOOTER_PASS}"
    history = NoteHistory(estate.location, estate.backend)
    assert not history.past(path, data).human_edited
    assert history.past(path, data).raw == raw
    done = revert(estate.location, estate.backend, "enrich-1", now=lambda: NOW)
    assert [file.fate for file in done.files] == ["restored"]
    assert estate.read(path) == raw
    run_stage(estate.night(), ReferenceFooters())  # its footer is back; what was taken back is not
    data = estate.read(path)
    assert strip_footer(data) == raw
    history = NoteHistory(estate.location, estate.backend)
    assert history.taken_back(path, content_hash(data), "strong-1+p1", "r1")
    again = revert(estate.location, estate.backend, "enrich-1", now=lambda: NOW)
    assert [file.fate for file in again.files] == ["done"]


def test_a_human_edit_under_a_footer_still_is_a_conflict(estate: Estate) -> None:
    path = estate.memory("pump", "These are raw words.")
    estate.memory("other", "See [[pump]].")
    estate.commit()
    judged(estate, path, "enrich-1")
    run_stage(estate.night(), ReferenceFooters())
    estate.write(path, estate.read(path).replace(b"fine words", b"my words"))
    done = revert(estate.location, estate.backend, "enrich-1", now=lambda: NOW)
    assert [file.fate for file in done.files] == ["conflict"]
    assert b"my words" in estate.read(path)


def test_a_run_of_footers_is_itself_taken_back(estate: Estate) -> None:
    path = estate.memory("pump", "These are raw words.")
    estate.memory("other", "See [[pump]].")
    estate.commit()
    before = estate.read(path)
    report = run_stage(estate.night(), ReferenceFooters())
    assert report.run_id is not None
    done = revert(estate.location, estate.backend, report.run_id, now=lambda: NOW)
    assert [file.fate for file in done.files] == ["restored"]
    assert estate.read(path) == before
    run_stage(estate.night(), ReferenceFooters())  # it is not through with what has no footer
    assert find_footer(estate.read(path)) is not None
