"""The embedding model, loaded beside the work: a server answers by words meanwhile."""

import threading
from pathlib import Path

from agentm_assets.models.manifest import ModelFolderUnusable
from agentm_assets.recall.arms import QuestionEmbedder


class BackgroundEmbedder:
    """A loader for `WarmSources`: the first call starts the loading and says "not yet"."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._loaded: QuestionEmbedder | None = None

    def __call__(self, folder: Path) -> QuestionEmbedder | None:
        """The model; None while it loads. Raises ModelFolderUnusable."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._load, args=(folder,), name="agentm-embedder", daemon=True
            )
            self._thread.start()
            return None
        if self._thread.is_alive():
            return None
        loaded, self._loaded = self._loaded, None
        return loaded if loaded is not None else _open(folder)

    def _load(self, folder: Path) -> None:
        try:
            self._loaded = _open(folder)
        except ModelFolderUnusable:
            return  # the next call opens it itself, and the error reaches whoever asked


def _open(folder: Path) -> QuestionEmbedder:
    from agentm_assets.models.embedder import Embedder

    return Embedder.open(folder, threads=1)
