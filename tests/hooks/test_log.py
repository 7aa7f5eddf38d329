"""What hooks could not do is kept for the operator."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentm_assets.config.vault import locate
from agentm_assets.hooks.log import LOG, failures_since, record_failure

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


def test_failures_of_the_last_days_are_counted(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    location = locate({"HOME": str(tmp_path), "AGENTM_VAULT": str(tmp_path / "vault")})
    assert failures_since(location, timedelta(days=7), NOW) == []
    record_failure(location, "prompt", "too old", NOW - timedelta(days=8))
    record_failure(location, "prompt", "no index", NOW - timedelta(days=1))
    with (location.log_dir / LOG).open("ab") as file:
        file.write(b'{"torn\n[]\n')
    record_failure(location, "session-end", "x" * 5_000, NOW)
    found = failures_since(location, timedelta(days=7), NOW)
    assert [(each.hook, each.reason[:8]) for each in found] == [
        ("prompt", "no index"),
        ("session-end", "xxxxxxxx"),
    ]
    assert len(found[1].reason) == 500
