"""The correction loop: how often a note turned out to be in the wrong class, month by month."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from agentm_assets.contract.spaces import space_of
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import Measured
from agentm_assets.dreaming.stage import Plan
from agentm_assets.history.revert_log import Change, read_log

MONTHS: Final = 12


class Corrections:
    name: Final = "corrections"
    version: Final = "1"
    needs_model: Final = False
    description: Final = "How many notes were moved to another class, by month."

    def plan(self, night: Night) -> Plan:
        changes, _ = read_log(night.backend)
        by_month = class_corrections(changes)
        month = night.now.strftime("%Y-%m")
        line = night.rules.rules.thresholds.trip_class_corrections
        notes: tuple[str, ...] = ()
        if by_month[month] > line:
            notes = (
                f"{by_month[month]} class corrections in {month}, over the line of {line}: the "
                "rules may name the wrong class for a type",
            )
        latest = sorted(by_month)[-MONTHS:]
        measured: dict[str, Measured] = {
            "this_month": by_month[month],
            "tripped": int(by_month[month] > line),
        }
        return Plan(notes=notes, measured=measured | {each: by_month[each] for each in latest})


def class_corrections(changes: Iterable[Change]) -> Counter[str]:
    """Moves from one class to another, by month (UTC)."""
    return Counter(
        change.at[:7]
        for change in changes
        if change.moved_from is not None
        and space_of(change.moved_from).memory_class != space_of(change.path).memory_class
    )
