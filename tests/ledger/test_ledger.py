"""The ledger: rows in the place of rows, cursors, counts."""

from pathlib import Path

import pytest

from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import ledger
from agentm_assets.ledger.ledger import LedgerRow


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "index.duckdb")


def row(target: str, stage: str = "s", version: str = "v1", outcome: str = "done") -> LedgerRow:
    return LedgerRow(stage, target, "print", version, "rules", f"2026-01-0{len(target)}", outcome)


def test_a_row_takes_the_place_of_the_one_before(store: IndexStore) -> None:
    with store.transaction() as connection:
        ledger.enter(connection, [row("a"), row("b"), row("a", stage="other")])
        ledger.enter(connection, [row("a", version="v2"), row("a", version="v3")])
        ledger.enter(connection, [])
    with store.transaction() as connection:
        assert ledger.rows_of(connection, "s") == {"a": row("a", version="v3"), "b": row("b")}
        assert set(ledger.rows_of(connection, "other")) == {"a"}
        ledger.forget(connection, "s", ["a", "nobody"])
        assert set(ledger.rows_of(connection, "s")) == {"b"}
        assert set(ledger.rows_of(connection, "other")) == {"a"}


def test_a_cursor_is_kept_for_each_stage_and_cleared(store: IndexStore) -> None:
    with store.transaction() as connection:
        assert ledger.read_cursor(connection, "s") is None
        ledger.set_cursor(connection, "s", "2026\0note.md")
        ledger.set_cursor(connection, "other", "z")
        ledger.set_cursor(connection, "s", "2027\0note.md")
    with store.transaction() as connection:
        assert ledger.read_cursor(connection, "s") == "2027\0note.md"
        ledger.set_cursor(connection, "s", None)
        assert ledger.read_cursor(connection, "s") is None
        assert ledger.read_cursor(connection, "other") == "z"


def test_outcomes_are_counted_by_code(store: IndexStore) -> None:
    with store.transaction() as connection:
        ledger.enter(
            connection,
            [row("a"), row("bb", version="v0"), row("ccc", outcome="schema"), row("d", "other")],
        )
        assert ledger.counted(connection, "s") == {"done": 2, "schema": 1}
