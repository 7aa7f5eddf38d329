"""The bundled vault holds what it promises, and every note is filed as the contract asks."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from agentm_assets.contract import properties
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.note import validate_note
from agentm_assets.contract.rules import LoadedRules, load_rules
from agentm_assets.contract.spaces import SPACES, space_of
from agentm_assets.contract.vocabulary import ALTITUDES, CLASSES, KEY_ORDER, STATUSES
from agentm_assets.demo import demo_questions, questions_file, sample_vault
from agentm_assets.extract.aliases import code_spans_of, derive_aliases
from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.links import extract_links
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import EntityMention, Link
from agentm_assets.extract.resolve import LinkIndex, Resolution

BROKEN = "Agent/memory/procedural/2026/08/calibrate-the-scale.md"


@dataclass(frozen=True)
class Note:
    path: str
    data: bytes
    frontmatter: Frontmatter

    def text(self, key: str) -> str | None:
        return properties.text_of(self.frontmatter, key)

    @property
    def body(self) -> str:
        return self.data[self.frontmatter.body_start :].decode()


def read_vault() -> dict[str, Note]:
    root = sample_vault()
    notes = {}
    for file in sorted(root.rglob("*.md")):
        data = file.read_bytes()
        path = file.relative_to(root).as_posix()
        notes[path] = Note(path, data, read_frontmatter(data))
    return notes


NOTES = read_vault()
MEMORIES = {path: note for path, note in NOTES.items() if note.text("type")}


@pytest.fixture(scope="module")
def rules() -> LoadedRules:
    return load_rules(None, {})


def links_of(note: Note) -> tuple[Link, ...]:
    return extract_links(note.data, note.frontmatter.body_start)


def resolutions() -> list[tuple[str, Link, Resolution]]:
    root = sample_vault()
    attachments = [
        file.relative_to(root).as_posix()
        for file in root.rglob("*")
        if file.is_file() and file.suffix != ".md"
    ]
    index = LinkIndex(
        [(path, properties.aliases(note.frontmatter)) for path, note in NOTES.items()], attachments
    )
    return [
        (path, link, index.resolve(path, link))
        for path, note in NOTES.items()
        for link in links_of(note)
    ]


def mentions() -> list[EntityMention]:
    return [
        mention
        for note in NOTES.values()
        for mention in extract_entities(
            note.body,
            blank(note.body, find_regions(note.body), ALL),
            EntityContext(),
            lambda at: at,
        )
    ]


def test_every_type_status_altitude_kind_space_and_class_is_there(rules: LoadedRules) -> None:
    def values(key: str) -> set[str]:
        return {value for note in NOTES.values() if (value := note.text(key))}

    assert values("type") == set(rules.rules.memory_types)
    assert values("kind") == set(rules.rules.record_kinds)
    assert values("status") == set(STATUSES)
    assert values("altitude") == set(ALTITUDES)
    assert {space_of(path).space for path in NOTES} == set(SPACES)
    assert {space_of(path).memory_class for path in NOTES} == {*CLASSES, None}


def test_only_the_broken_note_has_findings(rules: LoadedRules) -> None:
    findings = {
        path: found
        for path, note in NOTES.items()
        if (found := validate_note(path, note.frontmatter, rules.rules))
    }
    assert list(findings) == [BROKEN]
    assert [each.code for each in findings[BROKEN]] == ["frontmatter-unreadable"]


def test_properties_stand_in_the_order_of_the_contract() -> None:
    for path, note in NOTES.items():
        keys = list(note.frontmatter.fields)
        assert set(keys) <= set(KEY_ORDER), path
        assert keys == sorted(keys, key=KEY_ORDER.index), path


def test_memories_lie_where_their_type_and_month_put_them(rules: LoadedRules) -> None:
    routed = [path for path in NOTES if re.match(r"Agent/memory/\w+/\d{4}/", path)]
    assert len(routed) > 20
    for path in routed:
        note = NOTES[path]
        if path == BROKEN:
            continue
        captured = note.text("captured")
        assert captured is not None
        year, month = captured[:7].split("-")
        assert path == f"Agent/memory/{path.split('/')[2]}/{year}/{month}/{note.text('slug')}.md"
        if note.text("type") is not None:
            assert rules.rules.routing[str(note.text("type"))] == path.split("/")[2], path
    assert len({path.split("/")[4] for path in routed}) >= 6


def test_slugs_are_the_names_of_the_files() -> None:
    for path, note in NOTES.items():
        slug = note.text("slug")
        if slug is not None:
            stem = re.sub(r"^\d{4}-\d{2}-\d{2}_", "", PurePosixPath(path).stem)
            assert slug == stem, path


def test_calendar_notes_carry_their_day_in_the_name() -> None:
    days = [path for path in NOTES if path.startswith("calendar/")]
    assert days
    for path in days:
        assert re.fullmatch(r"calendar/(\d{4})/\1-\d{2}-\d{2}_[a-z0-9-]+\.md", path)
        assert NOTES[path].text("kind") == "conversation"


def test_projects_have_their_root_documents() -> None:
    projects = sample_vault() / "projects"
    for project in projects.iterdir():
        names = {file.name for file in project.iterdir() if file.is_file()}
        assert {"project.yaml", "charter.md", "blueprint.md", "tracker.md"} <= names
        assert names <= {
            "project.yaml", "charter.md", "blueprint.md", "tracker.md", f"moc-{project.name}.md",
        }  # fmt: skip


def test_the_rules_file_is_left_to_init() -> None:
    assert not (sample_vault() / "standards" / "storage-rules.md").exists()
    assert any(path.startswith("standards/") for path in NOTES)


def test_personal_notes_owe_the_contract_nothing() -> None:
    personal = [note for path, note in NOTES.items() if path.startswith("personal/")]
    assert personal
    assert {note.frontmatter.state for note in personal} == {"absent"}


def test_only_one_target_does_not_exist() -> None:
    open_links = {link.target for _, link, found in resolutions() if found.path is None}
    assert open_links == {"supplier-scorecard"}
    sources = {path for path, link, _ in resolutions() if link.target == "supplier-scorecard"}
    assert len(sources) >= 2  # enough for a stub


def test_links_of_every_sort() -> None:
    found = resolutions()
    assert {"wikilink", "embed", "markdown", "image"} == {link.kind for _, link, _ in found}
    assert any(link.label for _, link, _ in found)
    assert any(link.anchor for _, link, _ in found)
    assert {each.how for _, _, each in found} >= {"path", "name", "suffix", "alias"}


def test_some_links_are_ambiguous_and_go_to_the_nearest() -> None:
    ambiguous = {
        (path, link.target): found.path for path, link, found in resolutions() if found.candidates
    }
    folder = "Agent/desk/tasks/descaling-study"
    assert ambiguous[f"{folder}/plan.md", "progress"] == f"{folder}/progress.md"
    assert ambiguous["projects/kettle-app/charter.md", "tracker"] == (
        "projects/kettle-app/tracker.md"
    )


def test_superseded_notes_name_a_note_that_exists() -> None:
    slugs = {note.text("slug") for note in NOTES.values()}
    superseded = [note for note in NOTES.values() if note.text("status") == "superseded"]
    assert superseded
    assert {note.text("superseded_by") for note in superseded} <= slugs
    for note in NOTES.values():
        for key in ("derived_from", "consolidated_from"):
            field = note.frontmatter.fields.get(key)
            assert set(field.items if field else ()) <= slugs, note.path


def test_entities_of_many_kinds() -> None:
    found = mentions()
    assert {each.kind for each in found} >= {"issue", "commit", "repo", "url", "cve", "person"}
    urls = [each for each in found if each.surface.startswith("https://github.com/acme/kettle/")]
    assert any(each.key.startswith("issue:acme/kettle#") for each in urls)
    assert all("acme/" in each.key for each in found if each.kind in ("issue", "repo"))


def test_notes_in_japanese_and_notes_full_of_code() -> None:
    assert any(re.search(r"[\u3040-\u30ff]", note.body) for note in NOTES.values())
    fences = [len(re.findall(r"(?m)^```\w", note.body)) for note in NOTES.values()]
    assert max(fences) >= 3


def test_aliases_come_out_of_the_notes() -> None:
    note = NOTES["Agent/memory/semantic/2026/02/boil-cutoff-thresholds.md"]
    regions = find_regions(note.body)
    derived = derive_aliases(
        str(note.text("title")),
        note.body,
        blank(note.body, regions, ALL),
        code_spans_of(note.body, regions),
        properties.aliases(note.frontmatter),
    )
    names = {each.alias for each in derived}
    assert {"OTC", "over-temperature cutoff", "otc_threshold_c", "threshold"} <= names


def test_questions_lead_to_notes_that_exist() -> None:
    questions = demo_questions()
    assert len(questions) >= 12
    assert len({each.id for each in questions}) == len(questions)
    assert sum(not each.expected_note_paths for each in questions) == 2
    for each in questions:
        assert (each.stratum == "negative") is (not each.expected_note_paths)
        assert set(each.expected_note_paths) <= set(NOTES), each.id


def test_questions_are_asked_in_other_words_than_the_title() -> None:
    for each in demo_questions():
        if each.stratum != "paraphrase":
            continue
        asked = set(re.findall(r"\w{4,}", each.question.lower()))
        for path in each.expected_note_paths:
            title = set(re.findall(r"\w{4,}", str(NOTES[path].text("title")).lower()))
            assert len(asked & title) <= 1, each.id


def test_nothing_answers_the_unanswerable_questions() -> None:
    everything = " ".join(note.data.decode().lower() for note in NOTES.values())
    for each in demo_questions():
        if each.stratum == "negative":
            words = set(re.findall(r"\w{7,}", each.question.lower()))
            assert words
            assert not {word for word in words if word in everything}, each.id


def test_the_question_file_lies_beside_the_vault_and_not_in_it() -> None:
    assert questions_file().is_file()
    assert sample_vault() not in questions_file().parents
