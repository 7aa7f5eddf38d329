"""Saved in one process, asked for sideways in the next, before any index pass: found."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.capture.journal import not_committed, not_indexed, not_served
from agentm_assets.capture.request import CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import default_rules_text, load_rules
from agentm_assets.demo import __file__ as demo
from agentm_assets.history.captures import standing
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.publish import publish_facts, publish_lexical
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.recall import captures
from agentm_assets.recall.answer import Answer, Hit
from agentm_assets.recall.opening import WarmSources, open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.storage.selection import open_vault

Desk = Any  # the class in conftest.py, which cannot be imported from here

NOW = datetime(2026, 8, 19, 12, tzinfo=UTC)

SIDEWAYS = {
    "Marta can't eat peanuts: a crumb of them closes her throat.": "Who has a food allergy?",
    "Our accountant wants receipts before the 5th of each month.": (
        "when must the bookkeeper get the bills"
    ),
    "The invoice address of the Lyon distributor is now 14 rue des Tables Claudiennes.": (
        "French reseller billing location"
    ),
    "Rex, the neighbour's dog, bit the courier twice, so parcels go to the back gate.": (
        "why are deliveries not left at the front entrance"
    ),
}


def models(desk: Desk, folder: Path) -> None:
    """Let the desk have the embedded model without exporting it again."""
    home = desk.location.models_dir
    home.mkdir(parents=True)
    (home / folder.name).symlink_to(folder)


@pytest.fixture
def kettles(desk: Desk, minilm_folder: Path) -> Desk:
    """The sample vault, indexed by the real command, vectors included."""
    shutil.copytree(Path(demo).parent / "vault", desk.root, dirs_exist_ok=True)
    models(desk, minilm_folder)
    done = desk.run("index")
    assert done.returncode == 0, done.stderr
    return desk


def test_saved_here_and_found_sideways_from_a_fresh_process(kettles: Desk) -> None:
    desk = kettles
    saved = {text: desk.json("capture", text)["path"] for text in SIDEWAYS}
    for text, question in SIDEWAYS.items():
        answer = desk.json("recall", question, "-k", "3")
        assert answer["mode"] == "hybrid"
        assert answer["why"] is None
        first = answer["hits"][0]
        assert first["path"] == saved[text], question
        assert first["indexed"] is False
        assert first["snippet"] == text
        assert all(hit["indexed"] for hit in answer["hits"] if hit["path"] not in saved.values())
    shown = desk.run("recall", "Who has a food allergy?").stdout
    assert "not indexed yet" in shown
    # The index takes them over, at the same place and with nearly the same score.
    before = {
        question: desk.json("recall", question, "-k", "1")["hits"][0]
        for question in SIDEWAYS.values()
    }
    assert desk.run("index").returncode == 0
    assert not_indexed(desk.location).entries == ()
    assert not_served(desk.location, 10).entries == ()
    for question, old in before.items():
        new = desk.json("recall", question, "-k", "1")["hits"][0]
        assert new["indexed"] is True
        assert new["score"] == pytest.approx(old["score"], abs=0.1)
        assert new["parts"]["dense_score"] == pytest.approx(old["parts"]["dense_score"], abs=1e-4)
        same = ("path", "title", "header_path", "snippet", "status", "captured")
        assert {key: new[key] for key in same} == {key: old[key] for key in same}


def test_without_any_index_the_journal_answers(desk: Desk, minilm_folder: Path) -> None:
    models(desk, minilm_folder)
    assert desk.run("recall", "Who has a food allergy?").returncode == 3
    saved = {text: desk.json("capture", text)["path"] for text in SIDEWAYS}
    for text, question in SIDEWAYS.items():
        answer = desk.json("recall", question)
        assert answer["mode"] == "hybrid"
        assert "no usable index" in answer["why"]
        assert "agentm index" in answer["why"]
        assert answer["hits"][0]["path"] == saved[text]


def test_without_index_and_model_words_answer(desk: Desk) -> None:
    path = desk.json("capture", "Marta can't eat peanuts.")["path"]
    desk.json("capture", "The lid is blue.")
    answer = desk.json("recall", "peanuts?")
    assert answer["mode"] == "lexical"
    assert "the model is not on this machine" in answer["why"]
    assert answer["hits"][0]["path"] == path


class Asker:
    """Questions in this process to an index by words."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def index(self) -> None:
        location = self.desk.location
        store, vault = IndexStore(location.duckdb_file), open_vault(location)
        reconcile(
            vault,
            store,
            load_rules(vault, self.desk.env),
            ReconcileOptions(),
            lock_file=location.index_dir / "tables.lock",
        )
        publish_facts(store, location.facts_file)
        publish_lexical(store, location.lexical_dir)

    def save(self, text: str, *, now: datetime = NOW, **more: Any) -> str:
        desk = self.desk
        return capture(CaptureRequest(text, **more), desk.location, desk.env, now).path

    def ask(self, question: str, **more: Any) -> Answer:
        with open_sources(Settings.load(self.desk.env), self.desk.env) as sources:
            return recall(question, RecallOptions(now=NOW, **more), sources)

    def paths(self, question: str, **more: Any) -> list[str]:
        return [hit.path for hit in self.ask(question, **more).hits]


