"""The shape of the rules that the operator owns. Every enum and threshold is read from here."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

ENTITY_TYPES = ("person", "repository", "organization")
"""Types that stand for a thing: they also answer the four admission questions."""


def _number(written: Any) -> Any:
    """Only digits are a number: no blanks, underscores, words or other scripts."""
    if not isinstance(written, str) or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", written):
        raise ValueError("this is no plain number such as 0.65 or 182")
    return written


def _truth(written: Any) -> bool:
    if written not in ("true", "false"):
        raise ValueError("this is neither true nor false")
    return bool(written == "true")


Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[Number, Field(ge=0.0, le=1.0)]
Days = Annotated[int, BeforeValidator(_number), Field(ge=1, le=36_500)]
Truth = Annotated[bool, BeforeValidator(_truth)]
Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
SpaceName = Annotated[str, AfterValidator(str.casefold)]
"""Spaces are matched whatever the case."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Thresholds(_Table):
    """Numbers the passes go by; days are counted from capture or from the last genuine recall.

    The lines of the meters may be left out of the file. `trip_*`: a meter that leaves its frozen
    baseline by this share of it, or falls under it, is reported. `slop_*`: shares of a note that
    are more than its template, under which it is reviewed, or may expire.
    """

    low_confidence: Share
    enrichment_input_chars: Annotated[int, BeforeValidator(_number), Field(ge=1_000, le=1_000_000)]
    decay_full_days: Days
    decay_half_days: Days
    decay_eighth_days: Days
    decay_floor_days: Days
    decay_floor_weight: Annotated[Number, Field(gt=0.0, le=0.125)]
    archive_after_days: Days
    decay_enabled: Truth
    trip_similarity_rise: Share = 0.10
    trip_trigram_rise: Share = 0.25
    trip_diversity_fall: Share = 0.10
    trip_dispersion_fall: Share = 0.10
    trip_completeness: Share = 0.80
    trip_class_corrections: Annotated[int, BeforeValidator(_number), Field(ge=1)] = 5
    slop_review: Share = 0.35
    slop_expire: Share = 0.15


class Admission(_Table):
    """The four questions an entity type answers with yes, each with its reason."""

    persistent_identity: Text
    accumulating_record: Text
    resolution_need: Text
    independent_attributes: Text


class Warrant(_Table):
    """Why a type beyond the first six exists."""

    query_class: Text
    nearest: Text
    why_not: Text
    admission: Admission | None = None


class StorageRules(_Table):
    """The machine-readable core of `standards/storage-rules.md`.

    Values come in as their source text. Space names are lower-case.
    """

    classes: tuple[str, ...]
    memory_types: tuple[str, ...]
    default_type: str
    routing: Mapping[str, str]
    record_kinds: tuple[str, ...]
    deprecations: Mapping[str, str]
    warrants: Mapping[str, Warrant]
    dampened_spaces: tuple[SpaceName, ...]
    model_exempt_spaces: tuple[SpaceName, ...]
    contract_exempt_spaces: tuple[SpaceName, ...]
    excludes: tuple[str, ...]
    thresholds: Thresholds


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
        "trip_similarity_rise",
        "trip_trigram_rise",
        "trip_diversity_fall",
        "trip_dispersion_fall",
        "trip_completeness",
        "trip_class_corrections",
        "slop_review",
        "slop_expire",
    }
)
"""What only ranks or measures: an edit here makes no judgment stale."""
