"""The fixed words of the filing contract.

What the operator may change (types, kinds, routing, thresholds) comes from the rules file; here is
only what the code itself is built on.
"""

from typing import Final, Literal

Status = Literal["unfiled", "active", "superseded", "expired"]
Altitude = Literal["canonical", "artifact"]
MemoryClass = Literal["semantic", "procedural", "episodic", "entities", "crystallized", "mocs"]

STATUSES: Final[tuple[Status, ...]] = ("unfiled", "active", "superseded", "expired")
ALTITUDES: Final[tuple[Altitude, ...]] = ("canonical", "artifact")

OBSERVATIONAL_CLASSES: Final[tuple[MemoryClass, ...]] = ("semantic", "procedural", "episodic")
"""Classes that filing may write into."""

DERIVED_CLASSES: Final[tuple[MemoryClass, ...]] = ("entities", "crystallized", "mocs")
"""Classes that only the pass which builds them writes into."""

CLASSES: Final[tuple[MemoryClass, ...]] = OBSERVATIONAL_CLASSES + DERIVED_CLASSES

FIRST_TYPES: Final[tuple[str, ...]] = (
    "preference",
    "convention",
    "reference",
    "workflow",
    "fix",
    "idea",
)
"""The memory types that need no warrant; every later one must earn its place."""

KEY_ORDER: Final[tuple[str, ...]] = (
    "type",
    "kind",
    "status",
    "altitude",
    "captured",
    "updated",
    "occurrences",
    "slug",
    "title",
    "tags",
    "aliases",
    "source",
    "source_hash",
    "source_version",
    "derived_from",
    "consolidated_from",
    "confidence",
    "summary",
    "enriched_by",
    "enriched_at",
    "rules_hash",
    "superseded_by",
    "superseded_at",
    "lifecycle_tier",
    "probe",
)
"""The order in which a memory's properties are written."""

DATE_KEYS: Final[frozenset[str]] = frozenset(
    {"captured", "updated", "created", "date", "modified", "enriched_at", "superseded_at"}
)
"""Properties that hold a date: an ISO date there is written without quotes."""
