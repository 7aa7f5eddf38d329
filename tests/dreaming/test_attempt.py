"""One stage that can't work does not end the night."""

from estate import Estate

from agentm_assets.dreaming import records
from agentm_assets.dreaming.attempt import run_night
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.pages.topology import TopologyPage
from agentm_assets.dreaming.stage import Plan
from agentm_assets.storage.seam import StorageError


class Broken:
    name = "broken"
    version = "1"
    needs_model = False
    description = ""

    def plan(self, night: Night) -> Plan:
        raise StorageError("the disk is full")


def test_the_others_go_on_and_the_failure_is_on_record(estate: Estate) -> None:
    estate.memory("a", "A note.")
    reports = list(run_night(estate.night(), [Broken(), TopologyPage()]))
    assert [(each.error, each.applied) for each in reports] == [("the disk is full", 0), (None, 1)]
    (night,) = records.nights(estate.location)
    assert [(each.stage, each.error) for each in night.stages] == [
        ("broken", "the disk is full"),
        ("topology-page", ""),
    ]
