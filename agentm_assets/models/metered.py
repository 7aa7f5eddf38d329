"""A provider whose calls are entered in the spend log, and refused over the day's line."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from agentm_assets.models.protocol import (
    BatchProvider,
    BatchResult,
    BatchState,
    ModelError,
    ModelReply,
    ModelRequest,
    Provider,
    Tier,
)
from agentm_assets.models.spend import SpendLog


class MeteredProvider:
    """The same provider, for one pass in one run. `now`: the wall clock."""

    def __init__(
        self,
        provider: Provider,
        tier: Tier,
        log: SpendLog,
        *,
        pass_name: str,
        run_id: str,
        now: Callable[[], datetime],
    ) -> None:
        self._provider = provider
        self._tier: Tier = tier
        self._log = log
        self._pass_name = pass_name
        self._run_id = run_id
        self._now = now

    @property
    def model_id(self) -> str:
        return self._provider.model_id

    @property
    def batches(self) -> BatchProvider | None:
        held = self._provider.batches
        return None if held is None else _MeteredBatches(held, self)

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises OverTheLine instead of asking, ModelError, and OSError when the log can't be
        read or written: nothing is spent uncounted."""
        self.require_below_line()
        try:
            reply = self._provider.ask(request, timeout=timeout)
        except ModelError as error:
            self.enter(error, in_batch=False)
            raise
        self.enter(reply, in_batch=False)
        return reply

    def reachable(self, *, timeout: float) -> str | None:
        return self._provider.reachable(timeout=timeout)

    def require_below_line(self) -> None:
        self._log.require_below_line(self._tier, self._now())

    def enter(self, outcome: ModelReply | ModelError, *, in_batch: bool) -> None:
        self._log.record(
            self._tier,
            outcome,
            model_id=self.model_id,
            pass_name=self._pass_name,
            run_id=self._run_id,
            now=self._now(),
            in_batch=in_batch,
        )


class _MeteredBatches:
    """What a batch used is entered as its results are read, each time that they are."""

    def __init__(self, batches: BatchProvider, meter: MeteredProvider) -> None:
        self._batches = batches
        self._meter = meter

    def submit(self, requests: Sequence[ModelRequest], *, timeout: float) -> str:
        self._meter.require_below_line()
        return self._batches.submit(requests, timeout=timeout)

    def find(self, keys: Sequence[str], *, since: datetime, timeout: float) -> str | None:
        return self._batches.find(keys, since=since, timeout=timeout)

    def state(self, batch_id: str, *, timeout: float) -> BatchState:
        return self._batches.state(batch_id, timeout=timeout)

    def results(self, batch_id: str, *, timeout: float) -> Iterator[BatchResult]:
        for result in self._batches.results(batch_id, timeout=timeout):
            outcome = result.reply or result.error
            if outcome is not None:
                self._meter.enter(outcome, in_batch=True)
            yield result
