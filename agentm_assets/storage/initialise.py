"""Making a new vault, or adopting a folder that is there without changing a byte of it."""

from dataclasses import dataclass
from pathlib import Path

from agentm_assets.history.git import (
    NO_REPOSITORY,
    Author,
    git,
    is_installed,
    repository_trouble,
)
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.personal import PERSONAL
from agentm_assets.storage.seam import ABSENT, StorageError
from agentm_assets.storage.vault_backend import VaultBackend

FOLDERS = (
    "Agent/_dream",
    "Agent/_meta",
    "Agent/desk/tasks",
    "Agent/diagnostics/health",
    "Agent/diagnostics/morning",
    "Agent/memory/crystallized",
    "Agent/memory/entities",
    "Agent/memory/episodic",
    "Agent/memory/mocs",
    "Agent/memory/procedural",
    "Agent/memory/semantic",
    "calendar",
    "projects",
    "standards",
)
"""The tree of a new vault, beside the operator's own space (design: filing)."""

RULES_PATH = "standards/storage-rules.md"

_IDEAS = b"# Ideas\n\nProject ideas, one a line. You or the agent may add to this list.\n"


class InitError(Exception):
    """The vault can't be made here; the text says why and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Initialised:
    """What was done. `git` is "created", "present" or why there is none."""

    root: Path
    adopted: bool
    written: tuple[str, ...]
    git: str


def initialise(root: Path, rules_text: bytes, locks_dir: Path) -> Initialised:
    """Make a vault at `root` if it is absent or empty, else adopt it as it is.

    An adopted folder is only read: no file, no folder and no repository is made in it. Raises
    InitError.
    """
    try:
        if root.is_symlink() and not root.exists():
            raise InitError(f"{root} is a broken link. Remove it, or name another folder.")
        if root.exists() and not root.is_dir():
            raise InitError(f"{root} is a file. Name a folder for the vault.")
        if root.is_dir() and any(root.iterdir()):
            return Initialised(root, True, (), _git_state(root))
        # No verb of the store makes its root, nor the operator's own space in it.
        (root / PERSONAL).mkdir(parents=True, exist_ok=True)
        store = VaultBackend(root, locks_dir)
        for folder in FOLDERS:
            store.mkdir(Locator(folder))
        written = {RULES_PATH: rules_text, "ideas.md": _IDEAS}
        for path, data in written.items():
            store.write_bytes(Locator(path), data, expect=ABSENT)
    except StorageError as error:
        raise InitError(f"{root} can't be made into a vault: {error}.") from error
    except OSError as error:
        raise InitError(
            f"{error.filename or root} can't be used ({error.strerror}). Choose a folder that you "
            "may read and write."
        ) from error
    return Initialised(
        root, False, tuple(sorted(written)), _create_repository(root, sorted(written))
    )


def _git_state(root: Path) -> str:
    if not is_installed():
        return "git is not installed: automated writes can't be committed or reverted"
    said = repository_trouble(root)
    if said is None:
        return "present"
    if said == NO_REPOSITORY:
        cure = "(cure: git init there)"
        return f"no repository: automated writes can't be committed or reverted {cure}"
    return f"git can't work there: {said}"


def commit_all(root: Path, subject: str) -> str:
    """Commit whatever the folder holds, as agentm. Returns "committed" or what git said."""
    return _run_git(root, ["add", "-A"], _commit(subject)) or "committed"


def _create_repository(root: Path, paths: list[str]) -> str:
    if not is_installed():
        return "git is not installed: install it, then run git init in the vault"
    steps = (["init", "-q", "-b", "main"], ["add", "--", *paths], _commit("Start the vault"))
    return _run_git(root, *steps) or "created"


def _commit(subject: str) -> list[str]:
    return ["commit", "-q", "--no-verify", "-m", f"{subject}\n\nAgentm-Pass: init"]


def _run_git(root: Path, *steps: list[str]) -> str | None:
    """Run git commands in turn; what the first failure said, None when all went well."""
    for step in steps:
        done = git(root, *step, more=Author("agentm-init").variables)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            return f"git failed: {said or done.returncode}"
    return None
