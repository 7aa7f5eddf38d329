"""Nothing leads around the seam: its verbs hand no path out, and nobody else opens the vault.

The second half is as far as a reading of the source can go: which modules touch the disk at all is
written down here with what they touch, and joining a name to the vault's root is for storage alone.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentm_assets.storage.seam import StorageBackend

ROOT = Path(__file__).resolve().parents[1]
STORAGE = ROOT / "agentm_assets" / "storage"
PATHS = frozenset(
    {
        *("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath"),
        *("PathLike", "DirEntry", "UPath", "StrPath", "BytesPath"),
    }
)
VERBS = frozenset(
    name
    for name, value in vars(StorageBackend).items()
    if not name.startswith("_") and (callable(value) or isinstance(value, property | classmethod))
)


# --- no path in what a verb gives back ------------------------------------------------------------


def path_leaks(source: str) -> list[str]:
    """`Class.verb` for each seam verb of a backend class whose return annotation names a path, or
    that has none."""
    tree = ast.parse(source)
    aliases = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    paths = {name for name, original in aliases.items() if original in PATHS} | PATHS
    for node in tree.body:  # type Notes = dict[str, Path], and the like
        targets = [t for t in ast.walk(node) if isinstance(t, ast.Name)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and names_in(node) & paths:
            paths |= {t.id for t in targets if isinstance(t.ctx, ast.Store)}
    return [
        f"{owner.name}.{verb.name}"
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef) and is_backend(owner)
        for verb in owner.body
        if isinstance(verb, ast.FunctionDef | ast.AsyncFunctionDef) and verb.name in VERBS
        if verb.returns is None or names_in(verb.returns) & paths
    ]


def is_backend(owner: ast.ClassDef) -> bool:
    """Some class with at least two of the verbs, or a base that has them, by its name."""
    verbs = sum(isinstance(each, ast.FunctionDef) and each.name in VERBS for each in owner.body)
    bases = {name for base in owner.bases for name in names_in(base)}
    return verbs > 1 or any(name.endswith(("Backend", "Files")) for name in bases)


def names_in(node: ast.AST) -> set[str]:
    """Every name in an annotation, in quotes too."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            try:
                found |= names_in(ast.parse(each.value, mode="eval"))
            except (SyntaxError, ValueError):  # a NUL is the one or the other by version
                continue  # a text, no annotation
    return found


@pytest.mark.parametrize("file", sorted(STORAGE.rglob("*.py")), ids=lambda f: f.stem)
def test_no_verb_gives_a_path_back(file: Path) -> None:
    assert path_leaks(file.read_text()) == []


def test_every_backend_is_looked_at() -> None:
    sources = [file.read_text() for file in STORAGE.glob("*.py")]
    seen = {c.name for s in sources for c in ast.walk(ast.parse(s)) if isinstance(c, ast.ClassDef)}
    backends = {
        owner.name
        for source in sources
        for owner in ast.walk(ast.parse(source))
        if isinstance(owner, ast.ClassDef) and is_backend(owner)
    }
    assert {"StorageBackend", "LocalFiles", "FsspecBackend"} <= backends <= seen
    assert {"DeviceLocalBackend", "VaultBackend"} <= backends
    assert {"read", "list", "walk", "watch", "resolve", "identity", "open"} <= VERBS


@pytest.mark.parametrize(
    "annotation",
    [
        "Path",
        "pathlib.Path",
        "'Path'",
        "list[Path]",
        "dict[str, tuple[int, Path | None]]",
        "'list[pathlib.PurePosixPath]'",
        "Iterator['os.PathLike[str]']",
        "Callable[[], Awaitable[Path]]",
        "Annotated[str, Path]",
        "Where",
        "Listing",
    ],
)
def test_the_gate_sees_a_path_however_deep(annotation: str) -> None:
    source = (
        "import os, pathlib\nfrom pathlib import Path, PurePath as Where\n"
        "Listing = dict[str, Path]\n"
        f"class B(StorageBackend):\n    def list(self, locator) -> {annotation}: ...\n"
        "    def read_bytes(self, locator) -> bytes: return Path('x').read_bytes()\n"
        "    def _root(self) -> Path: ...\n"
    )
    assert path_leaks(source) == ["B.list"]


def test_the_gate_wants_an_annotation() -> None:
    assert path_leaks("class B(LocalFiles):\n    def walk(self, locator): ...\n") == ["B.walk"]


