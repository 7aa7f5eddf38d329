"""What every storage backend must do, as checks that a plugin can import and run on its own.

    from agentm_assets.storage.conformance import Store, run
    report = run(lambda: Store(MyBackend, root=new_empty_place(), locks_dir=folder))
    assert not report.failed

`check_routing_registry` in `agentm_assets.routing.conformance` is one more, of the room above.
"""

from agentm_assets.storage.conformance.rebuild import check_rebuild
from agentm_assets.storage.conformance.store import Report, Store
from agentm_assets.storage.conformance.suite import CHECKS, run

__all__ = ["CHECKS", "Report", "Store", "check_rebuild", "run"]
