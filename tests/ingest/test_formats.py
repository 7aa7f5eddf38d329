"""What each format tells, on three samples of its shape."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.note import validate_note
from agentm_assets.contract.rules import default_rules_text, parse_rules
from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.ingest.kinds import sniff
from agentm_assets.ingest.report import IngestReport

Sweep = Callable[..., IngestReport]
Read = Callable[[str], str]

CASES = [
    (
        "claude-code/-home-op-src-kiln",
        "claude-session:5f0e3c1a-7b2d-4c4e-9a61-0d8e2f6b1a01",
        [
            "From now on we store schedules as TOML in /var/lib/kiln, because pickle breaks when a "
            "class is renamed. Never use pickle for anything that outlives the process.",
            "I prefer pytest fixtures over setUp methods.",
            "The schedule was lost because the pickle file was written without fsync",
        ],
        ["/home/op/src/kiln/schedule.py", "/home/op/src/kiln/tests/test_schedule.py"],
        {},
    ),
    (
        "claude-code/-home-op-src-ledger-app",
        "claude-session:9c4b7e20-11aa-4f0b-8a35-6e1d2c3b4a02",
        ["No, amounts must be written in cents as integers", "Tax export of the ledger"],
        ["/home/op/src/ledger-app/export.py"],
        {"hologram": 2},
    ),
    (
        "claude-code/-home-op-notes",
        "claude-session:c7d1e9f4-2b3c-4d5e-8f60-718293a4b503",
        [],
        [],
        {},
    ),
    (
        "codex/sessions/2026/06",
        "codex-session:0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a01",
        [
            "Going forward, all timestamps in this project are UTC",
            "The reader parsed naive timestamps in the local zone",
        ],
        ["/home/op/src/tidegauge/src/reader.py", "/home/op/src/tidegauge/tests/test_reader.py"],
        {},
    ),
    (
        "codex/sessions/2025",
        "codex-session:0199b2c3-d4e5-7f60-9bac-1d2e3f4a5b02",
        ["We decided to weigh the hives every ten minutes", "about 210 days on the 18650 cell"],
        ["firmware/main.c"],
        {},
    ),
    (
        "codex/sessions/2026/07",
        "codex-session:0199c3d4-e5f6-7081-acbd-2e3f4a5b6c03",
        [],
        [],
        {"event_msg/quantum_flux": 1, "response_item/telepathy_call": 1, "diary": 1},
    ),
    (
        "gemini/tmp/4f2a",
        "gemini-session:92f625c6-a764-48e3-b922-3766d41f9c01",
        ["Please never use floating point for the seconds.", "What came of: Bread oven timer"],
        ["/home/op/src/oven/timer.go"],
        {},
    ),
    (
        "gemini/tmp/oven/chats/session-2026-05-22T14-59-d98cf9e7.jsonl",
        "gemini-session:d98cf9e7-b51f-4a2a-8d3c-5be33312d302",
        [
            "Let's use port 8123 for the oven's web page.",
            "Remember that the oven's thermocouple is type K",
            "What came of: Web page of the oven",
        ],
        ["/home/op/src/oven/web.go"],
        {"(no type)": 1},
    ),
    (
        "gemini/tmp/oven/chats/session-2026-06-30T11-00-e1a2b3c4.jsonl",
        "gemini-session:e1a2b3c4-d5e6-4f70-8192-a3b4c5d6e703",
        [],
        [],
        {"telegram": 1},
    ),
    (
        "antigravity/brain/901d1db7-8590-4cb0-a7cb-35fac369d801",
        "antigravity-session:901d1db7-8590-4cb0-a7cb-35fac369d801",
        [
            "Always keep the old firmware image beside the new one.",
            "The cause of the dry runs was that the switch was read once at boot only.",
        ],
        ["/home/op/src/greenhouse/pump.ino"],
        {},
    ),
    (
        "antigravity/brain/ad053acc-0ee5-4f9b-b8b6-20506bfd5f02",
        "antigravity-session:ad053acc-0ee5-4f9b-b8b6-20506bfd5f02",
        [],
        [],
        {},
    ),
    (
        "antigravity/brain/bc164bdd-1ff6-40ac-8c97-31617c0e6003",
        "antigravity-session:bc164bdd-1ff6-40ac-8c97-31617c0e6003",
        ["We agreed with Marta that the seed orders go out on the 3rd of each month."],
        ["/home/op/src/greenhouse/seed orders.py"],
        {"HOLOGRAM_VIEW": 1},
    ),
]


@pytest.mark.parametrize(
    ("place", "source", "told", "touched", "unknown"), CASES, ids=[case[1] for case in CASES]
)
def test_a_session_log_becomes_memories_and_a_trace(
    samples: Path,
    sweep: Sweep,
    text_of: Read,
    place: str,
    source: str,
    told: list[str],
    touched: list[str],
    unknown: dict[str, int],
) -> None:
    report = sweep(samples / place)
    (one,) = report.sources
    assert (one.source, one.did, dict(one.unknown)) == (source, "new", unknown)
    notes = [text_of(path) for path in one.made]
    for words in told:
        assert sum(words in note for note in notes) >= 1, words
    if not told:
        assert one.made == ()
    trace = text_of(one.trace)
    assert one.trace.startswith("calendar/20")
    assert "\nkind: conversation\n" in trace
    assert all(f"- `{path}`" in trace for path in touched)
    assert trace.count("\n- `") == len(touched)
    for note in notes:
        assert f"\nsource: {source}\n" in note
        assert "\nstatus: unfiled\n" in note


def test_what_the_host_says_in_the_operators_name_is_no_statement(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    report = sweep(samples / "claude-code", samples / "codex", samples / "antigravity")
    notes = "\n".join(text_of(path) for path in report.made)
    for words in (
        "careful with files",  # a reminder of the host
        "Always run make lint",  # the instructions of a repository
        "Delegate the column check",  # one agent to another
        "You must never mention it",  # a change of settings
        "decided to never water",  # a checkpoint's summary
    ):
        assert words not in notes


def test_what_was_taken_back_in_a_session_is_no_statement(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    report = sweep(samples / "gemini")
    assert "Fridays" not in "\n".join(text_of(path) for path in report.made)


def test_a_secret_is_masked_and_an_address_stays(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    report = sweep(samples)
    notes = "\n".join(text_of(path) for path in (*report.made, *report.traces))
    assert "hunter2" not in notes and "Gate!77" not in notes
    assert "[masked password]" in notes
    assert "ana@roofs.example" in notes


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mail/roof.eml", "mail"),
        ("mail/archive.mbox", "mail"),
        ("web/lime.html", "web"),
        ("web/saved.html", "web"),
    ],
)
def test_mails_and_pages_are_known_by_what_they_are(samples: Path, name: str, kind: str) -> None:
    renamed = (samples / name).rename(samples / "unnamed")
    sniffed = sniff(renamed)
    assert sniffed is not None and sniffed.kind == kind


def test_a_file_of_none_of_the_kinds_is_named(samples: Path, sweep: Sweep) -> None:
    (samples / "mine.txt").write_text("Plain words.\n")
    (samples / "data.jsonl").write_text('{"a": 1}\n')
    (one,) = sweep(samples / "mine.txt").sources
    assert (one.did, one.reason) == ("failed", "it is nothing that is read; see --kind")
    assert sweep(samples, dry_run=True).ignored == 1


def test_what_is_written_keeps_the_contract(samples: Path, sweep: Sweep, text_of: Read) -> None:
    rules = parse_rules(default_rules_text(), Path("storage-rules.md"), "default").rules
    report = sweep(samples)
    for path in (*report.made, *report.traces):
        assert validate_note(path, read_frontmatter(text_of(path).encode()), rules) == ()


def test_the_people_of_a_mail_are_found_in_its_note(
    samples: Path, sweep: Sweep, text_of: Read
) -> None:
    (note,) = sweep(samples / "mail/roof.eml").made
    text = text_of(note)
    found = extract_entities(text, text, EntityContext(), lambda offset: offset)
    assert {"person:ana@roofs.example", "person:op@op.example"} <= {each.key for each in found}
