"""Walking and reading a vault: nothing outside it, nothing aborts, what is passed over is said."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agentm_assets.storage.seam import StoreUnreachable
from agentm_assets.storage.vault import (
    MAX_NOTE_BYTES,
    NoteUnreadable,
    Vault,
    content_hash,
)
from agentm_assets.storage.vault_backend import VaultBackend


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def vault_at(root: Path) -> Vault:
    return Vault(VaultBackend(root, root / "no-locks"))


def put(root: Path, path: str, data: bytes = b"x") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def codes(root: Path) -> dict[str, str]:
    findings = vault_at(root).scan().findings
    assert len({f.path for f in findings}) == len(findings), "at most one finding a file"
    return {f.path: f.code for f in findings}


def test_notes_and_attachments_are_told_apart_and_hidden_names_skipped(root: Path) -> None:
    for path in ("a.md", "deep/er/b.md", "C.MD", "pic.png", ".obsidian/x.md", ".hidden.md"):
        put(root, path)
    put(root, ".trash/Old.md")
    put(root, ".a.md.swp")
    scan = vault_at(root).scan()
    assert sorted(scan.notes) == ["C.MD", "a.md", "deep/er/b.md"]
    assert scan.attachments == {"pic.png"}
    assert scan.findings == ()


def test_a_folder_with_a_notes_name_is_a_folder(root: Path) -> None:
    put(root, "x.md/inner.md")
    assert sorted(vault_at(root).scan().notes) == ["x.md/inner.md"]
    with pytest.raises(NoteUnreadable):
        vault_at(root).read_bytes("x.md")


def test_symlinks_inside_outward_broken_and_in_a_loop_are_one_finding_each(root: Path) -> None:
    put(root, "a.md")
    outside = put(root.parent, "secret.md", b"secret")
    (root / "inside.md").symlink_to("a.md")
    (root / "outward.md").symlink_to(outside)
    (root / "broken.md").symlink_to("nowhere.md")
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "self.md").symlink_to("self.md")
    assert codes(root) == dict.fromkeys(
        ("inside.md", "outward.md", "broken.md", "loop", "self.md"), "symlink-skipped"
    )
    assert sorted(vault_at(root).scan().notes) == ["a.md"]


@pytest.mark.parametrize("path", ["outward.md", "folder/secret.md"])
def test_reading_never_follows_a_link_out_of_the_vault(root: Path, path: str) -> None:
    put(root.parent, "out/secret.md", b"secret")
    (root / "outward.md").symlink_to(root.parent / "out/secret.md")
    (root / "folder").symlink_to(root.parent / "out", target_is_directory=True)
    with pytest.raises(NoteUnreadable) as refused:
        vault_at(root).read_bytes(path)
    assert refused.value.code == "symlink-skipped"


@pytest.mark.parametrize("path", ["../secret.md", "/etc/hostname", "a/../../x.md", "a\0b.md", ""])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(NoteUnreadable) as refused:
        vault_at(root).read_bytes(path)
    assert refused.value.code == "outside-vault"


@pytest.mark.parametrize(
    "name",
    [
        "note.sync-conflict-20260801-101112-ABCDEFG.md",
        "note (conflicted copy 2026-08-01).md",
        "note (Ann's conflicted copy 2026-08-01).md",
        "note (conflict 2026-08-01-10-11-12).md",
        "note_conflict-20260801-101112.md",
    ],
)
def test_conflict_copies_are_put_aside(root: Path, name: str) -> None:
    put(root, name)
    assert codes(root) == {name: "sync-conflict-copy"}
    assert not vault_at(root).scan().notes


@pytest.mark.parametrize(
    "name", ["resolving conflicts.md", "conflict of interest.md", "a (b).md", "note_conflict.md"]
)
def test_notes_about_conflicts_are_notes(root: Path, name: str) -> None:
    put(root, name)
    assert list(vault_at(root).scan().notes) == [name]


@pytest.mark.parametrize(
    "name", ["%.md", "[.md", "]].md", "🗂️ hub.md", "n" * 200 + ".md", "a  b.md", "#^|.md", "100%.md"]
)
def test_odd_names_are_read(root: Path, name: str) -> None:
    put(root, name, b"body")
    vault = vault_at(root)
    assert list(vault.scan().notes) == [name]
    assert vault.read_bytes(name) == b"body"


def test_a_decomposed_name_is_opened_as_it_is(root: Path) -> None:
    put(root, "Cafe\u0301.md", b"body")
    vault = vault_at(root)
    assert list(vault.scan().notes) == ["Cafe\u0301.md"]
    assert vault.read_bytes("Cafe\u0301.md") == b"body"


def test_a_name_that_is_not_utf8_is_one_finding(root: Path) -> None:
    with open(os.fsencode(root) + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")
    assert codes(root) == {"caf\ufffd.md": "name-not-utf8"}


def test_paths_that_differ_by_case_or_composition_are_both_read_and_one_is_reported(
    root: Path,
) -> None:
    for name in ("Docker.md", "docker.md", "Caf\u00e9.md", "Cafe\u0301.md"):
        put(root, name)
    assert codes(root) == {
        "docker.md": "path-differs-by-case",
        "Caf\u00e9.md": "path-differs-by-case",
    }
    assert len(vault_at(root).scan().notes) == 4


def test_pipes_and_sockets_are_reported_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    listener = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(root)  # the address of a socket is short
    try:
        listener.bind("socket.md")
    finally:
        os.chdir(before)
        listener.close()
    assert codes(root) == {"pipe.md": "not-a-file", "socket.md": "not-a-file"}
    with pytest.raises(NoteUnreadable):
        vault_at(root).read_bytes("pipe.md")


def test_a_file_over_the_limit_is_refused_by_its_size(root: Path) -> None:
    with (root / "export.md").open("wb") as file:
        file.truncate(MAX_NOTE_BYTES + 1)
    with pytest.raises(NoteUnreadable) as refused:
        vault_at(root).read_bytes("export.md")
    assert refused.value.code == "too-large"


def test_a_vault_that_is_gone_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable, match="nowhere"):
        vault_at(tmp_path / "nowhere").scan()


def test_a_missing_note_is_missing_and_nothing_else(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        vault_at(root).read_bytes("gone.md")


def test_content_hash_is_sha256_of_the_bytes() -> None:
    assert content_hash(b"a\r\n") != content_hash(b"a\n")
    assert content_hash(b"").startswith("e3b0c44298fc1c14")


_AS_NOBODY = """
import os, sys
from pathlib import Path
from agentm_assets.storage.vault import NoteUnreadable, Vault
from agentm_assets.storage.vault_backend import VaultBackend
os.setgroups([]); os.setgid(65534); os.setuid(65534)
vault = Vault(VaultBackend(Path(sys.argv[1]), Path("no-locks")))
scan = vault.scan()
print(sorted(scan.notes), sorted((f.path, f.code) for f in scan.findings), scan.unknown)
try:
    vault.read_bytes("locked.md")
except NoteUnreadable as error:
    print(error.code)
"""


def test_unreadable_files_and_folders_are_one_finding_each_and_not_deleted(root: Path) -> None:
    put(root, "locked.md", b"secret").chmod(0)
    put(root, "open.md")
    put(root, "closed/inner.md")
    (root / "closed").chmod(0)
    for folder in (root, *root.parents):
        if folder.is_relative_to(Path("/tmp")) and folder != Path("/tmp"):
            folder.chmod(0o755)
    program = (
        _AS_NOBODY
        if os.geteuid() == 0
        else _AS_NOBODY.replace("os.setgroups([]); os.setgid(65534); os.setuid(65534)", "")
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=False
    )
    (root / "closed").chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == [
        "['locked.md', 'open.md'] [('closed', 'folder-unreadable')] ('closed',)",
        "unreadable",
    ]


def test_hidden_notes_are_counted(root: Path) -> None:
    for path in ("..md", ".draft.md", ".git/x.md", "a.md"):
        put(root, path)
    scan = vault_at(root).scan()
    assert (scan.hidden, sorted(scan.notes)) == (2, ["a.md"])
