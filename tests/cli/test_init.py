"""`agentm init` as a process: a new vault, an adopted folder, and everything it refuses."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
SHIPPED = Path(__file__).resolve().parents[2] / "standards" / "storage-rules.md"
TREE = {
    "Agent",
    "Agent/_dream",
    "Agent/_meta",
    "Agent/desk",
    "Agent/desk/tasks",
    "Agent/diagnostics",
    "Agent/diagnostics/health",
    "Agent/diagnostics/morning",
    "Agent/memory",
    "Agent/memory/crystallized",
    "Agent/memory/entities",
    "Agent/memory/episodic",
    "Agent/memory/mocs",
    "Agent/memory/procedural",
    "Agent/memory/semantic",
    "calendar",
    "ideas.md",
    "personal",
    "projects",
    "standards",
    "standards/storage-rules.md",
}


def tree(root: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """Everything below `root` but git's folder: inode, stamp and bytes."""
    return {
        path.relative_to(root).as_posix(): (
            path.lstat().st_ino,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in root.rglob("*")
        if ".git" not in path.relative_to(root).parts
    }


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def env(env: dict[str, str]) -> dict[str, str]:
    """The vault comes from what init writes, not from the environment."""
    del env["AGENTM_VAULT"]
    return env


@pytest.fixture
def config(env: dict[str, str]) -> Path:
    return Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"


def refused(done: subprocess.CompletedProcess[str], *said: str, code: int = 2) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("agentm: ")
    assert done.stderr.count("\n") == 1
    for words in said:
        assert words in done.stderr


def test_a_new_vault_has_its_tree_the_rules_and_one_commit(
    agentm: Run, tmp_path: Path, config: Path
) -> None:
    root = tmp_path / "new" / "vault"
    done = agentm("init", str(root), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    state = json.loads(done.stdout)
    assert list(state) == [
        "root",
        "adopted",
        "written",
        "git",
        "profile",
        "config_file",
        "state_dir",
    ]
    assert state["root"] == str(root)
    assert (state["adopted"], state["git"], state["profile"]) == (False, "created", "default")
    assert state["written"] == ["ideas.md", "standards/storage-rules.md"]
    assert tree(root).keys() == TREE
    assert (root / "standards/storage-rules.md").read_bytes() == SHIPPED.read_bytes()
    assert git(root, "log", "--format=%an <%ae>%n%B").strip() == (
        "agentm-init <agentm-init@localhost>\nStart the vault\n\nAgentm-Pass: init"
    )
    assert git(root, "log", "--format=%(trailers:key=Agentm-Pass,valueonly)").strip() == "init"
    assert git(root, "status", "--porcelain") == ""
    assert set(git(root, "ls-files").split()) == set(state["written"])
    assert tomllib.loads(config.read_text()) == {
        "profile": "default",
        "profiles": {"default": {"storage": {"backend": "vault", "root": str(root)}}},
    }
    assert (Path(state["state_dir"]) / "dagster" / "dagster.yaml").exists()
    shown = json.loads(agentm("config", "show", "--json").stdout)
    assert (shown["vault"], shown["state_dir"]) == (str(root), state["state_dir"])


def test_an_adopted_folder_is_not_touched_and_a_second_time_neither(
    agentm: Run, vault: Path
) -> None:
    (vault / "note.md").write_bytes(b"\xef\xbb\xbf# Note\r\n")
    (vault / "projects").mkdir()
    before = tree(vault)
    for _ in range(2):
        done = agentm("init", str(vault), "--json")
        assert (done.returncode, done.stderr) == (0, "")
        state = json.loads(done.stdout)
        assert (state["adopted"], state["written"]) == (True, [])
        assert state["git"].startswith("no repository")
        assert "git init" in state["git"]
        assert tree(vault) == before
        assert not (vault / ".git").exists()


def test_it_says_that_another_vault_was_in_use_before(agentm: Run, tmp_path: Path) -> None:
    first = agentm("init", str(tmp_path / "first")).stdout
    assert "it was" not in first
    second = agentm("init", str(tmp_path / "second")).stdout
    assert f"it was {tmp_path / 'first'}" in second and "--vault" in second
    assert "it was" not in agentm("init", str(tmp_path / "second")).stdout


def test_a_new_vault_is_adopted_the_second_time(agentm: Run, tmp_path: Path) -> None:
    root = tmp_path / "new"
    assert agentm("init", str(root)).returncode == 0
    (root / "ideas.md").write_text("mine\n")
    before, commit = tree(root), git(root, "rev-parse", "HEAD")
    done = agentm("init", str(root))
    assert done.returncode == 0
    assert done.stdout.startswith(f"Adopted, unchanged: {root}\ngit: present\n")
    assert tree(root) == before
    assert git(root, "rev-parse", "HEAD") == commit


def test_an_empty_folder_becomes_a_vault(agentm: Run, vault: Path) -> None:
    assert json.loads(agentm("init", str(vault), "--json").stdout)["adopted"] is False
    assert tree(vault).keys() == TREE


def test_without_a_path_the_current_folder_is_meant(
    agentm: Run, env: dict[str, str], vault: Path
) -> None:
    # A test's own folder as the current one: the fixture starts elsewhere.
    done = subprocess.run(
        [sys.executable, "-m", "agentm_assets.cli.entry", "init", "--json"],
        env=env,
        cwd=vault,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["root"] == str(vault)


@pytest.mark.parametrize("name", ["with blanks in it", "käse 🧀 日本", "-%'\"", "~", "new\nline"])
def test_any_path_can_be_a_vault(agentm: Run, tmp_path: Path, config: Path, name: str) -> None:
    done = agentm("init", "--json", "--", f"./{name}")  # relative to the current folder
    assert (done.returncode, done.stderr) == (0, "")
    root = tmp_path / name
    assert json.loads(done.stdout)["root"] == str(root)
    assert (root / "ideas.md").exists()
    written = tomllib.loads(config.read_text())["profiles"]["default"]["storage"]["root"]
    assert written == str(root)


def test_the_home_may_be_written_as_a_tilde(agentm: Run, env: dict[str, str]) -> None:
    assert agentm("init", "~/notes").returncode == 0
    assert (Path(env["HOME"]) / "notes" / "ideas.md").exists()


def test_a_symlink_to_a_folder_is_followed(agentm: Run, tmp_path: Path, vault: Path) -> None:
    (tmp_path / "link").symlink_to(vault)
    state = json.loads(agentm("init", str(tmp_path / "link"), "--json").stdout)
    assert state["root"] == str(vault)


def test_profiles_stand_beside_each_other_and_the_last_is_current(
    agentm: Run, tmp_path: Path, config: Path
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text(
        '# mine\n[profiles.default.storage]\nroot = "/elsewhere"  # keep\n\n'
        '[profiles.work.embedder]\nmodel = "other"\n'
    )
    done = agentm("init", str(tmp_path / "w"), "--profile", "work", "--json")
    assert json.loads(done.stdout)["profile"] == "work"
    assert tomllib.loads(config.read_text()) == {
        "profile": "work",
        "profiles": {
            "default": {"storage": {"root": "/elsewhere"}},
            "work": {
                "embedder": {"model": "other"},
                "storage": {"backend": "vault", "root": str(tmp_path / "w")},
            },
        },
    }
    assert "# mine\n" in config.read_text() and "# keep" in config.read_text()
    assert json.loads(agentm("config", "show", "--json").stdout)["vault"] == str(tmp_path / "w")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("file", "is a file"),
        ("file/below", "can't be used (Not a directory)"),
        ("broken", "is a broken link"),
        ("", "is empty"),
        ("  ", "is empty"),
        ("n" * 300, "can't be used (File name too long)"),
    ],
)
def test_what_cannot_be_a_vault_is_refused_and_nothing_is_configured(
    agentm: Run, tmp_path: Path, config: Path, path: str, said: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "broken").symlink_to("nowhere")
    refused(agentm("init", "--json", path), said)
    assert not config.exists()
    assert not (tmp_path / "state").exists()
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "ideas.md").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_vault_around_the_state_folder_is_refused_before_anything_is_made(
    agentm: Run, tmp_path: Path, there: bool
) -> None:
    root = tmp_path / "around"
    if there:
        root.mkdir()
    refused(
        agentm("init", str(root), XDG_STATE_HOME=str(root / ".state")), "inside the vault", "XDG"
    )
    assert root.exists() is there
    assert not there or list(root.iterdir()) == []


def test_a_configuration_that_does_not_hold_is_refused_before_anything_is_made(
    agentm: Run, tmp_path: Path, config: Path
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("profile = [\n")
    refused(agentm("init", str(tmp_path / "new")), str(config), "not valid TOML")
    assert not (tmp_path / "new").exists()
    assert config.read_text() == "profile = [\n"


def test_an_empty_profile_is_refused(agentm: Run, tmp_path: Path) -> None:
    refused(agentm("init", str(tmp_path / "new"), "--profile", ""), "profile")


def test_inside_a_git_hook_the_hooks_repository_stays_as_it_is(agentm: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    hook = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
    }
    done = agentm("init", str(tmp_path / "new"), "--json", **hook)
    assert json.loads(done.stdout)["git"] == "created"
    assert git(tmp_path / "new", "rev-list", "--count", "HEAD").strip() == "1"
    assert git(other, "for-each-ref") == ""
    assert git(other, "ls-files") == ""


def test_a_repository_that_git_refuses_is_not_taken_for_none(agentm: Run, vault: Path) -> None:
    git(vault, "init", "-q")
    (vault / "note.md").write_text("x")
    # git's own switch for its tests: the folder counts as another user's.
    done = agentm("init", str(vault), "--json", GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert "dubious ownership" in json.loads(done.stdout)["git"]


def test_without_git_a_vault_is_made_and_the_lack_is_said(agentm: Run, tmp_path: Path) -> None:
    done = agentm("init", str(tmp_path / "new"), "--json", PATH=str(tmp_path / "nothing"))
    assert done.returncode == 0
    assert "git is not installed" in json.loads(done.stdout)["git"]
    assert tree(tmp_path / "new").keys() == TREE


def test_wrong_usage_is_exit_2(agentm: Run) -> None:
    for arguments in (["--nothing"], ["one", "two"]):
        done = agentm("init", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
