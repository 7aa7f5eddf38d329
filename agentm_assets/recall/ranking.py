"""What of the storage rules recall uses: nothing here judges a note, it only places it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DecayBands:
    """Ages in days at which a band ends. The defaults are those of the shipped rules."""

    enabled: bool = False
    full_days: int = 182
    half_days: int = 365
    eighth_days: int = 1095
    floor_days: int = 1825
    floor_weight: float = 0.0625
    archive_after_days: int = 1825


@dataclass(frozen=True, slots=True)
class RankingRules:
    """`excludes` hides; the spaces and decay only lower. Space names are lower-case."""

    dampened_spaces: frozenset[str] = frozenset({"personal"})
    contract_exempt_spaces: frozenset[str] = frozenset({"personal"})
    excludes: tuple[str, ...] = ()
    decay: DecayBands = DecayBands()
