"""Each check of the conformance suite fails on a backend that is wrong in its way, and only it."""

import sys
from itertools import count
from pathlib import Path

import pytest

from agentm_assets.storage.conformance import CHECKS, Store, check_rebuild, run
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.vault_backend import VaultBackend

sys.path.insert(0, str(Path(__file__).parent))

from broken_backends import (
    BROKEN,
    CountingRebuild,
    constant_rebuild,
    dropping_rebuild,
    namesonly_rebuild,
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda each: each.__name__)
def test_just_the_right_check_fails(broken: type[StorageBackend], tmp_path: Path) -> None:
    number = count()

    def new_store() -> Store:
        root = tmp_path / str(next(number))
        root.mkdir()
        return Store(broken, str(root), str(tmp_path / "locks"))

    # What processes do together goes by these two verbs; starting them takes a second a check.
    together = bool(vars(broken).keys() & {"read_bytes", "write_bytes"})
    checks = {name: check for name, check in CHECKS.items() if together or "writers" not in name}
    report = run(new_store, checks)
    assert set(report.failed) == BROKEN[broken], report.failed
    assert len(report.passed) == len(checks) - len(report.failed)


def test_every_check_has_a_backend_that_fails_it() -> None:
    assert set().union(*BROKEN.values()) == set(CHECKS)


@pytest.mark.parametrize(
    "rebuild",
    [constant_rebuild, dropping_rebuild, CountingRebuild(), namesonly_rebuild],
    ids=["constant", "dropping", "counting", "names only"],
)
def test_a_wrong_rebuild_is_noticed(rebuild: object, tmp_path: Path) -> None:
    store = Store(VaultBackend, str(tmp_path), str(tmp_path.parent / "locks"))
    with pytest.raises(AssertionError):
        check_rebuild(store, rebuild)  # type: ignore[arg-type]
