"""`[profiles.NAME.dreaming]`: how much of the vault one night may change."""

from pydantic import BaseModel, ConfigDict, Field


class DreamingTable(BaseModel):
    """Files that a night, and one stage of it, may write. What is over waits for the next night and
    is counted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mutations_per_night: int = Field(default=4_000, ge=0, le=1_000_000)
    mutations_per_stage: int = Field(default=1_000, ge=0, le=1_000_000)
    model_calls_per_stage: int = Field(default=500, ge=0, le=1_000_000)
    model_tokens_per_stage: int = Field(default=2_000_000, ge=0, le=10_000_000_000)
    """What one stage may ask of models in a night; the daily lines of the tiers hold beside it."""
