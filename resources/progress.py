"""How long work tells where it stands: to the run's log, or to a terminal that the CLI gives."""

import time
from collections.abc import Callable

import dagster as dg

LOG_EVERY_SECONDS = 5.0


class ProgressReporter:
    """Stages report here. The default writes to the run's log, at most every five seconds."""

    def __init__(self, listener: Callable[[str, int, int], None] | None = None) -> None:
        self._listener = listener

    def for_run(self, context: dg.AssetExecutionContext) -> Callable[[str, int, int], None]:
        """A callback for one step."""
        if self._listener is not None:
            return self._listener
        last = 0.0

        def log(stage: str, done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LOG_EVERY_SECONDS and stage != "scan":
                last = now
                context.log.info(f"{stage}: {done:,} of {total:,}")

        return log
