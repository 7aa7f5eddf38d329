from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentm_assets.projects.door import door
from agentm_assets.projects.route import ProjectRefused, routed_path
from agentm_assets.storage.vault_backend import VaultBackend

pytestmark = pytest.mark.usefixtures("kettle")


@pytest.mark.parametrize(
    "path",
    [
        "projects/kettle/docs/new.md",
        "projects/kettle/docs",
        "projects/kettle/docs/",
        "Projects/kettle/desk/deep/er/idea.md",
        "Agent/desk/tasks/descale/progress.md",
        "agent/desk/tasks/another/plan.md",
    ],
)
def test_standing(store: VaultBackend, path: str) -> None:
    assert door(store, path).verdict == "standing"


@pytest.mark.parametrize(
    "path",
    [
        "projects/kettle/charter.md",
        "projects/kettle/moc-kettle.md",
        "projects/kettle/another.md",
        "projects/kettle",
        "projects/brand-new",
        "projects/brand-new/project.yaml",
        "projects/loose/project.yaml",
    ],
)
def test_needs_alignment(store: VaultBackend, path: str) -> None:
    assert door(store, path).verdict == "alignment"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "projects",
        "projects/loose/notes.md",
        "projects/loose/docs/x.md",
        "projects/brand-new/docs/x.md",
        "projects/Kettle/docs/x.md",
        "projects/kettle/Docs/x.md",
        "projects/kettle/Charter.md",
        "projects/kettle/charter.md/x.md",
        "projects/kettle/charter.md ",
        "projects/kettle/docs./x.md",
        "projects/kettle/.git/config",
        "projects/kettle/docs/../charter.md",
        "projects/kettle/./docs/x.md",
        "projects//kettle/docs/x.md",
        "/projects/kettle/docs/x.md",
        "projects\\kettle\\docs\\x.md",
        "projects/kettle/docs/x\0.md",
        "../projects/kettle/docs/x.md",
        "Agent/desk/tasks",
        "Agent/desk/idea.md",
        "Agent/desk/tasksy/x.md",
        "Agent/memory/semantic/x.md",
        "personal/x.md",
        "PERSONAL/x.md",
        "standards/storage-rules.md",
        "ideas.md",
    ],
)
def test_outside(store: VaultBackend, path: str) -> None:
    assert door(store, path).verdict == "outside"


def test_a_link_in_a_project_is_no_way_out(store: VaultBackend, vault: Path) -> None:
    (vault / "projects/kettle/away").symlink_to(vault / "personal")
    (vault / "projects/linked").symlink_to(vault / "projects/kettle")
    assert door(store, "projects/kettle/away/x.md").verdict == "outside"
    assert door(store, "projects/linked/docs/x.md").verdict == "outside"


def test_a_folder_called_like_the_declaration_declares_nothing(
    store: VaultBackend, vault: Path
) -> None:
    (vault / "projects/loose/project.yaml").mkdir()
    assert door(store, "projects/loose/docs/x.md").verdict == "outside"


NAMES = ["projects", "Projects", "kettle", "Kettle", "loose", "docs", "charter.md", "x.md", "a b"]
ODD = ["Agent", "desk", "tasks", "..", ".", "", ".git", "\0", "\\", "personal", "é", "C:"]
SEGMENT = st.sampled_from([*NAMES, *ODD])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(SEGMENT, max_size=6).map("/".join) | st.text(max_size=30))
def test_standing_is_only_below_the_project_or_in_tasks(store: VaultBackend, path: str) -> None:
    answer = door(store, path)
    assert answer.reason
    if answer.verdict == "standing":
        parts = path.removesuffix("/").split("/")
        assert not {"", ".", ".."} & set(parts)
        assert not any("\\" in part or "\0" in part for part in parts)
        in_project = parts[0].casefold() == "projects" and parts[1] == "kettle" and len(parts) > 2
        in_task = [parts[0].casefold(), *parts[1:3]] == ["agent", "desk", "tasks"]
        assert in_project or (in_task and len(parts) > 3)


@pytest.mark.parametrize(
    ("memory_type", "folder"),
    [("reference", "docs"), ("idea", "desk"), ("convention", "desk"), (None, "desk")],
)
def test_a_note_goes_to_the_docs_or_the_desk(
    store: VaultBackend, memory_type: str | None, folder: str
) -> None:
    place = routed_path(store, "kettle", memory_type, "boiling-points")
    assert place.key == f"projects/kettle/{folder}/boiling-points.md"


def test_the_project_is_found_whatever_the_case(store: VaultBackend) -> None:
    assert routed_path(store, "Kettle", "reference", "x").key == "projects/kettle/docs/x.md"


@pytest.mark.parametrize("slug", ["loose", "nowhere", "", "..", "kettle/docs"])
def test_an_undeclared_project_takes_no_note(store: VaultBackend, slug: str) -> None:
    with pytest.raises(ProjectRefused, match="kettle") as caught:
        routed_path(store, slug, "reference", "x")
    assert caught.value.code == "unknown-project"


@pytest.mark.parametrize("slug", ["../../x", "a/b", "x\0", ""])
def test_a_slug_does_not_lead_out_of_the_folder(store: VaultBackend, slug: str) -> None:
    with pytest.raises(ProjectRefused):
        routed_path(store, "kettle", "reference", slug)