@pytest.fixture
def asker(desk: Desk) -> Asker:
    for number in range(30):
        desk.write(
            f"Agent/memory/semantic/2025/01/note-{number}.md",
            f"---\nstatus: active\ncaptured: 2025-01-{number + 1:02d}\n---\n"
            f"# Note {number}\n\nThe lid of kettle {number} is grey and its handle is warm.\n",
        )
    found = Asker(desk)
    found.index()
    return found


def test_every_arm_finds_what_was_just_captured(asker: Asker) -> None:
    by_words = asker.save("The gasket is made of zyxrubber.")
    by_name = asker.save("It holds the water back.", aliases=("the blue ring",))
    by_entity = asker.save("Cured by https://github.com/acme/kettle/pull/77 at last.")
    by_day = asker.save("Nothing of note.", now=datetime(2019, 3, 4, tzinfo=UTC))
    assert asker.paths("what is the gasket made of")[0] == by_words
    assert asker.paths("where is the blue ring")[0] == by_name
    assert asker.paths("what about acme/kettle#77")[0] == by_entity
    assert asker.paths("what happened in March 2019")[0] == by_day
    assert by_day in asker.paths("kettle", after="2019-03-01", before="2019-03-31")
    assert asker.paths("gasket", type="fix") == []
    assert asker.paths("gasket", space="memory") == [by_words]


def test_a_name_that_only_a_capture_holds_is_not_unknown(asker: Asker) -> None:
    question = "what did Okonkwo say about the kettle"
    before = asker.ask(question).confidence
    asker.save("Okonkwo said that the kettle is loud.")
    assert asker.ask(question).confidence > 2 * before


def test_penalties_apply(asker: Asker) -> None:
    asker.save("The spout drips zyxa.", status="active")
    asker.save("The spout drips zyxa, too.", status="unfiled")
    first, second = asker.ask("spout drips zyxa", k=2).hits
    assert (first.status, second.status) == ("active", "unfiled")
    assert second.parts.penalties == ("status:unfiled",)
    assert second.score < 0.7 * first.score


def test_a_note_that_was_forgotten_a_moment_ago_ranks_lower(asker: Asker) -> None:
    path = "Agent/memory/semantic/2025/01/note-7.md"
    desk = asker.desk

    def hit() -> Hit:
        found = next(each for each in asker.ask("lid of kettle 7", k=30).hits if each.path == path)
        assert len([each for each in asker.paths("kettle 7", k=30) if each == path]) == 1
        return found

    before = hit()
    assert (before.status, before.parts.penalties) == ("active", ())
    done = desk.json("forget", path, "--reason", "wrong")
    assert done["status"] == "expired"
    after = hit()
    assert after.status == "expired"
    assert after.parts.penalties == ("status:expired",)
    assert after.parts.penalty < 1.0
    # It is no capture, so none waits for git or for the index.
    assert standing(desk.location).uncommitted == 0
    assert not_indexed(desk.location).entries == ()
    assert not_committed(desk.location).entries == ()
    asker.index()
    assert hit().indexed and hit().status == "expired"


def test_a_capture_that_was_edited_or_deleted_since_is_taken_as_it_is(asker: Asker) -> None:
    path = asker.save("The gasket is made of zyxrubber.")
    other = asker.save("The valve is made of zyxrubber.")
    asker.desk.write(path, asker.desk.data(path).replace(b"zyxrubber", b"zyxcork"))
    (asker.desk.root / other).unlink()
    assert asker.paths("zyxcork") == [path]
    assert asker.paths("zyxrubber") == []


def test_an_indexed_capture_that_is_not_marked_is_not_shown_twice(asker: Asker) -> None:
    path = asker.save("The gasket is made of zyxrubber.")
    asker.index()
    assert [each.path for each in not_served(asker.desk.location, 5).entries] == [path]
    (hit,) = asker.ask("zyxrubber").hits
    assert (hit.path, hit.indexed) == (path, True)
    # An edit after that waits for the next pass like the edit of any other note.
    asker.desk.write(path, asker.desk.data(path) + b" And of zyxglue.")
    (hit,) = asker.ask("zyxrubber").hits
    assert (hit.path, hit.indexed, hit.stale) == (path, True, True)


def test_excluded_captures_stay_hidden(asker: Asker) -> None:
    rules = default_rules_text().replace(b"excludes: []", b'excludes: ["Agent/memory/**/2026/**"]')
    assert rules != default_rules_text()
    asker.desk.write("standards/storage-rules.md", rules)
    asker.save("The gasket is made of zyxrubber.")
    assert asker.paths("zyxrubber") == []


