"""What one run may spend."""

from collections.abc import Callable

from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.extract.tokens import estimated_tokens
from agentm_assets.models.protocol import ModelRequest


class Budget:
    """Calls, tokens and wall time of one run; None: no limit.

    Counted before a call is made, so that no run goes over. The judge's own calls (grounding) count
    as any other. `clock` gives seconds that never run backwards.
    """

    def __init__(
        self,
        calls: int | None,
        tokens: int | None,
        seconds: float | None,
        clock: Callable[[], float],
    ) -> None:
        self._calls = calls
        self._tokens = tokens
        self._seconds = seconds
        self._clock = clock
        self._started = clock()
        self.calls_used = 0
        self.tokens_used = 0

    def take(self, estimate: int) -> Refusal | None:
        """Take one call of `estimate` tokens, or say why it must wait for the next run."""
        if self._calls is not None and self.calls_used + 1 > self._calls:
            return _refusal("calls", f"the {self._calls:,} calls of this run are used up")
        if self._tokens is not None and self.tokens_used + estimate > self._tokens:
            return _refusal("tokens", f"the {self._tokens:,} tokens of this run are used up")
        if self._seconds is not None and self._clock() - self._started >= self._seconds:
            return _refusal("seconds", f"the {self._seconds:g} seconds of this run are over")
        self.calls_used += 1
        self.tokens_used += estimate
        return None

    def settle(self, estimate: int, used: int) -> None:
        """Put what a call really used in the place of its estimate."""
        self.tokens_used += used - estimate


def estimate_of(request: ModelRequest) -> int:
    """The tokens that a request may use: what is sent, and the most that may come back."""
    return (
        estimated_tokens(request.system)
        + estimated_tokens(request.user)
        + request.max_output_tokens
    )


def _refusal(code: str, detail: str) -> Refusal:
    return Refusal("budget", f"budget-{code}", f"{detail}; the note waits for the next run")
