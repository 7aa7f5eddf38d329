"""What a stage is through with, and why the rest waits."""

from pathlib import Path

import pytest

from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import processed
from agentm_assets.ledger.processed import Processed

ROW = Processed("s", "a", "v1", "r1", "in", "out", "done", "", "2026-08-14T02:00:00Z")


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "index.duckdb")


@pytest.mark.parametrize(
    ("row", "key", "version", "rules", "why"),
    [
        (None, "in", "v1", "r1", "never"),
        (ROW, "in", "v1", "r1", None),
        (ROW, "out", "v1", "r1", None),
        (ROW, "other", "v1", "r1", "changed"),
        (ROW, "in", "v2", "r1", "stale-pass"),
        (ROW, "in", "v1", "r2", "stale-rules"),
        (ROW, "", "v1", "r1", "changed"),
        (Processed("s", "a", "v1", "r1", "", "", "done", "", ""), "", "v1", "r1", "changed"),
        (Processed("s", "a", "v1", "r1", "in", "", "failed", "x", ""), "in", "v1", "r1", "retry"),
        (
            Processed("s", "a", "v1", "r1", "in", "", "skipped", "x", ""),
            "in",
            "v1",
            "r1",
            "skipped",
        ),
    ],
)
def test_why_a_target_waits(
    row: Processed | None, key: str, version: str, rules: str, why: str | None
) -> None:
    assert processed.pending(row, key, version, rules) == why


def test_the_share_of_a_stage(store: IndexStore) -> None:
    with store.transaction() as connection:
        assert processed.share(connection, "s", {}, "v1", "r1").share == 1.0
        processed.enter(connection, [ROW, ROW])
        share = processed.share(connection, "s", {"a": "out", "b": "x"}, "v1", "r1")
        assert (share.population, share.current, dict(share.pending)) == (2, 1, {"never": 1})
        assert share.share == 0.5
        assert processed.counted(connection) == {"s": {"done": 1}}
        processed.forget(connection, "s", ["a"])
        assert processed.rows_of(connection, "s") == {}
