import multiprocessing
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.note import validate_note
from agentm_assets.contract.rules import load_rules
from agentm_assets.extract.links import extract_links
from agentm_assets.history.outcome import Committed
from agentm_assets.projects.declared import declared_projects
from agentm_assets.projects.door import door
from agentm_assets.projects.founding import FoundingRefused
from agentm_assets.projects.region import BEGIN
from agentm_assets.projects.tasks import TaskRefused, all_tasks
from agentm_assets.projects.work import (
    Done,
    close_task,
    found_project,
    renew_map,
    start_task,
)
from agentm_assets.storage.selection import open_backend
from agentm_assets.storage.vault import Vault
from agentm_assets.storage.vault_backend import VaultBackend

Git = Callable[..., str]
Write = Callable[[str, str], Path]
ROOT_FILES = ["blueprint.md", "charter.md", "moc-lid.md", "project.yaml", "tracker.md"]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".git" not in file.parts and "_meta" not in file.parts
    }


def test_a_new_project_has_five_files_in_one_commit(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, git: Git
) -> None:
    done = found_project(location, store, "lid", now, title="Lid: a\nquiet one")
    assert sorted(file.name for file in (vault / "projects/lid").iterdir()) == ROOT_FILES
    assert isinstance(done.outcome, Committed) and not done.remarks
    assert git("log", "--format=%an|%s", "-1").strip() == "agentm-project|Start the project lid"
    assert git("status", "--porcelain") == ""
    assert [project.slug for project in declared_projects(store)] == ["lid"]
    assert door(store, "projects/lid/docs/x.md").verdict == "standing"


def test_the_documents_keep_the_contract(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime
) -> None:
    found_project(location, store, "lid", now)
    start_task(location, store, "Measure: it", now)
    rules = load_rules(Vault(store), os.environ).rules
    for path, data in tree(vault).items():
        if path.endswith(".md"):
            frontmatter = read_frontmatter(data)
            assert frontmatter.state == "ok", path
            assert validate_note(path, frontmatter, rules) == (), path


@pytest.mark.usefixtures("kettle")
@pytest.mark.parametrize(
    "slug", ["kettle", "Kettle", "two words", "", "..", "a/b", "-x", "con", "x" * 80, "KETTLE-2"]
)
def test_a_project_that_is_there_and_bad_slugs_change_nothing(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, slug: str
) -> None:
    before = tree(vault)
    with pytest.raises(FoundingRefused):
        found_project(location, store, slug, now)
    assert tree(vault) == before


@pytest.mark.parametrize("name", ["Lid", "LID"])
def test_a_name_that_some_disks_take_for_the_same_is_refused(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, name: str
) -> None:
    (vault / "projects" / name).mkdir(parents=True)
    with pytest.raises(FoundingRefused, match=name):
        found_project(location, store, "lid", now)
    assert not list((vault / "projects" / name).iterdir())
    assert not (vault / "projects/lid/project.yaml").exists()


@pytest.mark.usefixtures("kettle")
def test_a_folder_of_notes_can_be_declared_and_keeps_its_files(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, write: Write
) -> None:
    write("projects/loose/charter.md", "mine\n")
    done = found_project(location, store, "loose", now)
    assert done.kept == ("projects/loose/charter.md",)
    assert (vault / "projects/loose/charter.md").read_text() == "mine\n"
    assert (vault / "projects/loose/notes.md").read_text() == "no project\n"


@pytest.mark.usefixtures("kettle")
def test_a_task_matures_and_stays_as_a_log(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime
) -> None:
    log = vault / "Agent/desk/tasks/descale/progress.md"
    before = log.read_bytes()
    found_project(location, store, "scale-warning", now, from_task="descale")
    assert log.read_bytes() == before.replace(b"status: active", b"status: done")
    charter = (vault / "projects/scale-warning/charter.md").read_bytes()
    assert b"buy acid" not in charter
    assert b"title: Descale, charter" in charter
    frontmatter = read_frontmatter(charter)
    links = extract_links(charter, frontmatter.body_start, [])
    assert [link.target for link in links] == ["Agent/desk/tasks/descale/progress"]
    assert "descale" not in (vault / "Agent/desk/moc-tasks.md").read_text()


@pytest.mark.usefixtures("kettle")
def test_an_unknown_task_makes_no_project(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime
) -> None:
    with pytest.raises(TaskRefused):
        found_project(location, store, "new", now, from_task="nope")
    assert not (vault / "projects/new").exists()


