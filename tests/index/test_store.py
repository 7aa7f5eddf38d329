"""Opening the index file: created, rebuilt when it must be, waited for when it is in use."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from agentm_assets.index.schema import SCHEMA_VERSION
from agentm_assets.index.store import LOG_BYTES, IndexStore, get_meta, set_meta


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index" / "index.duckdb"


def index_id(store: IndexStore) -> str | None:
    with store.transaction() as connection:
        return get_meta(connection, "index_id")


def test_a_missing_index_is_created_and_kept(path: Path) -> None:
    first = index_id(IndexStore(path))
    assert first
    assert index_id(IndexStore(path)) == first


def test_an_error_inside_rolls_everything_back(path: Path) -> None:
    store = IndexStore(path)
    with pytest.raises(ZeroDivisionError), store.transaction() as connection:
        set_meta(connection, "mark", "x")
        raise ZeroDivisionError
    with store.transaction() as connection:
        assert get_meta(connection, "mark") is None


def damage_garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 500)


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_foreign(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")


def damage_newer(path: Path) -> None:
    with IndexStore(path).transaction() as connection:
        set_meta(connection, "schema_version", str(SCHEMA_VERSION + 1))


def damage_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [damage_garbage, damage_empty, damage_cut, damage_foreign, damage_newer, damage_folder],
)
def test_a_damaged_or_newer_index_is_rebuilt_loudly(path: Path, damage: object) -> None:
    store = IndexStore(path)
    before = index_id(store)
    assert callable(damage)
    damage(path)
    after = index_id(store)
    assert after and after != before
    assert store.rebuilt and "built anew" in store.rebuilt
    assert any(name.name.startswith("index.duckdb.unreadable") for name in path.parent.iterdir())


def log_of(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def test_a_small_change_goes_to_the_log_and_is_read_back(path: Path) -> None:
    store = IndexStore(path)
    with store.transaction() as connection:
        connection.execute("CREATE TABLE big AS SELECT i, i AS x FROM range(300000) t(i)")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CHECKPOINT")
    before = path.read_bytes()
    with store.transaction() as connection:
        set_meta(connection, "mark", "x")
    assert path.read_bytes() == before
    assert log_of(path).stat().st_size < 65_536
    with IndexStore(path).transaction() as connection:
        assert get_meta(connection, "mark") == "x"


def test_a_log_without_its_index_is_set_aside(path: Path) -> None:
    store = IndexStore(path)
    before = index_id(store)
    path.unlink()
    assert log_of(path).exists()
    assert index_id(store) not in (None, before)
    assert store.rebuilt and "log" in store.rebuilt


def test_a_damaged_log_is_rebuilt_loudly(path: Path) -> None:
    store = IndexStore(path)
    with store.transaction() as connection:
        connection.execute("CHECKPOINT")
    before = index_id(store)
    with store.transaction() as connection:
        set_meta(connection, "mark", "x")
    log = log_of(path)
    data = bytearray(log.read_bytes())
    for at in range(len(data) // 2, len(data)):
        data[at] ^= 0xFF
    log.write_bytes(data)
    after = index_id(store)
    # Either DuckDB stops at the damage, which leaves the state before it, or the index is new.
    assert after == before or (store.rebuilt and "built anew" in store.rebuilt)


HOLD = """
import sys
from pathlib import Path
from agentm_assets.index.store import IndexStore
with IndexStore(Path(sys.argv[1])).transaction():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_of_another_process_is_waited_for_and_never_taken_for_damage(path: Path) -> None:
    before = index_id(IndexStore(path))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout and holder.stdin
    assert holder.stdout.readline() == b"held\n"
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert waiter.stdout and waiter.stdin
    waiter.stdin.close()
    assert waiter.poll() is None
    holder.communicate(b"\n", timeout=30)
    assert waiter.stdout.readline() == b"held\n"
    assert waiter.wait(timeout=30) == 0
    waiter.stdout.close()
    store = IndexStore(path)
    assert index_id(store) == before
    assert store.rebuilt is None


def test_a_killed_writer_leaves_neither_its_rows_nor_a_lock(path: Path) -> None:
    store = IndexStore(path)
    before = index_id(store)
    program = HOLD.replace(
        "transaction():",
        "transaction() as c:\n    c.execute(\"INSERT INTO meta VALUES ('mark','x')\")",
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout and holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.communicate()
    with store.transaction() as connection:
        assert get_meta(connection, "mark") is None
        assert get_meta(connection, "index_id") == before


def test_a_long_log_is_folded_and_a_short_one_waits(path: Path) -> None:
    store = IndexStore(path)
    with store.transaction() as connection:
        connection.execute("INSERT INTO attachments SELECT md5(i::VARCHAR) FROM range(50_000) t(i)")
    assert log_of(path).stat().st_size > LOG_BYTES
    with store.transaction(last=True):
        pass
    assert not log_of(path).exists() or log_of(path).stat().st_size < LOG_BYTES
    folded = path.stat().st_size
    assert folded > 1_000_000
    with store.transaction(last=True) as connection:
        set_meta(connection, "mark", "x")
    assert log_of(path).stat().st_size > 0
    assert path.stat().st_size == folded
    with IndexStore(path).transaction() as connection:
        assert get_meta(connection, "mark") == "x"
        assert connection.execute("SELECT count(*) FROM attachments").fetchone() == (50_000,)


def test_folding_goes_well_beside_another_transaction_of_the_process(path: Path) -> None:
    store = IndexStore(path)
    index_id(store)
    with store.transaction() as other:
        set_meta(other, "mark", "x")
        with store.transaction(last=True) as connection:
            connection.execute(
                "INSERT INTO attachments SELECT md5(i::VARCHAR) FROM range(50_000) t(i)"
            )
    index_id(store)
    assert not log_of(path).exists() or log_of(path).stat().st_size < LOG_BYTES
    with store.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM attachments").fetchone() == (50_000,)
