"""`[profiles.NAME.enrichment]`: how much one run of the pass may do. What is over waits for the
next one."""

from pydantic import BaseModel, ConfigDict, Field


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(_Table):
    """`notes` bounds every judge; `calls`, `tokens` and `seconds` bound a model."""

    notes: int = Field(ge=0, le=1_000_000)
    calls: int = Field(ge=0, le=1_000_000)
    tokens: int = Field(ge=0, le=10_000_000_000)
    seconds: float = Field(ge=0, le=86_400)


class AfterCapture(Limits):
    """The run that a changed file sets off. While it lasts no other change is indexed, though
    captures are found; so it is short."""

    notes: int = Field(default=200, ge=0, le=1_000_000)
    calls: int = Field(default=40, ge=0, le=1_000_000)
    tokens: int = Field(default=200_000, ge=0, le=10_000_000_000)
    seconds: float = Field(default=30.0, ge=0, le=86_400)


class Hourly(Limits):
    """What those runs left. It takes turns with them, so it is short as well."""

    notes: int = Field(default=2_000, ge=0, le=1_000_000)
    calls: int = Field(default=200, ge=0, le=1_000_000)
    tokens: int = Field(default=1_000_000, ge=0, le=10_000_000_000)
    seconds: float = Field(default=120.0, ge=0, le=86_400)


class Batch(Limits):
    """The night, and each month of a backfill."""

    notes: int = Field(default=20_000, ge=0, le=1_000_000)
    calls: int = Field(default=2_000, ge=0, le=1_000_000)
    tokens: int = Field(default=10_000_000, ge=0, le=10_000_000_000)
    seconds: float = Field(default=3_600.0, ge=0, le=86_400)


class EnrichmentTable(_Table):
    """Every number has a default; see docs/enrichment.md."""

    after_capture: AfterCapture = AfterCapture()
    hourly: Hourly = Hourly()
    batch: Batch = Batch()