def test_the_map_keeps_what_the_operator_wrote_and_follows_the_files(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, write: Write
) -> None:
    found_project(location, store, "lid", now)
    page = vault / "projects/lid/moc-lid.md"
    page.write_bytes(page.read_bytes().replace(BEGIN, b"My words.\n\n" + BEGIN) + b"Below.\r\n")
    assert renew_map(location, store, "lid", now).paths == ()
    write("projects/lid/docs/a|b#c.md", "---\ntitle: 'Odd ]] name'\n---\n")
    write("projects/lid/docs/b\n<!-- x.md", f"---\ntitle: <i>{'Long ' * 100}\n---\n")
    write("projects/lid/docs/c\nd.md", "x\n")
    write("projects/lid/docs/old.md", "---\nstatus: expired\n---\n")
    write("projects/lid/_harness/PLAN.md", "machine\n")
    assert renew_map(location, store, "lid", now).paths == ("projects/lid/moc-lid.md",)
    text = page.read_bytes().decode()
    assert "My words.\n\n" in text and text.endswith("Below.\r\n")
    assert "updated: 2026-08-14T09:30:00Z" in text
    assert "PLAN" not in text and "old" not in text
    assert "](/projects/lid/docs/b%0A%3C%21--%20x.md)" in text
    assert "[c d](/projects/lid/docs/c%0Ad.md)" in text
    assert "<i>" not in text and max(map(len, text.splitlines())) < 300
    frontmatter = read_frontmatter(page.read_bytes())
    targets = {link.target for link in extract_links(page.read_bytes(), frontmatter.body_start, [])}
    assert "projects/lid/charter" in targets
    assert any("a%7Cb%23c" in target or "a|b#c" in target for target in targets)


def test_a_map_with_damaged_marks_is_a_remark(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime
) -> None:
    start_task(location, store, "one", now)
    page = vault / "Agent/desk/moc-tasks.md"
    page.write_bytes(page.read_bytes() + BEGIN + b"\n")
    before = page.read_bytes()
    done = start_task(location, store, "two", now)
    assert (vault / "Agent/desk/tasks/two/progress.md").exists()
    assert len(done.remarks) == 1 and page.read_bytes() == before


def test_a_task_is_started_listed_and_closed_by_one_line(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, git: Git
) -> None:
    assert (
        start_task(location, store, "Measure the lid, twice", now).slug == "measure-the-lid-twice"
    )
    log = vault / "Agent/desk/tasks/measure-the-lid-twice/progress.md"
    log.write_bytes(log.read_bytes() + b"- [ ] find | a ruler\n- [x] bought tea\n  1. [ ] again\n")
    git("commit", "-qam", "log")
    (task,) = all_tasks(store)
    assert task.title == "Measure the lid, twice" and task.is_active
    assert task.open == ("find | a ruler", "again")
    start_task(location, store, "other", now)
    table = (vault / "Agent/desk/moc-tasks.md").read_text()
    assert "find \\| a ruler; again" in table
    before = log.read_bytes()
    close_task(location, store, "measure-the-lid-twice", now)
    assert log.read_bytes() == before.replace(b"status: active\n", b"status: done\n")
    assert "measure-the-lid-twice" not in (vault / "Agent/desk/moc-tasks.md").read_text()
    assert close_task(location, store, "measure-the-lid-twice", now).paths == ()
    assert not all_tasks(store)[0].is_active


@pytest.mark.usefixtures("kettle")
@pytest.mark.parametrize("name", ["descale", "Descale", "", "///", "..", "…"])
def test_a_task_that_is_there_and_bad_names(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, name: str
) -> None:
    before = tree(vault)
    with pytest.raises(TaskRefused):
        start_task(location, store, name, now)
    assert tree(vault) == before


@pytest.mark.parametrize("text", ["---\nstatus: [a, {b\n---\n", "---\nstatus: a\nstatus: b\n---\n"])
def test_a_log_that_cannot_be_edited_is_refused(
    location: VaultLocation,
    store: VaultBackend,
    now: datetime,
    write: Write,
    text: str,
) -> None:
    log = write("Agent/desk/tasks/odd/progress.md", text)
    with pytest.raises(TaskRefused, match="line"):
        close_task(location, store, "odd", now)
    with pytest.raises(TaskRefused):
        found_project(location, store, "odd", now, from_task="odd")
    assert log.read_text() == text and not declared_projects(store)


@pytest.mark.parametrize("slug", ["nope", "../..", "", "a/b", "\0"])
def test_closing_what_is_no_task(
    location: VaultLocation, store: VaultBackend, now: datetime, slug: str
) -> None:
    with pytest.raises(TaskRefused):
        close_task(location, store, slug, now)


def _found(number: int, results: "multiprocessing.SimpleQueue[str]") -> None:
    location = locate(os.environ)
    moment = datetime.fromisoformat("2026-08-14T09:30:00+00:00")
    backend = open_backend(location)
    start_task(location, backend, f"task {number}", moment)
    try:
        done: Done = found_project(location, backend, "same", moment, title=f"By {number}")
        results.put(done.slug)
    except FoundingRefused:
        results.put("refused")


def test_processes_at_once_make_one_project_and_one_whole_map(vault: Path, git: Git) -> None:
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
    processes = [context.Process(target=_found, args=(n, results)) for n in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(results.get() for _ in processes) == ["refused", "refused", "same"]
    table = (vault / "Agent/desk/moc-tasks.md").read_text()
    assert all(f"tasks/task-{number}/progress" in table for number in range(3))
    titles = {
        line
        for name in ("charter", "tracker")
        for line in (vault / f"projects/same/{name}.md").read_text().split("\n")
        if line.startswith("title:")
    }
    assert len({title.split(",")[0] for title in titles}) == 1
