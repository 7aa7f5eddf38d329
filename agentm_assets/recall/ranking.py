"""What of the storage rules recall uses: nothing here judges a note, it only places it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentm_assets.contract.rules import RulesVault
    from agentm_assets.contract.rules_model import StorageRules


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


def load_ranking(vault: "RulesVault", env: Mapping[str, str]) -> tuple[RankingRules, str | None]:
    """The ranking part of the rules in force, and a remark when they are broken.

    Recall goes on under broken rules, with the shipped default: a parse error must not cost the
    operator their memory. The remark says so in every answer.
    """
    # Half of what importing recall costs; the hook before each prompt reads a snapshot instead.
    from agentm_assets.contract.rules import RulesError, default_rules_path, load_rules, parse_rules

    try:
        return _ranking(load_rules(vault, env).rules), None
    except RulesError as error:
        first = error.violations[0]
        path = default_rules_path()
        shipped = parse_rules(path.read_bytes(), path, "default")
        return _ranking(shipped.rules), (
            f"the rules file {error.path} is broken (line {first.line}: {first.message}), so the "
            "shipped ranking was used and its excludes do not hide anything; see "
            "`agentm rules check`"
        )


def known_types(vault: "RulesVault", env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The types of memories that the rules in force register; None when they are broken."""
    from agentm_assets.contract.rules import RulesError, load_rules

    try:
        return load_rules(vault, env).rules.memory_types
    except RulesError:
        return None


def _ranking(rules: "StorageRules") -> RankingRules:
    thresholds = rules.thresholds
    return RankingRules(
        dampened_spaces=frozenset(space.lower() for space in rules.dampened_spaces),
        contract_exempt_spaces=frozenset(space.lower() for space in rules.contract_exempt_spaces),
        excludes=rules.excludes,
        decay=DecayBands(
            enabled=thresholds.decay_enabled,
            full_days=thresholds.decay_full_days,
            half_days=thresholds.decay_half_days,
            eighth_days=thresholds.decay_eighth_days,
            floor_days=thresholds.decay_floor_days,
            floor_weight=thresholds.decay_floor_weight,
            archive_after_days=thresholds.archive_after_days,
        ),
    )