def test_what_is_too_much_is_left_out_and_said(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "MOST_NOTES", 5)
    for letter in "abcdefgh":
        asker.save(f"Spout {letter} is made of zyx{letter * 4}.")  # no typo of another
    answer = asker.ask("zyxhhhh")
    assert answer.hits[0].title == "Spout h is made of zyxhhhh"
    assert answer.why is not None
    assert "3 more captured notes" in answer.why
    assert asker.paths("zyxbbbb") == []


def test_a_long_capture_does_not_crowd_out_the_answer(asker: Asker) -> None:
    newest = asker.save("The gasket is made of zyxrubber.")
    asker.save("word " * 200_000 + "zyxend")
    asker.save("And the ring of zyxcork.")
    answer = asker.ask("zyxend")
    assert len(answer.hits) == 1
    assert answer.why is not None
    assert "1 more captured note" in answer.why
    assert asker.paths("zyxcork") != []
    asker.index()
    assert asker.paths("zyxrubber") == [newest]


def test_a_warm_process_sees_each_capture_and_embeds_none_twice(
    desk: Desk, minilm_folder: Path
) -> None:
    models(desk, minilm_folder)
    asker = Asker(desk)
    asker.save("Marta can't eat peanuts: a crumb of them closes her throat.")
    warm = WarmSources(Settings.load(desk.env), desk.env)
    try:
        first = recall("food allergy", RecallOptions(now=NOW), warm.current())
        assert len(first.hits) == 1
        vectors = dict(warm._captures.vectors)
        asker.save("The valve sticks in the cold.")
        second = recall("what jams in winter", RecallOptions(now=NOW), warm.current())
        assert second.hits[0].title.startswith("The valve")
        assert vectors.items() <= warm._captures.vectors.items()
        assert len(warm._captures.vectors) == 2
    finally:
        warm.close()


def test_an_unreadable_journal_is_said(asker: Asker) -> None:
    log = asker.desk.location.log_dir / "captures.jsonl"
    log.parent.mkdir(parents=True)
    log.mkdir()
    answer = asker.ask("lid of kettle 3")
    assert answer.hits
    assert answer.why is not None
    assert "capture log can't be read" in answer.why


class TestGenuineRecalls:
    @pytest.fixture
    def fading(self, asker: Asker) -> Iterator[Asker]:
        rules = default_rules_text().replace(b"decay_enabled: false", b"decay_enabled: true")
        asker.desk.write("standards/storage-rules.md", rules)
        yield asker

    def log(self, asker: Asker) -> Path:
        path: Path = asker.desk.location.log_dir / "recalls.jsonl"
        return path

    def test_the_command_logs_trusted_answers_alone(self, asker: Asker) -> None:
        asker.desk.json("recall", "which kettle's lid is grey and handle warm", "-k", "2")
        (line,) = (line for line in self.log(asker).read_text().split("\n") if line)
        assert len(json.loads(line)["paths"]) == 2
        size = self.log(asker).stat().st_size
        asker.desk.json("recall", "what is the capital of Mongolia")
        asker.ask("which kettle's lid is grey and handle warm")  # maintenance
        assert self.log(asker).stat().st_size == size

    def test_they_reset_the_clock_of_fading(self, fading: Asker) -> None:
        path = "Agent/memory/semantic/2025/01/note-3.md"

        old = {hit.path: hit.parts.penalty for hit in fading.ask("lid handle", k=30).hits}
        assert old[path] < 1.0
        self.log(fading).parent.mkdir(parents=True, exist_ok=True)
        self.log(fading).write_text(
            json.dumps({"at": "2026-08-18T10:00:00+00:00", "paths": [path]}) + "\n"
            '{"at": "2026-08-1',
            "utf-8",
        )
        new = {hit.path: hit.parts.penalty for hit in fading.ask("lid handle", k=30).hits}
        assert new[path] == 1.0
        assert {other for other in new if new[other] == 1.0} == {path}

    def test_the_log_is_read_once_and_then_what_was_added(self, fading: Asker) -> None:
        self.log(fading).parent.mkdir(parents=True, exist_ok=True)
        warm = WarmSources(Settings.load(fading.desk.env), fading.desk.env)
        try:
            assert warm.current().last_recalled == {}
            for day, path in (("2026-08-18", "a.md"), ("2026-08-17", "a.md"), ("2026-08-16", "b")):
                with self.log(fading).open("a") as file:
                    file.write(f'\n{{"at": "{day}T10:00:00+00:00", "paths": ["{path}"]}}\n')
                found = warm.current().last_recalled
            assert {path: str(day) for path, day in found.items()} == {
                "a.md": "2026-08-18",
                "b": "2026-08-16",
            }
            self.log(fading).write_text("")
            assert warm.current().last_recalled == {}
        finally:
            warm.close()


def test_facts_in_memory_are_like_those_on_disk(asker: Asker) -> None:
    """The sample of lengths that scores of words are measured by."""
    with FactsReader.open(asker.desk.location.facts_file) as facts:
        title, header_path, body, around = facts.mean_lengths(2, 300)
    assert 5 < title < 10
    assert 5 < header_path < 10
    assert 40 < body < 90
    assert body == around, "every note there is of one section"
