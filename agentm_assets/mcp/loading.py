"""Models, loaded beside the work: a server answers without them meanwhile."""

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from agentm_assets.models.manifest import ModelFolderUnusable

P = ParamSpec("P")
M = TypeVar("M")


class BackgroundLoader(Generic[P, M]):
    """A loader for `WarmSources`: the first call starts the loading and says "not yet"."""

    def __init__(self, open_model: Callable[P, M]) -> None:
        self._open = open_model
        self._thread: threading.Thread | None = None
        self._loaded: M | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> M | None:
        """The model; None while it loads. Raises ModelFolderUnusable."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._load, args=args, kwargs=kwargs, name="agentm-model", daemon=True
            )
            self._thread.start()
            return None
        if self._thread.is_alive():
            return None
        loaded, self._loaded = self._loaded, None
        return loaded if loaded is not None else self._open(*args, **kwargs)

    def _load(self, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            self._loaded = self._open(*args, **kwargs)
        except ModelFolderUnusable:
            return  # the next call opens it itself, and the error reaches whoever asked
