"""The Dagster resource: what it opens, and that its calls are counted."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from asking import question
from model_servers import openai_server

from resources.models import ModelsResource
from resources.workspace import WorkspaceResource


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelsResource:
    (tmp_path / "vault").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "AGENTM_MODEL", "AGENTM_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return ModelsResource(workspace=WorkspaceResource(vault=str(tmp_path / "vault")))


def test_a_tier_of_the_configuration_is_opened_and_its_calls_are_counted(
    models: ModelsResource, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not models.open().is_configured
    with openai_server() as server:
        monkeypatch.setenv("AGENTM_MODEL", f"openai-compatible/m@{server.url}")
        tiers = models.open()
        log = models.spend_log(tiers)
        now = datetime(2026, 3, 4, tzinfo=UTC)
        provider = models.metered(tiers, "strong", log, pass_name="p", run_id="r", now=lambda: now)
        assert provider is not None
        provider.ask(question(), timeout=10)
        assert log.totals(date(2026, 3, 4))[date(2026, 3, 4), "strong"].tokens == 1200


def test_switched_off_it_opens_nothing(
    models: ModelsResource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTM_MODEL", "command/cat")
    assert models.open().is_configured
    off = ModelsResource(workspace=models.workspace, enabled=False)
    tiers = off.open()
    assert (tiers.is_configured, tiers.strong) == (False, None)
    assert off.metered(tiers, "strong", off.spend_log(tiers), pass_name="p", run_id="r") is None
