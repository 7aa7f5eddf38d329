"""`agentm get`, `backlinks`, `entity` and `recent`."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import default_rules_text, load_rules
from agentm_assets.index.publish import publish_facts, publish_lexical
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.reading.backlinks import find_backlinks
from agentm_assets.reading.entities import find_entity
from agentm_assets.reading.errors import ReadingRefused
from agentm_assets.reading.library import open_library
from agentm_assets.reading.notes import get_note
from agentm_assets.storage.selection import open_vault

Agentm = Callable[..., subprocess.CompletedProcess[str]]

BREAD = """---
type: fix
captured: 2026-08-02
---
# Bread

Start.

## Dough

Flour.

### Salt

A pinch of [[oven|the oven]].

## Oven

Hot.
"""


def index_by_words(env: dict[str, str]) -> None:
    """What `agentm index --no-embeddings` leaves, without starting Dagster."""
    location = Settings.load(env).location
    store = IndexStore(location.duckdb_file)
    vault = open_vault(location)
    lock = location.index_dir / "pass.lock"
    reconcile(vault, store, load_rules(vault, env), ReconcileOptions(), lock_file=lock)
    publish_facts(store, location.facts_file)
    publish_lexical(store, location.lexical_dir)


@pytest.fixture
def indexed(vault: Path, env: dict[str, str]) -> Path:
    (vault / "bread.md").write_text(BREAD)
    (vault / "oven.md").write_text(
        "---\ncaptured: 2026-08-01\n---\n# Oven\n\nSee acme/kettle#12.\n"
    )
    (vault / "personal").mkdir()
    (vault / "personal" / "diary.md").write_text("---\ncaptured: 2026-08-03\n---\nSee [[oven]].\n")
    index_by_words(env)
    return vault


def read(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_note_is_printed_as_it_stands(agentm: Agentm, indexed: Path) -> None:
    assert agentm("get", "bread.md").stdout == BREAD
    note = read(agentm("get", "bread.md", "--json"))
    assert (note["title"], note["type"], note["captured"]) == ("Bread", "fix", "2026-08-02")
    assert note["sections"] == ["Bread", "Bread > Dough", "Bread > Dough > Salt", "Bread > Oven"]
    assert (note["section"], note["truncated"], note["indexed"]) == (None, False, True)
    (indexed / "bread.md").write_text(BREAD + "More.\n")
    assert read(agentm("get", "bread.md", "--json"))["indexed"] is False


def test_a_section_comes_with_what_stands_under_it(
    agentm: Agentm, indexed: Path, env: dict[str, str]
) -> None:
    with open_library(Settings.load(env), env) as library:
        for section in ("Dough", "dough", "Bread > Dough", "BREAD > DOUGH"):
            note = get_note(library, "bread.md", section)
            assert note.section == "Bread > Dough"
            assert note.text == BREAD[BREAD.index("## Dough") : BREAD.index("## Oven")]
            assert BREAD.encode()[note.start : note.end].decode() == note.text
    assert agentm("get", "bread.md", "--section", "salt").stdout.startswith("### Salt\n")
    missing = agentm("get", "bread.md", "--section", "Yeast")
    assert missing.returncode == 2 and "Bread > Dough > Salt" in missing.stderr


def test_a_note_is_read_without_any_index(agentm: Agentm, vault: Path) -> None:
    (vault / "new.md").write_text("# New\n\nText.\n")
    assert read(agentm("get", "new.md", "--json"))["indexed"] is False
    for command in (("backlinks", "new.md"), ("entity", "acme/kettle#1"), ("recent",)):
        done = agentm(*command)
        assert done.returncode == 3 and "agentm index" in done.stderr


ELSEWHERE = (
    "",
    "../outside.md",
    "a/../../outside.md",
    "/etc/passwd",
    "a\\b.md",
    "a\0b.md",
    "link.md",
    "linked/x.md",
    ".git/config",
    "folder",
    "pipe.md",
    "absent.md",
    "bread.md/x.md",
    "x" * 10_000,
    "x/" * 5_000,
    "é" * 200,
    "\ud800.md",
)


def test_a_path_that_leads_elsewhere_is_refused(
    agentm: Agentm, indexed: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / "outside.md").write_text("The wombat password.\n")
    (indexed / "link.md").symlink_to(tmp_path / "outside.md")
    (indexed / "linked").symlink_to(tmp_path)
    (indexed / "folder").mkdir()
    os.mkfifo(indexed / "pipe.md")
    (indexed / ".git").mkdir()
    (indexed / ".git" / "config").write_text("token = wombat\n")
    with open_library(Settings.load(env), env) as library:
        for path in ELSEWHERE:
            for read_it in (get_note, find_backlinks):
                with pytest.raises(ReadingRefused) as refused:
                    read_it(library, path)
                text = str(refused.value)
                assert "wombat" not in text and len(text) < 400
                text.encode()
        with pytest.raises(ReadingRefused, match="is a folder"):
            get_note(library, "folder")
    for command in (("get", "../outside.md"), ("backlinks", "link.md"), ("get", "x" * 10_000)):
        done = agentm(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_what_the_rules_exclude_is_hidden_here_too(agentm: Agentm, indexed: Path) -> None:
    (indexed / "standards").mkdir()
    text = default_rules_text().decode()
    assert "excludes: []" in text
    rules = text.replace("excludes: []", 'excludes: ["bread.md", "personal"]')
    (indexed / "standards" / "storage-rules.md").write_text(rules)
    assert agentm("get", "bread.md").returncode == 2
    assert read(agentm("backlinks", "oven.md", "--json"))["links"] == []
    recent = read(agentm("recent", "--json"))["notes"]
    assert "bread.md" not in [note["path"] for note in recent]


def test_a_shut_note_is_a_red_state(agentm: Agentm, indexed: Path) -> None:
    (indexed / "bread.md").chmod(0)
    done = agentm("get", "bread.md", unprivileged=os.geteuid() == 0)
    assert done.returncode == 3 and "permission" in done.stderr


def test_a_long_note_is_cut_and_says_so(agentm: Agentm, indexed: Path) -> None:
    (indexed / "long.md").write_text("# Long\n\n" + "word " * 50_000)
    note = read(agentm("get", "long.md", "--json"))
    assert note["truncated"] and len(note["text"]) == 200_000
    assert "longer" in agentm("get", "long.md").stderr


def test_a_note_can_not_steer_the_terminal(agentm: Agentm, indexed: Path) -> None:
    (indexed / "evil.md").write_bytes(b"# Evil\n\n\x1b[2Jgone \xff\n")
    done = agentm("get", "evil.md")
    assert "\x1b" not in done.stdout and "gone \ufffd" in done.stdout


def test_backlinks_name_note_line_and_label(agentm: Agentm, indexed: Path) -> None:
    found = read(agentm("backlinks", "oven.md", "--json"))
    assert (found["title"], found["total"]) == ("Oven", 2)
    link = found["links"][0]
    assert (link["path"], link["title"], link["line"]) == ("bread.md", "Bread", 15)
    assert link["label"] == "the oven"
    assert "nothing links here" in agentm("backlinks", "bread.md").stderr


def test_an_entity_is_found_under_every_spelling(
    agentm: Agentm, indexed: Path, env: dict[str, str]
) -> None:
    with open_library(Settings.load(env), env) as library:
        for uri in (
            "acme/kettle#12",
            "issue:acme/kettle#12",
            "https://github.com/acme/kettle/issues/12",
            "https://github.com/acme/kettle/pull/12/files",
            " ACME/Kettle#12 ",
        ):
            found = find_entity(library, uri)
            assert found.entities == ("issue:acme/kettle#12",)
            assert [(note.path, note.surface) for note in found.notes] == [
                ("oven.md", "acme/kettle#12")
            ]
    assert agentm("entity", "acme/kettle#12").stdout.startswith("oven.md  Oven")


def test_an_entity_that_nobody_mentions_and_one_that_is_none(agentm: Agentm, indexed: Path) -> None:
    assert read(agentm("entity", "acme/kettle#99", "--json"))["total"] == 0
    assert "no note mentions" in agentm("entity", "acme/kettle#99").stderr
    for bad in ("hello", "", "x" * 5_000):
        done = agentm("entity", bad)
        assert done.returncode == 2 and "acme/kettle#12" in done.stderr


def test_recent_lists_captures_newest_first_without_personal(agentm: Agentm, indexed: Path) -> None:
    paths = [note["path"] for note in read(agentm("recent", "--json"))["notes"]]
    assert paths == ["bread.md", "oven.md"]
    saved = read(agentm("capture", "The numbat sensor is new.", "--json"))
    notes = read(agentm("recent", "-k", "2", "--json"))["notes"]
    assert [(note["path"], note["indexed"]) for note in notes] == [
        (saved["path"], False),
        ("bread.md", True),
    ]
    assert agentm("recent", "-k", "0").returncode == 2