# --- nobody else touches the vault ----------------------------------------------------------------

OWN_FILES = {
    "agentm_assets/capture/again.py": "reinforcements that wait, beside the index",
    "agentm_assets/capture/files.py": "logs and snapshots of this machine",
    "agentm_assets/capture/filing_rules.py": "the rules that the environment names, a snapshot",
    "agentm_assets/capture/journal.py": "the capture journal",
    "agentm_assets/capture/refusals.py": "the log of refused captures",
    "agentm_assets/capture/reinforcement.py": "reinforcements that wait, beside the index",
    "agentm_assets/capture/waiting.py": "reinforcements that wait, beside the index",
    "agentm_assets/cli": "files that the operator names on the command line, server logs and locks",
    "agentm_assets/config": "agentm.toml and Dagster's home",
    "agentm_assets/contract/rules.py": "the shipped rules, and those that the environment names",
    "agentm_assets/demo": "the bundled sample",
    "agentm_assets/dreaming/entities/benchmark.py": "the shipped benchmark",
    "agentm_assets/dreaming/records.py": "the log of the nights, beside the index",
    "agentm_assets/dreaming/unfiled/classify.py": "the locks of who judges, beside the index",
    "agentm_assets/enrichment/answers.py": "answers that were paid for, beside the index",
    "agentm_assets/enrichment/assets/work.py": "the locks of who judges, beside the index",
    "agentm_assets/enrichment/batches.py": "the record of batches, beside the index",
    "agentm_assets/enrichment/rules_seen.py": "what rules said, beside the index",
    "agentm_assets/enrichment/version.py": "the source of the gates",
    "agentm_assets/enrichment/voice.py": "the shipped voice",
    "agentm_assets/evaluation": "question sets and corpora that are named, scratch folders",
    "agentm_assets/history/captures.py": "what waits for its commit, beside the index",
    "agentm_assets/history/git.py": "git's index and objects; a file's executable bit, for git",
    "agentm_assets/history/pending.py": "what a killed run left, beside the index",
    "agentm_assets/hooks": "the host's transcript, the hooks' log",
    "agentm_assets/hosts": "configuration files of coding agents",
    "agentm_assets/index": "tables, serving files and locks of the index",
    "agentm_assets/ingest": "sources, which lie outside of the vault",
    "agentm_assets/ledger/saved_queue.py": "ages of the queue, beside the index",
    "agentm_assets/mcp": "state of the server on this machine; whether the root is there",
    "agentm_assets/models": "weights and exported models",
    "agentm_assets/recall/opening.py": "serving files of the index, exported models",
    "agentm_assets/recall/ranking.py": "the shipped rules",
    "agentm_assets/recall/ranking_snapshot.py": "the rules that the environment names, a snapshot",
    "agentm_assets/recall/used.py": "the log of what recall showed",
    "agentm_assets/reports/health.py": "logs beside the index",
    "agentm_assets/reports/loop.py": "the scratch vault of a measurement",
    "agentm_assets/reports/mail.py": "the log of what was mailed",
    "agentm_assets/reports/morning.py": "logs beside the index",
    "agentm_assets/reports/probe.py": "the log of the probes, beside the index",
    "agentm_assets/routing/conformance.py": "the scratch folder of a check",
    "agentm_assets/routing/mode.py": "the marker in a checkout",
    "agentm_assets/routing/repos.py": "whether a checkout is there",
    "agentm_assets/routing/state.py": "the folder .harness of a checkout, and whether it is one",
    "agentm_assets/warm": "the address of a warm server",
    "sensors/failed_runs.py": "the log of failed runs",
}
"""Rooms and modules outside storage that touch the disk, with what it is. None opens a note."""

SHOWN_ONLY = {"agentm_assets/history/git.py"}
"""Modules that join a name to the root of the vault: to show it, and for git's index."""

_OS = frozenset(
    [
        *("open", "scandir", "listdir", "walk", "fwalk", "stat", "lstat", "access", "readlink"),
        *("unlink", "remove", "rename", "renames", "replace", "link", "symlink", "truncate"),
        *("mkdir", "makedirs", "rmdir", "removedirs", "chmod", "chown", "utime", "mkfifo"),
    ]
)
_PATH_ALWAYS = frozenset(
    [
        *("read_text", "write_text", "iterdir", "glob", "rglob", "is_file", "is_dir", "is_symlink"),
        *("lstat", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "samefile", "readlink"),
    ]
)
# Verbs of the seam have these names too, but always name a place: the fewest arguments of ours.
_PATH_WITHOUT_A_PLACE = {"read_bytes": 1, "exists": 1, "mkdir": 1, "write_bytes": 2, "stat": 1}
_ROOTS = frozenset({"root", "vault", "vault_root", "identity", "store"})


