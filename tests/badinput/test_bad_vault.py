"""One vault with everything that can be wrong with a file, adopted and indexed by real processes:
each bad file is said once, nothing aborts, nothing in the vault changes."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.index.digests import table_digests
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.store import IndexStore
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions


@dataclass(frozen=True)
class Adopted:
    """The vault after `agentm init` and `agentm index`, and what it was before."""

    bad: Any  # BadVault of conftest.py
    before: dict[bytes, tuple[object, ...]]
    init: dict[str, Any]
    index: dict[str, Any]
    snapshot: Callable[[Path], dict[bytes, tuple[object, ...]]]

    @property
    def location(self) -> VaultLocation:
        return locate(self.bad.machine.env)

    def digests(self) -> dict[str, str]:
        with IndexStore(self.location.duckdb_file).transaction() as connection:
            return table_digests(connection)


@pytest.fixture(scope="module")
def adopted(bad_vault: Any, snapshot: Callable[..., Any]) -> Adopted:
    before = snapshot(bad_vault.root)
    init = bad_vault.machine.json("init", str(bad_vault.root))
    index = bad_vault.machine.index()
    return Adopted(bad_vault, before, init, index, snapshot)


def test_adopting_makes_nothing_and_says_so(adopted: Adopted) -> None:
    assert adopted.init["adopted"] is True
    assert adopted.init["written"] == []
    assert adopted.init["git"] == "present"


def test_each_bad_file_is_one_finding_with_its_code_and_line(adopted: Adopted) -> None:
    found = [(f["path"], (f["code"], f["line"])) for f in adopted.index["findings"]]
    assert len(dict(found)) == len(found), "at most one finding a file"
    assert dict(found) == adopted.bad.findings
    for finding in adopted.index["findings"]:
        assert finding["message"] and finding["cure"]
        assert "zyx" not in finding["message"] + finding["cure"], "a note may hold a secret"


def test_every_note_that_can_be_read_is_indexed(adopted: Adopted) -> None:
    with FactsReader.open(adopted.location.facts_file) as facts:
        paths = set(facts.manifest())
    unread = {path for path, (code, _) in adopted.bad.findings.items() if code == "too-large"}
    assert paths == adopted.bad.notes | unread
    assert adopted.index["notes"] == adopted.index["changed"] == len(adopted.bad.notes)
    assert (adopted.index["deleted"], adopted.index["held_deletions"]) == (0, 0)


def test_not_a_byte_of_the_vault_changes(adopted: Adopted) -> None:
    after = adopted.snapshot(adopted.bad.root)
    assert {path for path in after if after[path] != adopted.before.get(path)} == set()
    assert after.keys() == adopted.before.keys()
    assert adopted.bad.machine.git("status", "--porcelain", "--ignored") == ""


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("zyxgood", "good.md"),
        ("zyxbroken", "broken.md"),  # found by its body
        ("zyxunclosed", "unclosed.md"),
        ("zyxbehind", "nul.md"),  # behind the NUL
        ("zyxlatin", "latin.md"),
        ("zyxlarge", "large.md"),
        ("zyxsteer", "esc\x1b[2J\x07.md"),
    ],
)
def test_a_fresh_process_finds_the_note(adopted: Adopted, word: str, path: str) -> None:
    assert adopted.bad.machine.recall(word)[:1] == [path]


def test_every_word_of_every_note_is_found_and_none_of_what_is_passed_over(
    adopted: Adopted,
) -> None:
    settings = Settings.load(adopted.bad.machine.env)
    options = RecallOptions(now=datetime.now(UTC), k=20)
    with open_sources(settings, adopted.bad.machine.env) as sources:

        def paths(word: str) -> list[str]:
            return [hit.path for hit in recall(word, options, sources).hits]

        asked = 0
        for path in adopted.bad.notes:
            for word in re.findall(rb"zyx[a-z]+", (adopted.bad.root / path).read_bytes()):
                asked += 1
                assert path in paths(word.decode()), (word, path)
        assert asked > 40
        for word in ("zyxsecret", "zyxunnamed", "zyxcopy"):
            assert paths(word) == []


def test_a_link_in_composed_form_leads_to_the_note_with_the_decomposed_name(
    adopted: Adopted,
) -> None:
    with FactsReader.open(adopted.location.facts_file) as facts:
        (link,) = facts.outgoing("good.md")
    assert link.target == "Caf\u00e9"
    assert link.resolved_path == "Cafe\u0301.md"


def test_status_says_the_same_and_waits_for_nothing(adopted: Adopted) -> None:
    state = adopted.bad.machine.json("status")
    assert state["findings"] == adopted.index["findings"]
    assert (state["changed"], state["deleted"]) == (0, 0)
    assert state["notes"] == adopted.index["notes"]


def test_control_characters_of_notes_and_names_do_not_reach_the_terminal(
    adopted: Adopted,
) -> None:
    for word in ("zyxescape", "zyxsteer"):
        done = adopted.bad.machine.run("recall", word)
        assert done.returncode == 0
        assert "\ufffd" in done.stdout
        assert "\x1b" not in done.stdout and "\x07" not in done.stdout
    shown = adopted.bad.machine.run("status", "--findings").stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


def test_a_second_index_changes_nothing(adopted: Adopted) -> None:
    before = adopted.digests()
    again = adopted.bad.machine.index("--hash")
    assert (again["changed"], again["deleted"]) == (0, 0)
    assert again["findings"] == adopted.index["findings"]
    assert adopted.digests() == before
    assert adopted.snapshot(adopted.bad.root) == adopted.before


@pytest.mark.parametrize(
    "question",
    [
        "???",
        '"unbalanced',
        "AND OR NOT",
        os.fsdecode(b"caf\xe9 \xff"),
        "a" * 99_999,
    ],
    ids=lambda question: ascii(question[:8]),
)
def test_no_question_is_too_odd(adopted: Adopted, question: str) -> None:
    assert adopted.bad.machine.json("recall", question)["verdict"] in ("answer", "weak", "none")
