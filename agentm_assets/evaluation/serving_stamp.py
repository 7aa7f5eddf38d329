"""What `enriched_by` would hold of a note that is judged now, and which tier serves which job.
Asks no model and opens no log."""

from dataclasses import dataclass
from datetime import datetime

from agentm_assets.enrichment.extractive.judge import STAMP
from agentm_assets.enrichment.model_judge import PASS_VERSION
from agentm_assets.enrichment.version import stamp_of
from agentm_assets.evaluation.judging import JOB
from agentm_assets.evaluation.qualification import Standing, read_samples, tier_of, tier_table
from agentm_assets.models.tiers import Tiers
from agentm_assets.storage.seam import StorageBackend


@dataclass(frozen=True, slots=True)
class Serving:
    """`stamp`: of the judge that serves. `also_current`: the stamps that its judge has as
    `Judge.also_current`: of judgments that it has no reason to make anew."""

    stamp: str
    also_current: frozenset[str]


def serving(tiers: Tiers, backend: StorageBackend, now: datetime) -> Serving | None:
    """The judge that serves, as `judging.open_judge` would open it; None while models are
    configured and none can judge. Raises StorageError when the samples can't be read."""
    if not tiers.is_configured:
        return Serving(STAMP, frozenset())
    standing = tier_of(
        JOB,
        read_samples(backend),
        cheap=None if tiers.cheap is None else tiers.cheap.model_id,
        strong=None if tiers.strong is None else tiers.strong.model_id,
        pass_version=PASS_VERSION,
        now=now,
    )
    provider = None if standing.serves is None else tiers.provider(standing.serves)
    if standing.serves is None or provider is None:
        return None
    return Serving(
        stamp_of(provider.model_id, standing.serves),
        frozenset(
            stamp_of(each.model_id, tier)
            for tier in tiers.timeouts
            if (each := tiers.provider(tier)) is not None
        ),
    )


def standings(tiers: Tiers, backend: StorageBackend, now: datetime) -> tuple[Standing, ...]:
    """How every job stands with these models; empty where none is configured. Raises StorageError
    when the samples can't be read."""
    if not tiers.is_configured:
        return ()
    return tier_table(
        read_samples(backend),
        cheap=None if tiers.cheap is None else tiers.cheap.model_id,
        strong=None if tiers.strong is None else tiers.strong.model_id,
        pass_versions={JOB: PASS_VERSION},
        now=now,
    )
