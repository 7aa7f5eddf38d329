"""Asking the strong model at night: by batch where it has one, within the night's budget, once.

What was paid for is kept on this machine until it is written (`enrichment.answers`), and a batch
that was handed over is known before and after (`enrichment.batches`). So a question that is in a
batch, or was answered, is never asked again, however often a night is killed: its answer is taken
up in whichever night it is there.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.inputs import is_open
from agentm_assets.dreaming.night import Night
from agentm_assets.enrichment.answers import KeptAnswers
from agentm_assets.enrichment.batches import Batches
from agentm_assets.enrichment.gates.budget import Budget, estimate_of
from agentm_assets.enrichment.judges import HandedOver
from agentm_assets.enrichment.model_judge import Asker, ClosedToModels
from agentm_assets.models.metered import MeteredProvider
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    Provider,
    Tier,
    Usage,
)
from agentm_assets.models.spend import OverTheLine, SpendLog
from agentm_assets.models.tiers import Tiers

Why = Literal["no-model", "in-batch", "budget", "unavailable", "misconfigured", "unusable"]

_MOST_SILENT: Final = 3
"""Questions in a row that nobody answered, after which the rest of the night waits."""


@dataclass(frozen=True, slots=True)
class Pending:
    """There is no answer yet. `is_final`: none will come to this very question."""

    why: Why
    detail: str

    @property
    def is_final(self) -> bool:
        return self.why == "unusable"


@dataclass(slots=True)
class Asked:
    """What a night used: calls that were made at once, questions that went into a batch, answers
    that were taken up from earlier, and tokens of both kinds of call."""

    calls: int = 0
    handed_over: int = 0
    taken_up: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    pending: dict[Why, int] = field(default_factory=dict)


class Asking:
    """One model over one night. `asker` None: there is none, `why_not` says why."""

    def __init__(
        self,
        asker: Asker | None,
        kept: KeptAnswers,
        budget: Budget,
        rules: LoadedRules,
        *,
        batches: Batches | None = None,
        why_not: str = "no model is configured",
    ) -> None:
        self._asker = asker
        self._kept = kept
        self._budget = budget
        self._rules = rules
        self._batches = batches
        self._closed: Pending | None = None if asker else Pending("no-model", why_not)
        self._silent = 0
        self.used = Asked()
        self._details: dict[str, None] = {}
        if batches is not None:
            batches.collect()

    @property
    def model_id(self) -> str | None:
        """Whose answers are taken up; None without a model."""
        return None if self._asker is None else self._asker.provider.model_id

    @property
    def answers_at_once(self) -> bool:
        """Whether there is a model that answers in the same night, because it has no batches."""
        return self._asker is not None and self._batches is None

    def stamp(self, version: str) -> str | None:
        """What `enriched_by` holds of a page with words of this model: the model and the version
        of the stage; None without a model."""
        return None if self.model_id is None else f"{self.model_id}+{version}"

    @property
    def spent(self) -> dict[str, int | float]:
        """What was used, for the record of the night."""
        used = self.used
        tokens = used.input_tokens + used.output_tokens
        if not (used.calls or used.handed_over or used.taken_up or tokens):
            return {}
        return {
            "calls": used.calls,
            "in_batch": used.handed_over,
            "taken_up": used.taken_up,
            "tokens": tokens,
            "cost": round(used.cost, 6),
        }

    def ask(self, request: ModelRequest, about: Collection[str]) -> ModelReply | Pending:
        """The answer to the question, or why there is none yet. `about`: the vault-relative paths
        of all notes whose text is in it.

        Raises ClosedToModels when one of them lies where no model may look: nothing is sent then.
        Raises OSError when the logs of this machine can't be used.
        """
        self._require_open(about)
        found = self._asked(request)
        if isinstance(found, Pending):
            self.used.pending[found.why] = self.used.pending.get(found.why, 0) + 1
            if found.why not in ("no-model", "in-batch"):
                self._details[found.detail] = None
        return found

    def through(self, keys: Collection[str]) -> None:
        """What these questions brought stands in the vault: it is kept no longer."""
        if self.model_id is not None:
            for key in keys:
                self._kept.drop(self.model_id, key)

    def finish(self) -> HandedOver:
        """Hand over what goes into a batch."""
        if self._batches is None:
            return HandedOver()
        handed = self._batches.submit()
        self.used.handed_over += handed.notes
        return handed

    def remarks(self) -> tuple[str, ...]:
        """What the operator should hear: why something waits, other than for a batch."""
        return (*self._details, *(self._batches.remarks if self._batches is not None else ()))

    def _asked(self, request: ModelRequest) -> ModelReply | Pending:
        if self._asker is None:
            assert self._closed is not None
            return self._closed
        model_id = self._asker.provider.model_id
        held = self._kept.get(model_id, request.key)
        if held is not None:
            self.used.taken_up += 1
            return held
        unusable = self._kept.unusable(model_id, request.key)
        if unusable is not None:
            return Pending("unusable", str(unusable))
        if self._batches is not None and self._batches.holds(request.key):
            return Pending("in-batch", "a batch asks about it; its answer comes later")
        if self._closed is not None:
            return self._closed
        estimate = estimate_of(request)
        refused = self._budget.take(estimate)
        if refused is not None:
            return Pending("budget", refused.detail)
        if self._batches is not None:
            self._batches.add(request)
            return Pending("in-batch", "a batch asks about it; its answer comes later")
        return self._at_once(self._asker, request, estimate)

    def _at_once(self, asker: Asker, request: ModelRequest, estimate: int) -> ModelReply | Pending:
        try:
            reply = asker.provider.ask(request, timeout=asker.timeout)
        except AnswerUnusable as error:
            self._kept.keep_unusable(asker.provider.model_id, request.key, str(error), error.usage)
            self._spent(error.usage, estimate)
            return Pending("unusable", str(error))
        except OverTheLine as error:
            self._closed = Pending("budget", str(error))
            return self._closed
        except ModelMisconfigured as error:
            self._closed = Pending("misconfigured", str(error))
            return self._closed
        except ModelError as error:
            self._silent += 1
            silent = Pending("unavailable", str(error))
            if self._silent >= _MOST_SILENT:
                self._closed = silent
            return silent
        self._silent = 0
        self._kept.keep(asker.provider.model_id, request.key, reply)
        self._spent(reply.usage, estimate)
        return reply

    def _spent(self, used: Usage, estimate: int) -> None:
        self._budget.settle(estimate, used.input_tokens + used.output_tokens)
        self.used.calls += 1
        self.used.input_tokens += used.input_tokens
        self.used.output_tokens += used.output_tokens
        self.used.cost += used.cost or 0.0

    def _require_open(self, about: Collection[str]) -> None:
        for path in about:
            if not is_open(path, self._rules):
                raise ClosedToModels(
                    f"{path} lies in a space that is closed to models; nothing is sent"
                )


def open_asking(
    tiers: Tiers,
    metered: Callable[[Tier], Provider | None],
    location: VaultLocation,
    rules: LoadedRules,
    budget: Budget,
    now: Callable[[], datetime],
) -> Asking:
    """The strong model of the configuration, which serves what no cheaper one has qualified for.

    Answers of former batches are read now. Raises OSError when the logs of this machine can't be
    used.
    """
    kept = KeptAnswers(location)
    provider = metered("strong") if "strong" in tiers.timeouts else None
    if provider is None:
        return Asking(None, kept, budget, rules, why_not="; ".join(tiers.why) or "no model")
    kept.sweep(now().timestamp())
    asker = Asker("strong", provider, tiers.timeouts["strong"])
    by_batch = provider.batches
    batches = None
    if by_batch is not None:
        batches = Batches(
            location, provider.model_id, by_batch, kept, timeout=asker.timeout, now=now
        )
    return Asking(asker, kept, budget, rules, batches=batches)


def without_model(location: VaultLocation, rules: LoadedRules, why: str) -> Asking:
    """Asks nobody: what needs an answer waits and is counted."""
    budget = Budget(0, 0, None, lambda: 0.0)
    return Asking(None, KeptAnswers(location), budget, rules, why_not=why)


def asking_of(night: Night, stage: str) -> Asking:
    """The strong model for one stage of a night; nobody where the night has none.

    What the answers of earlier batches cost is counted to the stage that reads them first."""
    if night.models is None or not night.models.is_configured:
        why = "no model is configured" if night.models is None else "; ".join(night.models.why)
        return without_model(night.location, night.rules, why)
    tiers = night.models
    log = night.spend or SpendLog(night.location, tiers.lines)

    def metered(tier: Tier) -> Provider | None:
        provider = tiers.provider(tier)
        if provider is None:
            return None
        return MeteredProvider(
            provider,
            tier,
            log,
            pass_name=f"dream-{stage}",
            run_id=night.night_id,
            now=lambda: night.now,
        )

    budget = Budget(
        night.limits.model_calls_per_stage, night.limits.model_tokens_per_stage, None, lambda: 0.0
    )
    before = log.spent_today("strong", night.now)
    asking = open_asking(tiers, metered, night.location, night.rules, budget, lambda: night.now)
    after = log.spent_today("strong", night.now)
    asking.used.input_tokens += after.input_tokens - before.input_tokens
    asking.used.output_tokens += after.output_tokens - before.output_tokens
    asking.used.cost += after.cost - before.cost
    return asking
