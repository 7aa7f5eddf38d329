"""Names of backends: what is refused, and what an unknown name gives."""

import pytest

from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.registry import BackendRegistry
from agentm_assets.storage.vault_backend import VaultBackend


def test_names_are_sorted_and_an_unknown_one_is_nothing() -> None:
    registry = BackendRegistry()
    assert registry.names() == ()
    registry.register("vault", VaultBackend)
    registry.register("device-local", DeviceLocalBackend)
    assert registry.names() == ("device-local", "vault")
    assert registry.get("vault") is VaultBackend
    assert registry.get("acme") is None


@pytest.mark.parametrize("wrong", [object, "VaultBackend", None, len])
def test_what_is_no_backend_is_refused(wrong: object) -> None:
    registry = BackendRegistry()
    with pytest.raises(TypeError, match="'acme' is no subclass"):
        registry.register("acme", wrong)
    assert registry.names() == ()


def test_an_empty_and_a_taken_name_are_refused() -> None:
    registry = BackendRegistry()
    for name in ("", "  "):
        with pytest.raises(ValueError, match="needs a name"):
            registry.register(name, VaultBackend)
    registry.register("vault", VaultBackend)
    with pytest.raises(ValueError, match="two storage backends are called 'vault'"):
        registry.register("vault", DeviceLocalBackend)
    assert registry.get("vault") is VaultBackend
