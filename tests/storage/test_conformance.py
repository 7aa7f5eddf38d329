"""The conformance suite on every backend that comes with agentm."""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from agentm_assets.routing.conformance import check_routing_registry
from agentm_assets.storage.conformance import CHECKS, Store
from agentm_assets.storage.conformance.store import NotPromised
from agentm_assets.storage.device_local import DeviceLocalBackend
from agentm_assets.storage.fsspec_backend import FsspecBackend
from agentm_assets.storage.vault_backend import VaultBackend

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)  # processes that the checks start find the modules beside this file, too

from object_server import BUCKET, team_notes  # noqa: E402

BACKENDS = ["device-local", "vault", "fsspec memory", "fsspec s3"]
PLACES = count()


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    with team_notes():
        yield f"s3://{BUCKET}"


@pytest.fixture
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Store]:
    def make(backend: str) -> Store:
        name, locks = f"store-{next(PLACES)}", str(tmp_path / "locks")
        if backend == "fsspec memory":
            return Store(FsspecBackend, f"memory://{name}", locks)
        if backend == "fsspec s3":
            url: str = request.getfixturevalue("s3_url")
            return Store(FsspecBackend, f"{url}/{name}", locks)
        root = tmp_path / name
        root.mkdir()
        kind = VaultBackend if backend == "vault" else DeviceLocalBackend
        return Store(kind, str(root), locks)

    return make


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_conforms(backend: str, check: str, new_store: Callable[[str], Store]) -> None:
    store = new_store(backend)
    promises = store.open().capabilities.concurrent_writers
    try:
        CHECKS[check](store)
    except NotPromised:
        assert not promises
    else:
        assert promises or "writers" not in check


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_old_registry_that_it_holds_is_used(
    backend: str, new_store: Callable[[str], Store], tmp_path: Path
) -> None:
    (tmp_path / "engine").mkdir()
    check_routing_registry(new_store(backend).open, tmp_path / "engine")
