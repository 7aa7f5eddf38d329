"""How much a stage that drains a queue takes on in one night."""

from agentm_assets.dreaming import records
from agentm_assets.dreaming.breaker import FLOOR, judge
from agentm_assets.dreaming.night import Night


def most_tonight(night: Night, stage: str) -> int:
    """Items that the stage may plan: as many as stay below what the breaker takes for an anomaly.

    A backlog, such as a new type of entity brings, then drains over some nights, oldest first,
    instead of tripping the breaker until somebody accepts it. While little is known of what is
    normal, the cap on mutations decides alone.
    """
    cap = night.limits.mutations_per_stage
    past = records.normal_counts(records.stage_records(night.location), stage)
    limit = judge(0, past).limit
    return cap if limit is None else min(cap, max(FLOOR, int(limit)))
