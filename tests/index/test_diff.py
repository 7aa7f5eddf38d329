"""Which notes a pass works on, by set operations over scans and tables."""

from agentm_assets.index.diff import RACY_NS, KnownFile, diff
from agentm_assets.storage.vault import FileEntry

LONG_AGO = 10**9
NOW = 10**18


def known(path: str, size: int = 1, mtime_ns: int = LONG_AGO, built_for: str = "v1") -> KnownFile:
    return KnownFile(path, size, mtime_ns, built_for)


def on_disk(path: str, size: int = 1, mtime_ns: int = LONG_AGO) -> FileEntry:
    return FileEntry(path, size, mtime_ns)


def test_nothing_changed_is_nothing_to_do() -> None:
    found = diff([on_disk("a.md")], [known("a.md")], built_for="v1", last_pass_ns=NOW)
    assert (found.changed, found.suspects, found.deleted, found.unchanged) == ((), (), (), 1)


def test_new_grown_older_and_rebuilt_files_are_changed() -> None:
    found = diff(
        [
            on_disk("new.md"),
            on_disk("grown.md", size=2),
            on_disk("restored.md", mtime_ns=LONG_AGO - 5),
            on_disk("stale.md"),
            on_disk("same.md"),
        ],
        [
            known("grown.md"),
            known("restored.md"),
            known("stale.md", built_for="v0"),
            known("same.md"),
        ],
        built_for="v1",
        last_pass_ns=NOW,
    )
    assert found.changed == ("grown.md", "new.md", "restored.md", "stale.md")
    assert found.unchanged == 1


def test_a_broken_rules_file_makes_no_build_stale() -> None:
    found = diff(
        [on_disk("a.md")], [known("a.md", built_for="v0")], built_for=None, last_pass_ns=NOW
    )
    assert found.changed == ()


def test_a_file_that_could_not_be_read_is_tried_again() -> None:
    found = diff([on_disk("a.md")], [known("a.md", built_for="")], built_for=None, last_pass_ns=NOW)
    assert found.changed == ("a.md",)


def test_files_stamped_just_before_the_last_pass_are_suspects() -> None:
    at = NOW - RACY_NS + 1
    found = diff(
        [on_disk("fresh.md", mtime_ns=at), on_disk("old.md")],
        [known("fresh.md", mtime_ns=at), known("old.md")],
        built_for="v1",
        last_pass_ns=NOW,
    )
    assert (found.suspects, found.unchanged) == (("fresh.md",), 1)


def test_a_full_hash_pass_suspects_every_file() -> None:
    found = diff(
        [on_disk("a.md")], [known("a.md")], built_for="v1", last_pass_ns=NOW, hash_all=True
    )
    assert found.suspects == ("a.md",)


def test_deleted_files_are_those_not_on_disk_but_never_below_what_cannot_be_seen() -> None:
    found = diff(
        [],
        [known("gone.md"), known("locked/in.md"), known("locked.md"), known("lockedness/x.md")],
        built_for="v1",
        last_pass_ns=NOW,
        unknown=("locked", "locked.md"),
    )
    assert found.deleted == ("gone.md", "lockedness/x.md")


def test_an_empty_vault_and_an_empty_index_agree() -> None:
    found = diff([], [], built_for="v1", last_pass_ns=0)
    assert (found.changed, found.suspects, found.deleted, found.unchanged) == ((), (), (), 0)
