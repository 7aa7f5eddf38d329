"""The shape of the rules that the operator owns. Every enum and threshold is read from here."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ENTITY_TYPES = ("person", "repository", "organization")
"""Types that stand for a thing: they also answer the four admission questions."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Days = Annotated[int, Field(ge=1, le=36_500)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Thresholds(_Table):
    """Numbers the passes go by; days are counted from capture or from the last genuine recall."""

    low_confidence: Share
    enrichment_input_chars: Annotated[int, Field(ge=1_000, le=1_000_000)]
    decay_full_days: Days
    decay_half_days: Days
    decay_eighth_days: Days
    decay_floor_days: Days
    decay_floor_weight: Annotated[float, Field(gt=0.0, le=0.125)]
    archive_after_days: Days
    decay_enabled: bool


class Admission(_Table):
    """The four questions an entity type answers with yes, each with its reason."""

    persistent_identity: str
    accumulating_record: str
    resolution_need: str
    independent_attributes: str


class Warrant(_Table):
    """Why a type beyond the first six exists."""

    query_class: Annotated[str, Field(min_length=1)]
    nearest: Annotated[str, Field(min_length=1)]
    why_not: Annotated[str, Field(min_length=1)]
    admission: Admission | None = None


class StorageRules(_Table):
    """The machine-readable core of `standards/storage-rules.md`."""

    classes: tuple[str, ...]
    memory_types: tuple[str, ...]
    default_type: str
    routing: dict[str, str]
    record_kinds: tuple[str, ...]
    deprecations: dict[str, str]
    warrants: dict[str, Warrant]
    excludes: tuple[str, ...]
    thresholds: Thresholds
    dampened_spaces: tuple[str, ...] = ("personal",)
    model_exempt_spaces: tuple[str, ...] = ("personal",)
    contract_exempt_spaces: tuple[str, ...] = ("personal",)


RANKING_KEYS = frozenset({"dampened_spaces", "excludes"})
RANKING_THRESHOLDS = frozenset(
    {
        "decay_full_days",
        "decay_half_days",
        "decay_eighth_days",
        "decay_floor_days",
        "decay_floor_weight",
        "archive_after_days",
        "decay_enabled",
    }
)
"""What only ranks: an edit here makes no judgment stale."""
