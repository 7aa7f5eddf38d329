"""Maps over the work: `moc-tasks.md` on the desk, `moc-<slug>.md` in each declared project."""

from typing import Final

from agentm_assets.dreaming.derived_page import written_page
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.page import moc_properties
from agentm_assets.dreaming.stage import Change, Plan
from agentm_assets.projects.declared import declared_projects
from agentm_assets.projects.maps import (
    TASK_MAP,
    project_map_lines,
    project_map_name,
    task_map_lines,
)
from agentm_assets.projects.names import title_of
from agentm_assets.projects.region import with_region
from agentm_assets.projects.tasks import desk
from agentm_assets.storage.locator import Locator


class TaskMap:
    name: Final = "task-map"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "The map of the active tasks: each with its log and what is open in it."

    def plan(self, night: Night) -> Plan:
        folder = desk(night.backend)
        if not night.backend.exists(folder.child("tasks")):
            return Plan()
        slug = TASK_MAP.removesuffix(".md")
        with night.index() as connection:
            veil = night.veil(connection)
        lines = task_map_lines(night.backend, veil.over)
        return Plan((_change(folder.child(TASK_MAP), slug, "Tasks", lines),))


class ProjectMaps:
    name: Final = "project-maps"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "The map of each declared project: its root documents, then its folders."

    def plan(self, night: Night) -> Plan:
        changes = []
        with night.index() as connection:
            veil = night.veil(connection)
        for project in declared_projects(night.backend):
            name = project_map_name(project.slug)
            lines = project_map_lines(night.backend, project.folder, veil.over)
            place = project.folder.child(name)
            slug = name.removesuffix(".md")
            changes.append(_change(place, slug, title_of(project.slug), lines))
        return Plan(tuple(changes), measured={"projects": len(changes)})


def _change(place: Locator, slug: str, title: str, lines: list[str]) -> Change:
    """Unlike other derived pages these are the operator's to write around (`agentm task moc` does
    the same): a map without marks gets a generated part at its end, and loses nothing."""

    def build(held: bytes | None) -> bytes:
        if held is None:
            return written_page(None, moc_properties(slug, title), lines)
        return with_region(held, lines)

    return Change(place, "rewrite", build)
