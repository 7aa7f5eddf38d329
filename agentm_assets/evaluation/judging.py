"""Which judge files notes now: a model, as far as it has qualified, or the one that needs none."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agentm_assets.config.vault import VaultLocation
from agentm_assets.enrichment.answers import KeptAnswers
from agentm_assets.enrichment.batches import Batches
from agentm_assets.enrichment.judges import Judge
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.model_judge import PASS_VERSION, Asker, ModelJudge
from agentm_assets.enrichment.subject import Trigger
from agentm_assets.evaluation.qualification import (
    LEAST_SAMPLES,
    SAMPLES,
    Sample,
    Standing,
    read_samples,
    take_sample,
    tier_of,
)
from agentm_assets.models.protocol import ModelRequest, Provider, Tier
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend

JOB: Final = "enrichment"

_SAMPLED_ONE_IN: Final = 10
"""Of the notes, once there are enough samples and they did not agree: it may have been bad luck."""


@dataclass(frozen=True, slots=True)
class NoJudge:
    """Models are configured and none can judge now: notes wait. `why` has the cures."""

    why: str


class ShadowSamples:
    """Takes samples of the cheap tier beside the strong one, while they are wanted."""

    def __init__(
        self,
        standing: Standing,
        samples: Sequence[Sample],
        timeout: float,
        now: Callable[[], datetime],
    ) -> None:
        self._left = max(0, LEAST_SAMPLES - standing.samples)
        self._known = {sample.key for sample in samples if sample.pass_version == PASS_VERSION}
        self._timeout = timeout
        self._now = now
        self._lines: list[bytes] = []

    def wants(self, path: str) -> bool:
        if self._left > 0:
            return True
        digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()
        return digest[0] % _SAMPLED_ONE_IN == 0

    def take(
        self,
        request: ModelRequest,
        cheap: Provider,
        strong: Provider,
        judged: Callable[[str], Judgment | None],
    ) -> None:
        if request.key in self._known:
            return
        sample = take_sample(
            JOB,
            request,
            cheap,
            strong,
            judged,
            pass_version=PASS_VERSION,
            timeout=self._timeout,
            now=self._now(),
        )
        self._known.add(request.key)
        self._left -= sample.outcome != "excluded"
        self._lines.append(sample.line().encode("utf-8", "replace"))

    def records(self) -> Mapping[Locator, Sequence[bytes]]:
        lines, self._lines = self._lines, []
        return {SAMPLES: lines} if lines else {}


def open_judge(
    tiers: Tiers,
    metered: Callable[[Tier], Provider | None],
    extractive: Callable[[], Judge],
    location: VaultLocation,
    backend: StorageBackend,
    trigger: Trigger,
    now: Callable[[], datetime],
    *,
    asked_with: Mapping[str, tuple[str, ...]] | None = None,
    by_batch: bool = False,
) -> Judge | NoJudge:
    """The judge of a run. `metered` gives a tier's provider whose calls are counted.

    With `by_batch`, a model that has a batch interface is asked by it: answers of former batches
    are read now. Without any model configured it is the extractive judge. Raises StorageError when
    the samples can't be read, OSError when the logs of this machine can't be used.
    """
    if not tiers.is_configured:
        return extractive()
    samples = read_samples(backend)
    standing = tier_of(
        JOB,
        samples,
        cheap=None if tiers.cheap is None else tiers.cheap.model_id,
        strong=None if tiers.strong is None else tiers.strong.model_id,
        pass_version=PASS_VERSION,
        now=now(),
    )
    askers = {
        tier: Asker(tier, provider, tiers.timeouts[tier])
        for tier in tiers.timeouts
        if (provider := metered(tier)) is not None
    }
    serving = askers.get(standing.serves) if standing.serves is not None else None
    if serving is None:
        return NoJudge("; ".join(tiers.why) or standing.why)
    kept = KeptAnswers(location)
    kept.sweep(now().timestamp())
    batches = serving.provider.batches if by_batch else None
    cheap = askers.get("cheap")
    if tiers.is_one_model:
        cheap = None  # else what one model costs would stand in two tiers, each below the line
    compares = cheap is not None and serving.tier == "strong"
    return ModelJudge(
        serving,
        cheap or serving,
        kept,
        trigger,
        batches=None
        if batches is None
        else Batches(
            location,
            serving.provider.model_id,
            batches,
            kept,
            timeout=serving.timeout,
            now=now,
        ),
        shadow=ShadowSamples(standing, samples, serving.timeout, now) if compares else None,
        cheap=cheap,
        also_served_by=tuple(askers.values()),
        asked_with=asked_with,
    )
