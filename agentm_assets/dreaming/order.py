"""The stages of a night in the order in which they run: each works on what those before it left."""

from collections.abc import Sequence
from typing import Final

from agentm_assets.dreaming.brief.stage import TomorrowsBrief
from agentm_assets.dreaming.crystallize.stage import CrystallizedLessons
from agentm_assets.dreaming.declared import RulesChanges
from agentm_assets.dreaming.entities.stage import EntityRollups
from agentm_assets.dreaming.insights.stage import Insights
from agentm_assets.dreaming.merges.stage import FuzzyMerges
from agentm_assets.dreaming.meters.completeness import Completeness
from agentm_assets.dreaming.meters.corrections import Corrections
from agentm_assets.dreaming.meters.drift import DriftMeters
from agentm_assets.dreaming.meters.slop import SlopScores
from agentm_assets.dreaming.pages.calendar_cards import CalendarCards
from agentm_assets.dreaming.pages.contract_findings import ContractFindings
from agentm_assets.dreaming.pages.footers import ReferenceFooters
from agentm_assets.dreaming.pages.mocs import Mocs
from agentm_assets.dreaming.pages.stubs import Stubs
from agentm_assets.dreaming.pages.topology import TopologyPage
from agentm_assets.dreaming.pages.work_maps import ProjectMaps, TaskMap
from agentm_assets.dreaming.proposals.stage import Proposals
from agentm_assets.dreaming.stage import Stage
from agentm_assets.dreaming.summaries.stage import Summaries
from agentm_assets.dreaming.unfiled.stage import UnfiledDrain

STAGES: Final[Sequence[Stage]] = (
    RulesChanges(),
    ContractFindings(),
    UnfiledDrain(),
    Summaries(),
    FuzzyMerges(),
    EntityRollups(),
    CrystallizedLessons(),
    Insights(),
    CalendarCards(),
    Stubs(),
    ReferenceFooters(),
    SlopScores(),
    DriftMeters(),
    Completeness(),
    Corrections(),
    Mocs(),
    TaskMap(),
    ProjectMaps(),
    TopologyPage(),
    Proposals(),
    TomorrowsBrief(),
)


def stage_named(name: str) -> Stage | None:
    """The stage of that name; None when there is none."""
    return next((stage for stage in STAGES if stage.name == name), None)
