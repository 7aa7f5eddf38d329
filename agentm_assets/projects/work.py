"""Making projects and tasks, closing tasks, and writing the maps over them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import Run, begin
from agentm_assets.projects.declared import find_project
from agentm_assets.projects.founding import FoundingRefused, documents, project_folder
from agentm_assets.projects.maps import (
    TASK_MAP,
    new_map,
    project_map_lines,
    project_map_name,
    renewed_map,
    task_map_lines,
)
from agentm_assets.projects.names import title_of
from agentm_assets.projects.region import RegionDamaged
from agentm_assets.projects.tasks import (
    DONE,
    LOG,
    TaskRefused,
    desk,
    find_task,
    first_log,
    new_task,
    tasks_folder,
)
from agentm_assets.projects.turn import turn, write_or_rewrite
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT, StorageBackend

_TURN = "projects"


@dataclass(frozen=True, slots=True)
class Done:
    """What was written. `slug` is the project's or task's, `paths` the files that changed,
    `kept` those that were there and stay, `remarks` what did not work out (a map that can't be
    renewed), `outcome` what git said."""

    slug: str
    paths: tuple[str, ...]
    kept: tuple[str, ...]
    remarks: tuple[str, ...]
    outcome: Outcome


def found_project(
    location: VaultLocation,
    backend: StorageBackend,
    slug: str,
    now: datetime,
    *,
    title: str | None = None,
    from_task: str | None = None,
) -> Done:
    """Make a project with its root documents. The operator's own act: no pass calls this.

    With `from_task` the project grows out of a task: the documents are written fresh, the task's
    folder stays as a log and its status becomes done. Documents that are in the folder already are
    kept. The declaration is written last, so that a project that was cut short is none yet.

    Raises FoundingRefused, TaskRefused and StorageError.
    """
    remarks: list[str] = []
    kept: list[str] = []
    with turn(location, backend, _TURN).held():
        folder = project_folder(backend, slug)
        task = find_task(backend, from_task) if from_task is not None else None
        name = title or (task.title if task is not None else title_of(slug))
        if task is not None and task.log is not None:
            _closed(backend.read_bytes(task.log), task.log)  # refused before anything is made
        with begin(
            location, backend, pass_name="project", subject=f"Start the project {slug}"
        ) as run:
            for file, data in documents(slug, name, now, task).items():
                try:
                    run.write(folder.child(file), data, expect=ABSENT)
                except FileExistsError as error:
                    if file == "project.yaml":
                        raise FoundingRefused(
                            f"the project {slug} was declared by another process just now"
                        ) from error
                    kept.append(folder.child(file).key)
            if task is not None and task.log is not None:
                log = task.log
                run.rewrite(log, lambda data: _closed(data, log))
                remarks += _renew_task_map(backend, run, now)
            remarks += _renew_project_map(backend, run, folder, name, now)
    return _done(slug, run, kept, remarks)


def start_task(location: VaultLocation, backend: StorageBackend, name: str, now: datetime) -> Done:
    """Make a task's folder with its progress log. `name` is a slug or a title.

    Raises TaskRefused and StorageError.
    """
    with turn(location, backend, _TURN).held():
        slug, title = new_task(backend, name)
        log = tasks_folder(backend).child(slug).child(LOG)
        with begin(location, backend, pass_name="task", subject=f"Start the task {slug}") as run:
            try:
                run.write(log, first_log(slug, title, now), expect=ABSENT)
            except FileExistsError as error:
                raise TaskRefused(f"the task {slug} is there already ({log})") from error
            remarks = _renew_task_map(backend, run, now)
    return _done(slug, run, [], remarks)


def close_task(location: VaultLocation, backend: StorageBackend, slug: str, now: datetime) -> Done:
    """Set the status of the task's log to done: one line of it. Nothing moves; twice is once.

    Raises TaskRefused and StorageError.
    """
    with turn(location, backend, _TURN).held():
        task = find_task(backend, slug)
        if task.log is None:
            raise TaskRefused(f"the task {slug} has no {LOG} to note it in. Write one")
        log = task.log
        _closed(backend.read_bytes(log), log)
        with begin(location, backend, pass_name="task", subject=f"Close the task {slug}") as run:
            run.rewrite(log, lambda data: _closed(data, log))
            remarks = _renew_task_map(backend, run, now)
    return _done(slug, run, [], remarks)


def renew_map(location: VaultLocation, backend: StorageBackend, slug: str, now: datetime) -> Done:
    """Write the generated part of a project's map anew.

    Raises FoundingRefused for an undeclared project, StorageError.
    """
    project = find_project(backend, slug)
    if project is None:
        raise FoundingRefused(
            f"there is no declared project {slug}. `agentm project list` names them"
        )
    with (
        turn(location, backend, _TURN).held(),
        begin(location, backend, pass_name="moc", subject=f"Map of {project.slug}") as run,
    ):
        remarks = _renew_project_map(backend, run, project.folder, title_of(project.slug), now)
    return _done(project.slug, run, [], remarks)


def renew_task_map(location: VaultLocation, backend: StorageBackend, now: datetime) -> Done:
    """Write the generated part of the map of tasks anew. Raises StorageError."""
    with (
        turn(location, backend, _TURN).held(),
        begin(location, backend, pass_name="moc", subject="Map of the tasks") as run,
    ):
        remarks = _renew_task_map(backend, run, now)
    return _done("", run, [], remarks)


def _renew_project_map(
    backend: StorageBackend, run: Run, folder: Locator, title: str, now: datetime
) -> list[str]:
    name = project_map_name(folder.name)

    def renewed(page: bytes) -> bytes:
        lines = project_map_lines(backend, folder)
        if not page:
            return new_map(name.removesuffix(".md"), title, lines, now)
        return renewed_map(page, lines, now)

    return _renew(backend, run, folder.child(name), renewed)


def _renew_task_map(backend: StorageBackend, run: Run, now: datetime) -> list[str]:
    def renewed(page: bytes) -> bytes:
        # Listed anew at every attempt: a task that another process made meanwhile is not left out.
        lines = task_map_lines(backend)
        if not page:
            return new_map(TASK_MAP.removesuffix(".md"), "Tasks", lines, now)
        return renewed_map(page, lines, now)

    return _renew(backend, run, desk(backend).child(TASK_MAP), renewed)


def _renew(
    backend: StorageBackend, run: Run, place: Locator, renewed: Callable[[bytes], bytes]
) -> list[str]:
    """A map has no authority: one that can't be renewed is a remark, not a failure."""
    try:
        write_or_rewrite(backend, run, place, renewed)
    except (RegionDamaged, EditRefused) as error:
        return [f"{place} is not renewed: {error}"]
    return []


def _closed(data: bytes, log: Locator) -> bytes:
    try:
        return set_key(data, "status", DONE)
    except EditRefused as error:
        raise TaskRefused(f"{log}: {error}. Mend its properties by hand") from error


def _done(slug: str, run: Run, kept: list[str], remarks: list[str]) -> Done:
    paths = tuple(change.path for change in run.changes)
    return Done(slug, paths, tuple(kept), tuple(remarks), run.outcome)
