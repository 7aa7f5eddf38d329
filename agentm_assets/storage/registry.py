"""Which backend a name stands for."""

from agentm_assets.storage.seam import StorageBackend


class BackendRegistry:
    """Names of backends and their classes."""

    def __init__(self) -> None:
        self._classes: dict[str, type[StorageBackend]] = {}

    def register(self, name: str, backend: object) -> None:
        """Raises TypeError for what is no class of StorageBackend, ValueError for a name that is
        empty or taken."""
        if not (isinstance(backend, type) and issubclass(backend, StorageBackend)):
            raise TypeError(f"the storage backend {name!r} is no subclass of StorageBackend")
        if not name.strip():
            raise ValueError("a storage backend needs a name")
        if name in self._classes:
            raise ValueError(f"two storage backends are called {name!r}; remove one of them")
        self._classes[name] = backend

    def get(self, name: str) -> type[StorageBackend] | None:
        """The class of that name; None when nothing has it."""
        return self._classes.get(name)

    def names(self) -> tuple[str, ...]:
        """Sorted."""
        return tuple(sorted(self._classes))
