"""Which notes no unattended model reads and no derived page names."""

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.rules_model import StorageRules
from agentm_assets.contract.spaces import is_model_exempt


def is_closed(path: str, rules: StorageRules | None) -> bool:
    """Is the note at `path` one of those? `personal/` always is, by whatever case or width of its
    letters. `rules` None, while they are broken: nothing but `personal/` is known to be closed."""
    if rules is None:
        return is_model_exempt(path, _NoRules())
    return is_model_exempt(path, rules) or is_excluded(path, rules.excludes)


class _NoRules:
    contract_exempt_spaces = ()
    model_exempt_spaces = ()
    dampened_spaces = ()
