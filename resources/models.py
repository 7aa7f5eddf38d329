"""The models that judge, as the configuration names them."""

import os
from collections.abc import Callable
from datetime import UTC, datetime

import dagster as dg

from agentm_assets.models.metered import MeteredProvider
from agentm_assets.models.protocol import Tier
from agentm_assets.models.spend import SpendLog
from agentm_assets.models.tiers import Tiers, open_tiers
from resources.workspace import WorkspaceResource


class ModelsResource(dg.ConfigurableResource[None]):
    """Opens the tiers. `enabled` False: no model is asked whatever is configured."""

    workspace: dg.ResourceDependency[WorkspaceResource]
    enabled: bool = True

    def open(self) -> Tiers:
        """The tiers; asks nobody. Raises ConfigError."""
        if not self.enabled:
            return Tiers(None, None, ("models are switched off for this run.",), {}, {})
        return open_tiers(self.workspace.settings(), os.environ)

    def spend_log(self, tiers: Tiers) -> SpendLog:
        return tiers.spend_log(self.workspace.settings())

    def metered(
        self,
        tiers: Tiers,
        tier: Tier,
        log: SpendLog,
        *,
        pass_name: str,
        run_id: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> MeteredProvider | None:
        """A tier whose calls are counted against its line, None where it can't be had."""
        provider = tiers.provider(tier)
        if provider is None:
            return None
        return MeteredProvider(provider, tier, log, pass_name=pass_name, run_id=run_id, now=now)
