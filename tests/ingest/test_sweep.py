"""A sweep: what is new, what is known, and what is written in which case."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.extract.links import extract_links
from agentm_assets.history.run import Run
from agentm_assets.index.store import IndexStore
from agentm_assets.ingest import logs as logs_module
from agentm_assets.ingest import units as units_module
from agentm_assets.ingest import write as write_module
from agentm_assets.ingest.places import IngestRefused
from agentm_assets.ingest.report import IngestReport
from agentm_assets.ledger.source_records import RECORD
from agentm_assets.ledger.sources import bring_up_to_date
from agentm_assets.storage.seam import StorageError
from agentm_assets.storage.vault_backend import VaultBackend
from agentm_assets.traces.record import record_session
from agentm_assets.traces.session import session_of

Sweep = Callable[..., IngestReport]
Tree = Callable[[], dict[str, bytes]]
Read = Callable[[str], str]

KILN = "claude-code/-home-op-src-kiln/5f0e3c1a-7b2d-4c4e-9a61-0d8e2f6b1a01.jsonl"
KILN_SOURCE = "claude-session:5f0e3c1a-7b2d-4c4e-9a61-0d8e2f6b1a01"
PUMP = (
    "antigravity/brain/901d1db7-8590-4cb0-a7cb-35fac369d801/.system_generated/logs/transcript.jsonl"
)
ANSWER = (
    "The controller refuses a target above 1,240 degrees unless both sensors agree within eight "
    "degrees. The limit stands in limits.toml and is checked at every step of the schedule."
)


def line(
    role: str, text: str, *, session: str = KILN_SOURCE.partition(":")[2], at: str = "10:00:00"
) -> bytes:
    record = {
        "type": role,
        "uuid": f"u-{abs(hash((role, text))) % 10**9}",
        "sessionId": session,
        "timestamp": f"2026-03-02T{at}.000Z",
        "cwd": "/home/op/src/kiln",
        "message": {"role": role, "content": text},
    }
    return json.dumps(record).encode() + b"\n"


def append(file: Path, *lines: bytes) -> None:
    with file.open("ab") as log:
        log.writelines(lines)


def did(report: IngestReport) -> list[str]:
    return [each.did for each in report.sources]


def test_a_second_sweep_finds_nothing_and_writes_no_byte(
    samples: Path, sweep: Sweep, tree: Tree, git: Callable[..., str]
) -> None:
    first = sweep(samples)
    before, head = tree(), git("rev-parse", "HEAD")
    second = sweep(samples)
    assert len(first.made) == 24 and len(first.traces) == 12
    assert set(did(second)) == {"current"}
    assert (tree(), git("rev-parse", "HEAD")) == (before, head)
    assert git("status", "--porcelain") == ""


def test_a_dry_run_says_what_would_be_made_and_writes_nothing(
    samples: Path, sweep: Sweep, tree: Tree
) -> None:
    before = tree()
    planned = sweep(samples, dry_run=True)
    assert tree() == before
    done = sweep(samples)
    assert len(planned.made) == len(done.made)
    assert planned.counts() == done.counts()


def test_of_a_log_that_grew_the_tail_alone_is_read(
    samples: Path, sweep: Sweep, tree: Tree, text_of: Read
) -> None:
    log = samples / KILN
    sweep(log)
    before = tree()
    append(log, line("user", "We decided that the kiln never heats above 1,240 degrees."))
    append(log, line("assistant", ANSWER))
    (one,) = sweep(log).sources
    assert (one.did, one.records) == ("grown", 2)
    assert len(one.made) == 2 and one.superseded == ()
    changed = {path for path, data in before.items() if tree()[path] != data}
    assert changed <= {RECORD.key, "Agent/_meta/revert-log.jsonl", one.trace}
    assert "never heats" in text_of(one.made[0])


def test_a_last_line_that_is_being_written_waits(samples: Path, sweep: Sweep) -> None:
    log = samples / KILN
    sweep(log)
    whole = line("user", "From now on the relay is checked before every firing.")
    append(log, whole[:90])
    (torn,) = sweep(log).sources
    assert (torn.did, torn.records, torn.waits) == ("current", 0, True)
    append(log, whole[90:])
    (ended,) = sweep(log).sources
    assert (ended.did, ended.records, ended.waits, len(ended.made)) == ("grown", 1, False, 1)


def test_a_whole_last_line_without_its_end_is_read_once(samples: Path, sweep: Sweep) -> None:
    log = samples / KILN
    append(log, line("user", "From now on the relay is checked before every firing.").rstrip())
    assert sweep(log).sources[0].records == 13
    append(log, b"\n", line("user", "Thank you, that is all."))
    assert sweep(log).sources[0].records == 1


@pytest.mark.parametrize("how", ["shorter", "rewritten"])
def test_a_log_that_was_cut_or_written_anew_is_read_from_its_beginning(
    samples: Path, sweep: Sweep, how: str
) -> None:
    log = samples / KILN
    lines = log.read_bytes().splitlines(keepends=True)
    sweep(log)
    new = line("user", "We decided to fire the kiln at night only.")
    # What was told before is told again, and makes no second note.
    log.write_bytes(b"".join([*lines[:8], new] if how == "shorter" else [new, *lines]))
    (one,) = sweep(log).sources
    assert (one.did, one.restarted) == ("changed", how)
    assert len(one.made) == 1 and "night-only" in one.made[0]
    assert did(sweep(log)) == ["current"]


def test_a_renamed_log_is_known_by_its_session(samples: Path, sweep: Sweep) -> None:
    sweep(samples / KILN)
    moved = (samples / KILN).rename(samples / "old.log")
    assert did(sweep(moved)) == ["current"]
    append(moved, line("user", "We decided that the kiln never heats above 1,240 degrees."))
    (one,) = sweep(moved).sources
    assert (one.source, one.did, one.records) == (KILN_SOURCE, "grown", 1)


def test_a_log_that_names_no_session_is_known_by_its_bytes(samples: Path, sweep: Sweep) -> None:
    source = sweep(samples / PUMP).sources[0].source
    moved = (samples / PUMP).rename(samples / "moved.jsonl")
    (one,) = sweep(moved).sources
    assert (one.source, one.did) == (source, "current")


def test_of_two_logs_of_a_session_the_one_with_the_cursor_counts(
    samples: Path, sweep: Sweep
) -> None:
    sweep(samples / KILN)
    copy = samples / "aaa.jsonl"
    copy.write_bytes(line("user", "We decided on something in a fork.") * 300)
    report = sweep(samples / KILN, copy)
    assert sorted(did(report)) == ["current", "passed"]
    assert next(each for each in report.sources if each.did == "passed").place == str(copy)


def test_a_session_that_an_agent_started_gives_nothing(samples: Path, sweep: Sweep) -> None:
    log = samples / "codex/sessions/2026/06"
    file = next(log.rglob("*.jsonl"))
    file.write_bytes(
        file.read_bytes().replace(b'"source": "cli"', b'"source": {"subagent": "review"}')
    )
    (one,) = sweep(log).sources
    assert (one.did, one.made, one.trace) == ("nothing", (), "")
    assert did(sweep(log)) == ["current"]


def test_what_gave_nothing_is_remembered(
    samples: Path,
    sweep: Sweep,
    location: VaultLocation,
    store: VaultBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = sweep(samples / "mail/away.eml")
    assert did(first) == ["nothing"]
    location.duckdb_file.unlink()  # the table is a cache: the file in the vault says it again

    def never(*_: object) -> None:
        raise AssertionError("it was distilled again")

    monkeypatch.setattr(units_module, "distil_mail", never)
    assert did(sweep(samples / "mail/away.eml")) == ["current"]
    registry = bring_up_to_date(IndexStore(location.duckdb_file), store)
    assert registry.sources["email:away-1@firm.example"].notes == 0


def test_the_registry_is_rebuilt_from_the_notes(
    samples: Path, sweep: Sweep, location: VaultLocation, store: VaultBackend
) -> None:
    sweep(samples)
    before = bring_up_to_date(IndexStore(location.duckdb_file), store).sources
    location.duckdb_file.unlink()
    assert bring_up_to_date(IndexStore(location.duckdb_file), store).sources == before
    assert len(before) == 21
    assert set(did(sweep(samples))) == {"current"}


def test_a_page_that_changed_supersedes_the_notes_of_exactly_its_address(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    page = samples / "web/lime.html"
    longer = page.read_text().replace("/lime-plaster?", "/lime-plaster-2?")
    (samples / "web/lime2.html").write_text(longer)
    old = sweep(page, samples / "web/lime2.html").made
    page.write_text(page.read_text().replace("at least seven days", "at least nine days"))
    (one,) = sweep(page).sources
    assert (one.did, one.superseded) == ("changed", (old[0],))
    assert "nine days" in text_of(one.made[0]) and "\nstatus: unfiled\n" in text_of(one.made[0])
    slug = Path(one.made[0]).stem
    superseded = text_of(old[0])
    assert "\nstatus: superseded\n" in superseded and f"\nsuperseded_by: {slug}\n" in superseded
    assert "seven days" in superseded
    assert "\nstatus: unfiled\n" in text_of(old[1])


def test_a_page_that_is_again_as_it_was_is_kept_anew(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    page = samples / "web/lime.html"
    first = page.read_text()
    sweep(page)
    page.write_text(first.replace("at least seven days", "at least nine days"))
    (second,) = sweep(page).made
    page.write_text(first)
    (one,) = sweep(page).sources
    assert (one.did, one.superseded) == ("changed", (second,))
    assert "seven days" in text_of(one.made[0]) and "status: unfiled" in text_of(one.made[0])
    assert did(sweep(page)) == ["current"]


@pytest.mark.parametrize("place", ["web/lime.html", KILN])
def test_after_a_kill_before_the_older_notes_gave_way_they_do(
    samples: Path, sweep: Sweep, text_of: Read, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    old = sweep(samples / place).made
    for module in (logs_module, units_module, write_module):
        monkeypatch.setattr(module, "VERSION", "ingest-2")

    def killed(*_: object) -> bytes:
        raise StorageError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(write_module, "forgotten", killed)
        with pytest.raises(StorageError, match="killed"):
            sweep(samples / place, again=True)
    assert all("status: unfiled" in text_of(path) for path in old)
    report = sweep(samples / place, again=True)
    assert report.made == () and sorted(report.superseded) == sorted(old)
    assert did(sweep(samples / place, again=True)) == ["current"]


def test_what_the_operator_accepted_stays_in_force(
    samples: Path, sweep: Sweep, vault: Path, text_of: Read
) -> None:
    page = samples / "web/lime.html"
    (note,) = sweep(page).made
    (vault / note).write_text(
        text_of(note).replace("status: unfiled", "status: active\nenriched_by: operator")
    )
    page.write_text(page.read_text().replace("at least seven days", "at least nine days"))
    (one,) = sweep(page).sources
    assert one.superseded == () and len(one.made) == 1
    assert "\nstatus: active\n" in text_of(note)
    assert did(sweep(page)) == ["current"]


def test_another_text_under_a_known_message_id_takes_nobodys_place(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    mail = samples / "mail/roof.eml"
    (note,) = sweep(mail).made
    mail.write_bytes(mail.read_bytes().replace(b"14,300 EUR", b"94,300 EUR"))
    (one,) = sweep(mail).sources
    assert (one.did, one.made) == ("passed", ())
    assert "14,300" in text_of(note) and "superseded" not in text_of(note)


def test_a_mail_that_lies_in_two_mailboxes_is_read_once(samples: Path, sweep: Sweep) -> None:
    copy = samples / "mail/zcopy.eml"
    copy.write_bytes(b"Received: by another\n" + (samples / "mail/roof.eml").read_bytes())
    report = sweep(samples / "mail/roof.eml", copy)
    assert (sorted(did(report)), len(report.made)) == (["new", "passed"], 1)


def test_what_an_older_version_kept_of_a_log_is_not_kept_twice(
    samples: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = samples / KILN
    sweep(log)
    for module in (logs_module, units_module, write_module):
        monkeypatch.setattr(module, "VERSION", "ingest-2")
    log.write_bytes(line("user", "We decided to fire the kiln at night only.") + log.read_bytes())
    (one,) = sweep(log).sources
    assert one.restarted == "rewritten"
    assert [path for path in one.made if "what-came-of" not in path] == [
        "Agent/memory/semantic/2026/03/we-decided-to-fire-the-kiln-at-night-only.md"
    ]
    assert one.reinforced == ()


def test_an_older_version_is_read_anew_on_demand_alone(
    samples: Path, sweep: Sweep, text_of: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = (samples / KILN, samples / "mail/roof.eml")
    old = sweep(*places).made
    for module in (logs_module, units_module, write_module):
        monkeypatch.setattr(module, "VERSION", "ingest-10")
    assert did(sweep(*places)) == ["current", "older"]
    append(samples / KILN, line("user", "Thank you, that is all."))
    assert sorted(did(sweep(*places))) == ["grown", "older"]
    again = sweep(*places, again=True)
    assert did(again) == ["again", "again"]
    assert sorted(again.superseded) == sorted(old) and len(again.made) == len(old)
    assert all("\nsource_version: ingest-10\n" in text_of(path) for path in again.made)
    assert all("\nstatus: superseded\n" in text_of(path) for path in old)
    # Nothing is counted as said once more: it was said once.
    assert again.reinforced == ()
    assert did(sweep(*places, again=True)) == ["current", "current"]


def test_an_outcome_gives_way_where_the_same_work_went_on(samples: Path, sweep: Sweep) -> None:
    log = samples / KILN
    outcome = next(path for path in sweep(log).made if "what-came-of" in path)
    append(log, line("assistant", ANSWER))
    (one,) = sweep(log).sources
    assert one.superseded == (outcome,) and len(one.made) == 1
    append(log, line("user", "Now look at the display."), line("assistant", ANSWER[::-1]))
    assert sweep(log).superseded == ()


def test_a_trace_that_a_hook_wrote_is_added_to(
    samples: Path, sweep: Sweep, location: VaultLocation, store: VaultBackend, tree: Tree
) -> None:
    told = {"session_id": KILN_SOURCE.partition(":")[2], "agent": "claude-code", "title": "Kiln"}
    now = datetime(2026, 3, 2, 11, tzinfo=UTC)
    written = record_session(location, store, session_of(told, now), now).path
    assert sweep(samples / KILN).traces == (written,)
    assert [path for path in tree() if path.startswith("calendar")] == [written]
    assert b"schedule.py" in tree()[written]


def test_what_is_said_in_another_session_is_counted_and_not_written_twice(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    said = "Never use pickle for anything that outlives the process."
    for name in ("s1", "s2", "s3"):
        (samples / f"{name}.jsonl").write_bytes(line("user", said, session=name))
    first = sweep(samples / "s1.jsonl", samples / "s2.jsonl")
    assert len(first.made) == 1 and first.reinforced == first.made
    assert "\noccurrences: 2\n" in text_of(first.made[0])
    sweep(samples / "s3.jsonl")
    sweep(samples / "s3.jsonl", samples / "s1.jsonl")
    assert "\noccurrences: 3\n" in text_of(first.made[0])


def test_after_a_kill_before_the_record_nothing_is_made_twice(
    samples: Path, sweep: Sweep, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise StorageError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Run, "record", killed)
        with pytest.raises(StorageError, match="killed"):
            sweep(samples)
    memories = {path for path in tree() if path.startswith("Agent/memory")}
    assert len(memories) == 24
    report = sweep(samples)
    assert report.made == () and report.reinforced == ()
    assert {path for path in tree() if path.startswith("Agent/memory")} == memories
    assert set(did(sweep(samples))) == {"current"}


def test_the_operators_own_space_is_not_mined(samples: Path, sweep: Sweep, vault: Path) -> None:
    private = vault / "Personal"
    private.mkdir()
    (private / "mail.eml").write_bytes((samples / "mail/roof.eml").read_bytes())
    (samples / "link.eml").symlink_to(private / "mail.eml")
    for place in (private / "mail.eml", private, samples / "link.eml"):
        with pytest.raises(IngestRefused, match="personal/"):
            sweep(place)
    assert sweep(vault).sources == ()


def test_a_path_in_the_operators_own_space_is_named_nowhere(
    samples: Path, sweep: Sweep, vault: Path, tree: Tree
) -> None:
    log = samples / KILN
    text = log.read_text().replace(
        "/home/op/src/kiln/tests/test_schedule.py", f"{vault}/personal/diary-of-april.md"
    )
    log.write_text(text)
    sweep(log)
    assert not any(b"diary-of-april" in data for data in tree().values())


@pytest.mark.parametrize("name", ["minutes", "roof"])
def test_text_of_the_outside_links_to_no_note_and_hides_nothing(
    samples: Path, sweep: Sweep, text_of: Read, name: str
) -> None:
    mail = samples / f"mail/{name}.eml"
    mail.write_bytes(
        mail.read_bytes().replace(b"larch battens", b"[[personal/bank]] ![[pic.png]] <!-- larch")
    )
    (note,) = sweep(mail).made
    data = text_of(note).encode()
    start = read_frontmatter(data).body_start
    assert b"personal/bank" in data[start:]
    assert list(extract_links(data, start, ())) == []
    assert b"<!--" not in data


@pytest.mark.parametrize(
    ("damage", "broken"),
    [
        (b"\0" * 5_000 + b"\n", 0),
        (b'{"type": "user", \n', 1),
        (b"[1, 2, 3]\n42\nnull\n", 3),
        (b"\xff\xfe not text\n", 1),
        (b"[" * 200_000 + b"\n", 1),
        (b'{"n": ' + b"9" * 10_000 + b"}\n", 1),
        (b"\r\n\n \n", 0),
    ],
    ids=["nul", "torn", "no-object", "not-utf-8", "deep", "number", "blank"],
)
def test_lines_that_cannot_be_read_are_counted_and_spoil_no_other(
    samples: Path, sweep: Sweep, damage: bytes, broken: int
) -> None:
    log = samples / KILN
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:6], damage, *lines[6:]]))
    (one,) = sweep(log).sources
    assert (one.did, one.broken, len(one.made), one.records) == ("new", broken, 3, 12)


def test_a_line_of_five_megabytes_and_one_that_is_not_utf8_are_read(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    log = samples / KILN
    long = line("user", "We decided that pastes are cut. " + "x " * 2_500_000)
    odd = line("user", "We always write the caf\xe9 menu by hand.").replace(b"\\u00e9", b"\xe9")
    lone = line("user", "We never use the \ud800 sign here.")
    append(log, long, odd, lone)
    (one,) = sweep(log).sources
    assert (one.records, one.broken) == (15, 0)
    notes = [text_of(path) for path in one.made]
    assert any("the caf\ufffd menu" in note for note in notes)
    assert any("the \ufffd sign" in note for note in notes)
    assert max(map(len, notes)) < 3_000


def test_a_secret_is_masked_where_the_text_is_cut(samples: Path, sweep: Sweep, tree: Tree) -> None:
    """Half a token is none that anybody knows."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    log = samples / "cut.jsonl"
    asked = f"{'Look at the old log of the pump. ' * 7}{token} is the key."
    pasted = f"{'It was dry.' + chr(10) * 2:\n<3970}We never share {token} at all."
    told = f"{ANSWER} {'It ran. ' * 2_464}"
    answer = (
        f"{told}{' ' * (19_940 - len(told))}The key of the pump that was found is {token} today."
    )
    log.write_bytes(
        b"".join(
            line(role, text, session="cut")
            for role, text in (("user", asked), ("user", pasted), ("assistant", answer))
        )
    )
    for text, end in ((asked, 240), (pasted, 4_000), (answer, 20_000)):
        assert text.index(token) + 5 < end < text.index(token) + len(token)
    assert len(sweep(log).made) >= 1
    assert not any(b"ghp_" in data for data in tree().values())


