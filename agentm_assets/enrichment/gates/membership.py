"""Where a judged note may be filed."""

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt, space_of
from agentm_assets.contract.vocabulary import OBSERVATIONAL_CLASSES
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.storage.locator import Locator


def refuse_wrong_class(destination: Locator, rules: LoadedRules) -> Refusal | None:
    """Asked of the path that is really written, links resolved: only the three observational
    classes take what a pass files, and no space that is closed to models."""
    path = destination.key
    if is_model_exempt(path, rules.rules) or is_model_exempt(path.casefold(), rules.rules):
        return _refusal("class-model-exempt", "the destination is closed to passes")
    if space_of(path).memory_class not in OBSERVATIONAL_CLASSES or len(destination.parts) < 4:
        return _refusal("class-not-observational", "no pass files into the destination's class")
    if is_excluded(path, rules.rules.excludes):
        return _refusal("class-excluded", "a pattern of the rules would hide the note there")
    return None


def _refusal(code: str, detail: str) -> Refusal:
    return Refusal("class", code, detail, remembered=True)
