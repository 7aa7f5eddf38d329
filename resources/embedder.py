"""The embedding model that the configuration names, exported on first use."""

import dagster as dg
from pydantic import PrivateAttr

from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import ensure_exported, source_model_id
from agentm_assets.models.weights import locate
from resources.workspace import WorkspaceResource


class EmbedderResource(dg.ConfigurableResource[None]):
    """Opens the embedder. `enabled` False leaves all vectors out: recall is lexical then."""

    workspace: dg.ResourceDependency[WorkspaceResource]
    enabled: bool = True
    _opened: Embedder | None = PrivateAttr(default=None)

    def model_id(self) -> str | None:
        """Which vectors count as current, without opening the model; None when switched off."""
        if not self.enabled:
            return None
        return source_model_id(locate(self.workspace.settings().embedder_model))

    def open(self) -> Embedder | None:
        """The embedder, or None when embedding is switched off. One run opens it once.

        Raises ModelUnavailable, WeightsRefused, ExportFailed or ModelFolderUnusable.
        """
        if not self.enabled:
            return None
        if self._opened is None:
            settings = self.workspace.settings()
            source = locate(settings.embedder_model)
            self._opened = Embedder.open(ensure_exported(source, settings.cache_dir))
        return self._opened