def test_while_the_rules_are_broken_nothing_is_typed(
    samples: Path, sweep: Sweep, vault: Path, text_of: Read
) -> None:
    (vault / "standards").mkdir()
    (vault / "standards/storage-rules.md").write_text("```storage-rules\nclasses: no\n```\n")
    report = sweep(samples / KILN)
    assert len(report.made) == 3
    assert all("\ntype:" not in text_of(path) for path in report.made)
    assert all(path.startswith("Agent/memory/semantic/2026/03/") for path in report.made)


def test_one_agent_to_another_is_no_word_of_the_operator(samples: Path, sweep: Sweep) -> None:
    log = samples / "side.jsonl"
    said = line("user", "We always do it by hand.", session="side")
    log.write_bytes(said.replace(b'"uuid"', b'"isSidechain": true, "uuid"'))
    (one,) = sweep(log).sources
    assert (one.did, one.records, one.made, one.trace) == ("nothing", 1, (), "")


def test_ids_that_nobody_can_use_are_no_end(samples: Path, sweep: Sweep, tree: Tree) -> None:
    long = samples / "long.jsonl"
    long.write_bytes(line("user", "We always do it by hand.", session="x" * 300))
    lone = samples / "lone.jsonl"
    lone.write_bytes(line("user", "We always do it by foot.", session="a\ud800b"))
    mail = samples / "odd.eml"
    mail.write_bytes(
        (samples / "mail/roof.eml").read_bytes().replace(b"20260505.roof.1@roofs.example", b"\x7f")
    )
    assert did(sweep(long)) == ["failed"]
    assert sweep(lone).sources[0].source == "claude-session:a\ufffdb"
    assert sweep(mail).sources[0].source.startswith("email:sha256-")
    assert did(sweep(lone, mail)) == ["current", "current"]


