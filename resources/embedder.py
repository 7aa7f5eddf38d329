"""The embedding model that the configuration names, exported on first use."""

import dagster as dg

from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import ensure_exported
from resources.workspace import WorkspaceResource


class EmbedderResource(dg.ConfigurableResource[None]):
    """Opens the embedder. `enabled` False leaves all vectors out: recall is lexical then."""

    workspace: dg.ResourceDependency[WorkspaceResource]
    enabled: bool = True

    def open(self) -> Embedder | None:
        """The embedder, or None when embedding is switched off.

        Raises ModelError when the weights can't be used.
        """
        if not self.enabled:
            return None
        settings = self.workspace.settings()
        folder = ensure_exported(settings.embedder_model, settings.location.models_dir)
        return Embedder.open(folder)
