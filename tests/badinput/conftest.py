"""A machine of a test's own, commands run on it as real processes, and a vault of bad input."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.config.vault import locate
from agentm_assets.storage.vault import MAX_NOTE_BYTES

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 150.0
"""A command that takes longer hangs: the slowest here takes some five seconds of processor time."""

ENTRY = ("-m", "agentm_assets.cli.entry")

WITHOUT_POWERS = str(ROOT / "tests" / "without_powers.py")


@dataclass
class Machine:
    """Home, XDG folders and vault of one operator. Every command is a process of its own."""

    folder: Path
    vault: Path
    cache: Path | None = None
    more: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.cache or self.folder / "cache"),
            "AGENTM_VAULT": str(self.vault),
            **self.more,
        }

    @property
    def state(self) -> Path:
        """The state folder of the vault; the first command that writes makes it."""
        (folder,) = (self.folder / "state" / "agentm").iterdir()
        return folder

    def command(self, *arguments: str, unprivileged: bool = False) -> list[str]:
        powers = [WITHOUT_POWERS] if unprivileged and os.geteuid() == 0 else []
        return [sys.executable, *powers, *ENTRY, *arguments]

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*arguments),
            env=self.env,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(
        self, *arguments: str, unprivileged: bool = False
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            self.command(*arguments, unprivileged=unprivileged),
            env=self.env,
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *arguments: str, unprivileged: bool = False) -> Any:
        """The payload of a command that must go well."""
        done = self.run(*arguments, "--json", unprivileged=unprivileged)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def index(self, *arguments: str, unprivileged: bool = False) -> Any:
        """Index without vectors."""
        return self.json("index", "--no-embeddings", *arguments, unprivileged=unprivileged)

    def recall(self, question: str) -> list[str]:
        """The paths that a fresh process finds."""
        return [hit["path"] for hit in self.json("recall", question, "-k", "20")["hits"]]

    def git(self, *arguments: str) -> str:
        # Without optional locks: a status must not itself refresh the index file.
        return subprocess.run(
            ["git", "--no-optional-locks", "-C", str(self.vault), *arguments],
            env={**self.env, **_GIT},
            capture_output=True,
            check=True,
        ).stdout.decode("utf-8", "surrogateescape")


_GIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "operator"), ("EMAIL", "operator@localhost"))
}


@dataclass(frozen=True)
class BadVault:
    """What was built. `findings`: path → code and line of the one finding that is due."""

    machine: Machine
    findings: dict[str, tuple[str, int | None]]
    notes: frozenset[str]

    @property
    def root(self) -> Path:
        return self.machine.vault


LONG = "n" * 200
BLOCK = "---\ntags: [kettle]\n---\n"

# path → bytes, and the finding that is due
_FILES: dict[str, tuple[bytes, tuple[str, int | None] | None]] = {
    "good.md": (
        b"---\ntags: [ok]\n---\n# Good\n\nA wholesome note: zyxgood. [[Caf\xc3\xa9]]\n",
        None,
    ),
    # encodings and line ends
    "bom.md": (b"\xef\xbb\xbf---\ntitle: Marked\n---\nzyxbom\n", None),
    "bom-alone.md": (b"\xef\xbb\xbf", None),
    "crlf.md": (b"---\r\ntitle: Windows\r\n---\r\n# Wide\r\n\r\nzyxcrlf\r\n", None),
    "cr.md": (b"---\rtitle: Old\r---\r# Narrow\r\rzyxcarriage\r", None),
    "mixed.md": (b"---\r\ntitle: Mixed\n---\r# One\r\nzyxmixed\n\r\n# Two\rtail", None),
    "no-newline.md": (b"zyxtail without an end", None),
    "separators.md": ("a\u2028b\x0bc\x0cd\x85e zyxsepar\n".encode(), None),
    "latin.md": (b"# Old\n\ncaf\xe9 zyxlatin\n", ("invalid-utf8", 3)),
    "latin-key.md": (b"---\ntitle: caf\xe9\n---\nzyxkey\n", ("invalid-utf8", 2)),
    "utf16.md": ("zyxwide\n".encode("utf-16"), ("invalid-utf8", 1)),
    "surrogate.md": (b"zyxsurrogate\n\xed\xa0\x80\n", ("invalid-utf8", 2)),
    "noise.md": (bytes(range(256)) * 64, ("invalid-utf8", 3)),
    "nul.md": (b"# Hole\n\nbefore\0zyxbehind\n", ("nul-byte", 3)),
    "nul-key.md": (b"---\ntitle: a\0b\n---\nzyxnulkey\n", ("nul-byte", 2)),
    "nuls.md": (b"\0" * 4096, ("nul-byte", 1)),
    "control.md": (b"# \x1b[31mred\n\n\x1b]0;title\x07zyxescape\n", None),
    # sizes
    "empty.md": (b"", None),
    "blank.md": (b" \n\t\n\n", None),
    "fences-alone.md": (b"---\n---\n", None),
    "large.md": (b"# Long\n\n" + b"a line of it, again\n" * 52_000 + b"zyxlarge\n", None),
    "one-word.md": (b"x" * 300_000 + b" zyxoneword", None),
    "brackets.md": (b"[[" * 100_000 + b"zyxbracket", None),
    "blanks-in-link.md": (b"[[a" + b" " * 100_000 + b"b]] zyxblank", None),
    # properties
    "unclosed.md": (b"---\ntitle: Open\n\nzyxunclosed\n", ("frontmatter-unclosed", 1)),
    "fence-alone.md": (b"---", ("frontmatter-unclosed", 1)),
    "broken.md": (
        b"---\ntitle: Fine\ntags: [a, b\n---\n\nzyxbroken\n",
        ("frontmatter-unreadable", 3),
    ),
    "tabbed.md": (b"---\na:\n\tb: 1\n---\nzyxtabbed\n", ("frontmatter-unreadable", 3)),
    "colon.md": (b"---\ntitle: One: two\n---\nzyxcolon\n", ("frontmatter-unreadable", 2)),
    "list.md": (b"---\n- a\n- b\n---\nzyxlist\n", ("frontmatter-unreadable", 2)),
    "unknown-alias.md": (b"---\na: *nowhere\n---\nzyxnowhere\n", ("frontmatter-unreadable", 2)),
    "nested.md": (
        b"---\na: " + b"[" * 5_000 + b"]" * 5_000 + b"\n---\nzyxnested\n",
        ("frontmatter-unreadable", 2),
    ),
    "bomb.md": (
        b"---\na0: [x,x,x,x,x,x,x,x,x]\n".replace(b"a0: ", b"a0: &a0 ")
        + b"".join(
            b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
        )
        + b"---\nzyxbomb\n",
        None,
    ),
    "double.md": (
        b"---\ntags: [one]\ntitle: T\ntags: [two]\n---\nzyxdouble\n",
        ("duplicate-key", 4),
    ),
    "everything.md": (
        b"---\ntitle: [caf\xe9\0\ntitle: x\n---\nzyxeverything\n",
        ("frontmatter-unreadable", 2),
    ),
    "Agent/memory/semantic/both.md": (
        b"---\ntype: fix\nstatus: active\nkind: brief\n---\nzyxboth\n",
        ("type-and-kind", 4),
    ),
    # names
    "%.md": (b"zyxpercent\n", None),
    "%41%00.md": (b"zyxescaped\n", None),
    "[.md": (b"zyxopening\n", None),
    "]].md": (b"zyxclosing\n", None),
    "a#b^c|d.md": (b"zyxanchor\n", None),
    "🗂️ hub.md": (b"zyxemoji\n", None),
    f"{LONG}.md": (b"zyxlong\n", None),
    "Cafe\u0301.md": (b"# Decomposed\n\nzyxdecomposed\n", None),
    "\u202egnp.md": (b"zyxoverride\n", None),
    "new\nline.md": (b"zyxnewline\n", None),
    "esc\x1b[2J\x07.md": (b"zyxsteer\0\n", ("nul-byte", 1)),
    "--help.md": (b"zyxdashes\n", None),
    "-rf.md": (b"zyxrf\n", None),
    "'\"`$(x).md": (b"zyxquotes\n", None),
    "back\\slash.md": (b"zyxbackslash\n", ("name-unusable", None)),
    " lead and trail .md": (b"zyxpadded\n", None),
    "?*.md": (b"zyxglob\n", None),
    "SHOUT.MD": (b"zyxshout\n", None),
    "same.md": (b"zyxsamelower\n", ("path-differs-by-case", None)),
    "Same.md": (b"zyxsameupper\n", None),
    "twin.md": (b"zyxtwinlower\0\n", ("nul-byte", 1)),
    "Twin.md": (b"zyxtwinupper\n", None),
    "/".join(["deep"] * 60) + "/leaf.md": (b"zyxleaf\n", None),
    "x.md/inner.md": (b"zyxinner\n", None),
    # copies that a sync client made
    "good.sync-conflict-20260801-101112-ABCDEFG.md": (b"zyxcopy\n", ("sync-conflict-copy", None)),
    "good (Ann's conflicted copy 2026-08-01).md": (b"zyxcopy\n", ("sync-conflict-copy", None)),
}
# passed over by what they are, not by what they hold
_PASSED_OVER = {
    "inside.md": "symlink-skipped",
    "outward.md": "symlink-skipped",
    "broken-link.md": "symlink-skipped",
    "itself.md": "symlink-skipped",
    "round": "symlink-skipped",
    "outside-folder": "symlink-skipped",
    "pipe.md": "not-a-file",
    "socket.md": "not-a-file",
    "caf\ufffd.md": "name-not-utf8",
    "export.md": "too-large",
}


def _build(root: Path) -> dict[str, tuple[str, int | None]]:
    """Build the vault under `root`, which must not exist. Returns the findings that are due."""
    root.mkdir()
    due: dict[str, tuple[str, int | None]] = {}
    for path, (data, finding) in _FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if finding is not None:
            due[path] = finding
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("zyxsecret\n")
    (root / "inside.md").symlink_to("good.md")
    (root / "outward.md").symlink_to(outside / "secret.md")
    (root / "outside-folder").symlink_to(outside, target_is_directory=True)
    (root / "broken-link.md").symlink_to("nowhere.md")
    (root / "itself.md").symlink_to("itself.md")
    (root / "round").symlink_to(".", target_is_directory=True)
    os.mkfifo(root / "pipe.md")
    _socket(root, "socket.md")
    with open(os.fsencode(root) + b"/caf\xe9.md", "wb") as file:
        file.write(b"zyxunnamed\n")
    with (root / "export.md").open("wb") as file:
        file.truncate(MAX_NOTE_BYTES + 1)
    (root / "y.md").mkdir()
    os.utime(root / "good.md", ns=(0, 0))
    os.utime(root / "empty.md", ns=(-(10**18), -(10**18)))
    os.utime(root / "blank.md", ns=(8 * 10**18, 8 * 10**18))
    (root / "bom.md").chmod(0o444)
    (root / "crlf.md").chmod(0o755)
    return due | {path: (code, None) for path, code in _PASSED_OVER.items()}


def _socket(folder: Path, name: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(folder)  # the address of a socket is short
    try:
        listener.bind(name)
    finally:
        os.chdir(before)
        listener.close()


def _snapshot(root: Path) -> dict[bytes, tuple[object, ...]]:
    """Everything below `root`, git's files too: all that lstat says but access times, and bytes."""
    seen: dict[bytes, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            shape = (
                status.st_mode,
                status.st_ino,
                status.st_nlink,
                status.st_uid,
                status.st_gid,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
            if os.path.islink(path):
                content: object = os.readlink(path)
            elif os.path.isfile(path):
                content = open(path, "rb").read()  # noqa: SIM115
            else:
                content = None
            seen[path] = (shape, content)
    return seen


@pytest.fixture(scope="session")
def new_machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Machine]:
    """Make a machine; its vault folder is not there yet."""

    def make(cache: Path | None = None) -> Machine:
        folder = tmp_path_factory.mktemp("machine")
        (folder / "home").mkdir()
        return Machine(folder, folder / "vault", cache)

    return make


NOTES = 60


@pytest.fixture
def machine(new_machine: Callable[..., Machine]) -> Machine:
    """A machine with a vault of NOTES small notes: `n7.md` holds the word `zyxkept7`, and so on;
    `n0.md` is in the folder `deep`."""
    made = new_machine()
    _write_notes(made.vault)
    return made


@pytest.fixture(scope="session")
def _template(new_machine: Callable[..., Machine]) -> Machine:
    made = new_machine()
    _write_notes(made.vault)
    made.index()
    return made


@pytest.fixture
def indexed(new_machine: Callable[..., Machine], _template: Machine) -> Machine:
    """The vault of `machine`, indexed already: a copy of one that is indexed once a session."""
    made = new_machine()
    # Stamps are kept, else all would count as changed.
    shutil.copytree(_template.vault, made.vault)
    shutil.copytree(_template.state, locate(made.env).state_dir)
    return made


def _write_notes(vault: Path) -> None:
    (vault / "deep").mkdir(parents=True)
    for number in range(NOTES):
        folder = vault / "deep" if number == 0 else vault
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nThe word is zyxkept{number}.\n")


@pytest.fixture(scope="module")
def bad_vault(new_machine: Callable[..., Machine]) -> BadVault:
    """The vault of bad input, committed to git."""
    machine = new_machine()
    findings = _build(machine.vault)
    machine.git("init", "-q")
    machine.git("add", "-A")
    machine.git("commit", "-q", "-m", "As it is")
    assert machine.git("status", "--porcelain") == ""
    not_indexed = ("sync-conflict-copy", "name-unusable")
    aside = {path for path, (code, _) in findings.items() if code in not_indexed}
    return BadVault(machine, findings, frozenset(_FILES) - aside)


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], dict[bytes, tuple[object, ...]]]:
    return _snapshot