def test_a_session_without_a_word_of_the_operator_leaves_no_trace(
    samples: Path, sweep: Sweep, tree: Tree
) -> None:
    log = samples / "quiet.jsonl"
    log.write_bytes(line("assistant", ANSWER, session="quiet"))
    assert did(sweep(log)) == ["nothing"]
    assert not any(path.startswith("calendar") for path in tree())


def test_a_clock_that_runs_ahead_dates_nothing_into_the_future(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    log = samples / KILN
    log.write_bytes(log.read_bytes().replace(b'"2026-03-02T', b'"2031-03-02T'))
    report = sweep(log)
    assert all("\ncaptured: 2026-09-01T12:00:00Z\n" in text_of(path) for path in report.made)


def test_a_folder_brings_in_no_logs_of_subagents_and_no_links(samples: Path, sweep: Sweep) -> None:
    beside = (samples / KILN).with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-1.jsonl").write_bytes(line("user", "We always do it.", session="agent-1"))
    full = (samples / PUMP).with_name("transcript_full.jsonl")
    full.write_bytes((samples / PUMP).read_bytes())
    os.symlink(samples / KILN, samples / "link.jsonl")
    assert sweep(samples).looked_at == 19


def test_an_address_that_was_fetched_is_its_own_and_not_what_the_page_claims(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    data = (samples / "web/lime.html").read_bytes()

    def fetched(url: str) -> tuple[str, bytes]:
        return (
            "https://real.example/page?utm_source=x&token=sk_live_51H8abcdefghijklmnopqrstu",
            data,
        )

    (one,) = sweep("https://short.example/1", fetch=fetched).sources
    assert one.source == "url:https://real.example/page"
    assert "sk_live" not in text_of(one.made[0])
    assert did(sweep("https://short.example/1", fetch=fetched)) == ["current"]


def test_a_mail_without_a_usable_id_stops_no_other(sweep: Sweep, tmp_path: Path) -> None:
    odd, plain = tmp_path / "in/a.eml", tmp_path / "in/b.eml"
    odd.parent.mkdir()
    words = "We meet at noon at the old mill, and Kari brings the key of the boat house."
    odd.write_text(f"From: a@x.example\nMessage-ID: <<>>\n\n{words}\n")
    plain.write_text(f"From: a@x.example\nMessage-ID: <1@x>\n\n{words}\n")
    report = sweep(odd.parent)
    assert [each.did for each in report.sources] == ["passed", "new"]
    assert "1 to" in (report.sources[0].reason or "")


def test_a_run_that_made_nothing_is_not_offered_to_be_taken_back(
    sweep: Sweep, tmp_path: Path
) -> None:
    short = tmp_path / "short.eml"
    short.write_text("From: a@x.example\nMessage-ID: <1@x>\n\nok\n")
    report = sweep(short)
    assert (report.made, report.runs) == ((), ())


def test_the_vault_is_no_source_of_its_own(sweep: Sweep, vault: Path) -> None:
    (vault / "page.html").write_text("<html><body><p>The mill is old and runs.</p></body></html>")
    assert sweep(vault).sources == ()
