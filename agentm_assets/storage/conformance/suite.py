"""All checks, and running them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from agentm_assets.storage.conformance import places, swaps, verbs, writers
from agentm_assets.storage.conformance.rebuild import check_rebuild
from agentm_assets.storage.conformance.store import Check, NotPromised, Report, Store

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "locators": places.locators,
        "invalid locators": places.invalid_locators,
        "names": places.names,
        "personal space": places.personal,
        "absent": verbs.absent,
        "write and read": verbs.write_and_read,
        "bytes are exact": verbs.exact_bytes,
        "exists flips": verbs.exists_flips,
        "info": verbs.info,
        "limit": verbs.limit,
        "mkdir twice": verbs.mkdir_twice,
        "list children": verbs.list_children,
        "list of absent and file": verbs.list_of_absent_and_file,
        "walk": verbs.walk,
        "watch": verbs.watch,
        "handed to a process": verbs.handed_on,
        "compare and swap": swaps.compare_and_swap,
        "only when absent": swaps.only_when_absent,
        "rename": swaps.rename,
        "writers leave one whole payload": writers.whole_payload,
        "writers lose no update": writers.no_lost_update,
        "writers reserve a name once": writers.one_reservation,
        "derived rebuild": check_rebuild,
    }
)


def run(new_store: Callable[[], Store], checks: Mapping[str, Check] = CHECKS) -> Report:
    """Run the checks, each on a store of its own. `new_store` gives an empty one at each call.

    A check fails by AssertionError, or by any error of the backend that it did not expect.
    """
    passed: list[str] = []
    failed: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for name, check in checks.items():
        store = new_store()
        try:
            check(store)
        except NotPromised as reason:
            skipped[name] = str(reason)
        except Exception as fault:  # noqa: BLE001 - a broken backend may raise anything
            failed[name] = f"{type(fault).__name__}: {fault}"
        else:
            passed.append(name)
    return Report(tuple(passed), failed, skipped)
