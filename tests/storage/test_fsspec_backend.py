"""A vault in object storage: what goes wrong there, races, and indexing one."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from s3fs import S3FileSystem

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.vault import locate
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.index.reconcile import ReconcileOptions, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.fsspec_backend import MOST_BYTES, FsspecBackend
from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import (
    ABSENT,
    ConcurrentModificationError,
    StorageError,
    StoreUnreachable,
    WriteRefused,
    content_hash,
)
from agentm_assets.storage.selection import open_vault, storage_preview

sys.path.insert(0, str(Path(__file__).parent))

from object_server import BUCKET, team_notes

PLACE = Locator("Agent/memory/a.md")


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """A client of the server behind the product's back."""
    with team_notes() as client:
        yield client


@pytest.fixture
def store(bucket: Any, tmp_path: Path) -> FsspecBackend:
    return FsspecBackend.open(f"s3://{BUCKET}/{tmp_path.name}", str(tmp_path / "locks"))


def test_a_put_between_reading_and_writing_is_not_overwritten(
    store: FsspecBackend, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine writes after the bytes were compared: the condition of the put holds it."""
    held = store.write(PLACE, "read")
    real = store._tagged

    def meanwhile(locator: Locator) -> tuple[bytes, str]:
        found = real(locator)
        bucket.put_object(Bucket=BUCKET, Key=f"{tmp_path.name}/{PLACE}", Body=b"from elsewhere")
        return found

    monkeypatch.setattr(store, "_tagged", meanwhile)
    with pytest.raises(ConcurrentModificationError):
        store.write(PLACE, "by a pass", expect=held)
    assert store.read(PLACE) == "from elsewhere"


def test_a_deletion_between_reading_and_writing_is_a_lost_race(
    store: FsspecBackend, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = store.write(PLACE, "read")
    real = store._tagged

    def meanwhile(locator: Locator) -> tuple[bytes, str]:
        found = real(locator)
        bucket.delete_object(Bucket=BUCKET, Key=f"{tmp_path.name}/{PLACE}")
        return found

    monkeypatch.setattr(store, "_tagged", meanwhile)
    with pytest.raises(ConcurrentModificationError):
        store.write(PLACE, "by a pass", expect=held)
    assert not store.exists(PLACE)


def test_a_move_does_not_take_away_what_was_written_meanwhile(
    store: FsspecBackend, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = store.write(PLACE, "moved")
    real = store._tagged

    def meanwhile(locator: Locator) -> tuple[bytes, str]:
        found = real(locator)
        bucket.put_object(Bucket=BUCKET, Key=f"{tmp_path.name}/{PLACE}", Body=b"from elsewhere")
        return found

    monkeypatch.setattr(store, "_tagged", meanwhile)
    with pytest.raises(StorageError):
        store.rename_unlinked(PLACE, Locator("b.md"), expect=held)
    assert store.read(PLACE) == "from elsewhere"


def test_what_others_put_there_is_met_as_on_a_disk(
    store: FsspecBackend, bucket: Any, tmp_path: Path
) -> None:
    for key in ("a.md", ".hidden.md", ".obsidian/x.md", "sub/.agentm-1.tmp", "sub/b.md", "x\\y.md"):
        bucket.put_object(Bucket=BUCKET, Key=f"{tmp_path.name}/{key}", Body=b"x")
    assert store.list(ROOT) == [Locator("a.md"), Locator("sub")]
    assert {entry.path: entry.kind for entry in store.walk(ROOT)} == {
        ".hidden.md": "hidden",
        "a.md": "file",
        "sub/.agentm-1.tmp": "hidden",
        "sub/b.md": "file",
        "x\\y.md": "nameless",
    }


def test_a_bucket_that_is_gone_is_said_and_never_made(bucket: Any, tmp_path: Path) -> None:
    store = FsspecBackend.open("s3://no-such-bucket/notes", str(tmp_path / "locks"))
    for expect in (None, ABSENT):
        with pytest.raises(StoreUnreachable, match="no-such-bucket"):
            store.write(PLACE, "x", expect=expect)
    for look in (store.read, store.info, store.exists, store.list):
        with pytest.raises(StoreUnreachable):
            look(PLACE)
    with pytest.raises(StoreUnreachable):
        list(store.walk(ROOT))
    assert [each["Name"] for each in bucket.list_buckets()["Buckets"]] == [BUCKET]


def test_a_server_that_is_not_there_is_said(
    bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # discard, RFC 863: nobody listens
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    S3FileSystem.clear_instance_cache()
    monkeypatch.setattr(S3FileSystem, "retries", 1)
    store = FsspecBackend.open("s3://elsewhere/notes", str(tmp_path / "locks"))
    with pytest.raises(StoreUnreachable, match="check the network"):
        store.read(PLACE)
    with pytest.raises(StoreUnreachable):
        store.write(PLACE, "x", expect=ABSENT)
    S3FileSystem.clear_instance_cache()


def test_a_write_that_would_go_up_in_parts_is_refused(tmp_path: Path) -> None:
    store = FsspecBackend.open("memory://parts", str(tmp_path / "locks"))
    with pytest.raises(WriteRefused, match="split it"):
        store.write_bytes(PLACE, bytes(MOST_BYTES + 1))


def test_without_the_package_the_cure_is_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsspec.registry import _registry

    monkeypatch.delitem(_registry, "s3", raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    env = {"HOME": str(tmp_path), "AGENTM_VAULT": "s3://team-notes/notes"}
    preview = storage_preview(env)
    assert not preview.ok
    assert "pip install 'agentm[s3]'" in preview.message


def test_writers_of_one_machine_take_turns_where_the_store_has_no_conditions(
    tmp_path: Path,
) -> None:
    store = FsspecBackend.open("memory://turns", str(tmp_path / "locks"))
    assert not store.capabilities.concurrent_writers
    store.write(PLACE, "x", expect=ABSENT)
    assert list((tmp_path / "locks").iterdir()), "the vault's lock was not taken"


@pytest.mark.parametrize("scheme", ["memory", "s3"])
def test_a_vault_in_a_url_is_indexed(bucket: Any, tmp_path: Path, scheme: str) -> None:
    place = BUCKET if scheme == "s3" else "indexed"
    env = {"HOME": str(tmp_path), "AGENTM_VAULT": f"{scheme}://{place}/{tmp_path.name}"}
    location = locate(env)
    vault = open_vault(location)
    for name in ("kettle", "lid"):
        vault.store.write(Locator(f"Agent/memory/semantic/{name}.md"), f"# {name}\n\nText.\n")
    vault.store.write(Locator("standards/storage-rules.md"), "no rules\n")
    with pytest.raises(RulesError, match=f"{tmp_path.name}/standards/storage-rules.md"):
        load_rules(vault, {})
    tables = IndexStore(location.duckdb_file)
    lock = location.index_dir / "tables.lock"

    def index() -> tuple[int, int, int]:
        done = reconcile(vault, tables, None, ReconcileOptions(hash_all=True), lock_file=lock)
        return done.notes, done.changed, done.deleted

    assert index() == (3, 3, 0)
    held = content_hash(b"# lid\n\nText.\n")
    vault.store.write(Locator("Agent/memory/semantic/lid.md"), "# lid\n\nOther.\n", expect=held)
    assert index() == (3, 1, 0)
    assert not location.root.exists()


def test_a_url_in_the_variable_of_the_source_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        locate({"HOME": str(tmp_path), "MEMORY_VAULT_PATH": "s3://bucket/x"})
