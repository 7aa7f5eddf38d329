"""From the configuration to the store: the named backend, or a refusal that names the cure.

Nothing is ever demoted to another backend. Standard library only, and no plugin is looked for
unless a foreign name is configured: a capture opens its store here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.vault import DEVICE_LOCAL, VaultLocation, locate
from agentm_assets.storage.registry import BackendRegistry
from agentm_assets.storage.seam import Capabilities, StorageBackend, StorageError

if TYPE_CHECKING:
    from agentm_assets.storage.vault import Vault

ENTRY_POINTS = "agentm.storage_backends"
"""The group under which a distribution declares a backend: `NAME = "module:Class"`."""

OWN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "device-local": ("agentm_assets.storage.device_local", "DeviceLocalBackend"),
        "fsspec": ("agentm_assets.storage.fsspec_backend", "FsspecBackend"),
        "vault": ("agentm_assets.storage.vault_backend", "VaultBackend"),
    }
)
"""The backends that come with agentm, known without looking for plugins."""


class StorageSelectionError(ConfigError):
    """The configured store can't be had; the text says why, and the cure."""


class CapabilityMismatchError(StorageSelectionError):
    """The store does not promise what is asked of it. `unmet` names every such flag."""

    def __init__(self, backend: str, unmet: tuple[str, ...]) -> None:
        super().__init__(
            f"the storage backend `{backend}` does not promise {', '.join(unmet)}. Choose one that "
            "does with `agentm config set storage.backend`, or drop that requirement."
        )
        self.unmet = unmet


@dataclass(frozen=True, slots=True)
class Preview:
    """What selecting would give. `message` has the words of the refusal, or says what is used."""

    ok: bool
    message: str
    backend: str | None = None
    capabilities: Capabilities | None = None


def select_backend(
    env: Mapping[str, str],
    *,
    vault: str | None = None,
    profile: str | None = None,
    required: Capabilities = Capabilities(),  # noqa: B008 - frozen
) -> StorageBackend:
    """The store that the configuration names. Raises ConfigError (StorageSelectionError,
    CapabilityMismatchError) and StorageError, each with its cure."""
    backend = open_backend(locate(env, vault=vault, profile=profile))
    unmet = backend.capabilities.unmet(required)
    if unmet:
        raise CapabilityMismatchError(backend.name, unmet)
    return backend


def storage_preview(
    env: Mapping[str, str],
    *,
    vault: str | None = None,
    profile: str | None = None,
    required: Capabilities = Capabilities(),  # noqa: B008 - frozen
) -> Preview:
    """What `select_backend` would say, in its words. Changes nothing and raises nothing."""
    try:
        backend = select_backend(env, vault=vault, profile=profile, required=required)
    except (ConfigError, StorageError) as error:
        return Preview(False, str(error))
    promised = [name for name in capability_names() if getattr(backend.capabilities, name)]
    return Preview(
        True,
        f"{backend.name} at {backend.identity}, promises: {', '.join(promised) or 'nothing'}",
        backend.name,
        backend.capabilities,
    )


def open_backend(location: VaultLocation) -> StorageBackend:
    """The store at a location. Raises StorageSelectionError, StorageError."""
    kind = backend_class(location.backend)
    if location.backend == DEVICE_LOCAL and location.is_default:
        from agentm_assets.storage.device_local import DeviceLocalBackend

        return DeviceLocalBackend(location.root, location.locks_dir, fresh=True)
    return kind.open(location.store, str(location.locks_dir))


def open_vault(location: VaultLocation) -> "Vault":
    """The notes at a location, for reading. Raises as `open_backend`."""
    from agentm_assets.storage.vault import Vault  # more than a capture needs

    return Vault(open_backend(location))


def backend_class(name: str) -> type[StorageBackend]:
    """What the name stands for. Raises StorageSelectionError for an unknown name, and for a
    plugin that can't be imported or brings no backend."""
    own = OWN.get(name)
    if own is not None:
        return cast("type[StorageBackend]", getattr(import_module(own[0]), own[1]))
    registry = _with_plugins(name)
    found = registry.get(name)
    if found is None:
        raise StorageSelectionError(
            f"the storage backend `{name}` is not registered; registered are: "
            f"{', '.join(backend_names())}. Install the plugin that brings it, or set "
            "storage.backend to one of those."
        )
    return found


def backend_names() -> tuple[str, ...]:
    """Every name that can be configured here, sorted. Plugins are named, not imported."""
    from importlib.metadata import entry_points

    return tuple(sorted({*OWN, *entry_points(group=ENTRY_POINTS).names}))


def capabilities_named(names: Iterable[str]) -> Capabilities:
    """Raises StorageSelectionError for a name that is no capability."""
    wanted = [name.strip() for name in names if name.strip()]
    unknown = sorted(set(wanted) - set(capability_names()))
    if unknown or not wanted:
        raise StorageSelectionError(
            f"{', '.join(unknown) or 'an empty list'} names no capability of a store; there are: "
            f"{', '.join(capability_names())}."
        )
    return Capabilities(**dict.fromkeys(wanted, True))


def capability_names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Capabilities))


def _with_plugins(name: str) -> BackendRegistry:
    """A registry with what the plugins declare under one name."""
    from importlib.metadata import entry_points

    registry = BackendRegistry()
    for point in entry_points(group=ENTRY_POINTS, name=name):
        try:
            loaded = point.load()
        except (ImportError, AttributeError) as error:
            raise StorageSelectionError(
                f"the plugin of the storage backend `{name}` ({point.value}) can't be imported: "
                f"{error}. Install it anew, or set storage.backend to another."
            ) from error
        try:
            registry.register(name, loaded)
        except (TypeError, ValueError) as error:
            raise StorageSelectionError(
                f"the plugin {point.value} can't be used: {error}. Remove it, or ask its authors."
            ) from error
    return registry