def disk_calls(source: str) -> Iterator[tuple[int, str]]:
    """Line and words of each call that opens or changes something on the disk by its path."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield node.lineno, "open()"
        elif isinstance(called, ast.Attribute):
            owner = called.value.id if isinstance(called.value, ast.Name) else ""
            places = [each for each in node.args if not isinstance(each, ast.Starred)]
            if (
                (owner == "os" and called.attr in _OS)
                or owner == "shutil"
                or (called.attr == "open" and _is_mode(node))
                or called.attr in _PATH_ALWAYS
                or len(places) < _PATH_WITHOUT_A_PLACE.get(called.attr, 0)
            ):
                yield node.lineno, f"{owner or '…'}.{called.attr}()"


def _is_mode(call: ast.Call) -> bool:
    """Is it `path.open("rb")`, and no opening of an index or a store?"""
    if not call.args:
        return False
    first = call.args[0]
    return isinstance(first, ast.Constant) and isinstance(first.value, str)


def joins_to_a_root(source: str) -> Iterator[int]:
    """Lines on which a name is joined to the root of the vault."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_root(node.left):
            yield node.lineno
        elif isinstance(node, ast.Call) and len(node.args) > 1 and _is_root(node.args[0]):
            if names_in(node.func) & {"join", "Path", "joinpath"}:
                yield node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == "joinpath" and _is_root(node.value):
            yield node.lineno


def _is_root(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and names_in(node.func) & {"Path", "str", "realpath"}:
        return bool(node.args) and _is_root(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr in _ROOTS


def modules() -> list[Path]:
    rooms = ("agentm_assets", "sensors", "resources", "schedules")
    return sorted(
        file
        for room in rooms
        for file in (ROOT / room).rglob("*.py")
        if STORAGE not in file.parents
    )


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", modules(), ids=name_of)
def test_who_touches_the_disk_is_known(file: Path) -> None:
    name = name_of(file)
    known = any(name == each or name.startswith(f"{each}/") for each in OWN_FILES)
    found = list(disk_calls(file.read_text()))
    assert known or not found, f"use the seam, or say in OWN_FILES what this opens: {found}"


def test_every_exception_is_still_one() -> None:
    touching = {name_of(file) for file in modules() if [*disk_calls(file.read_text())]}
    for each in OWN_FILES:
        assert any(name == each or name.startswith(f"{each}/") for name in touching), each
    joining = {name_of(file) for file in modules() if [*joins_to_a_root(file.read_text())]}
    assert joining == SHOWN_ONLY


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "os.open(path, os.O_RDONLY)",
        "os.scandir(root)",
        "shutil.copytree(a, b)",
        "path.open('rb')",
        "path.read_text()",
        "path.read_bytes()",
        "path.write_bytes(data)",
        "(root / name).write_text('x')",
        "path.rglob('*.md')",
        "path.exists()",
        "path.mkdir(parents=True)",
        "path.stat()",
        "folder.iterdir()",
    ],
)
def test_the_gate_sees_what_touches_the_disk(line: str) -> None:
    assert len(list(disk_calls(line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "backend.read_bytes(locator)",
        "vault.read_bytes(path)",
        "backend.write_bytes(locator, data, expect=ABSENT)",
        "backend.exists(locator)",
        "backend.mkdir(locator)",
        "VectorReader.open(folder)",
        "text.replace('a', 'b')",
    ],
)
def test_the_gate_lets_the_verbs_through(line: str) -> None:
    assert not list(disk_calls(line))


@pytest.mark.parametrize(
    "line",
    [
        "location.root / path",
        "settings.vault_root / 'a' / 'b'",
        "Path(backend.identity) / key",
        "Path(location.store, key)",
        "os.path.join(location.root, key)",
        "location.root.joinpath(key)",
    ],
)
def test_the_gate_sees_a_name_joined_to_the_root(line: str) -> None:
    assert list(joins_to_a_root(line))


def test_only_what_is_shown_is_joined_to_the_root() -> None:
    assert not list(joins_to_a_root("location.state_dir / 'index'"))
    assert not list(joins_to_a_root("text.join(parts, more)"))
