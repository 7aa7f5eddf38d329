"""From the bytes of one file to its rows: the one place where reading, contract and extraction meet."""

import re

from agentm_assets.contract.rules import LoadedRules

_FILE_NAME_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_BLANKS = re.compile(rb"\s+")


def contract_key(rules: LoadedRules | None) -> str:
    """What of the rules a note's rows depend on: only its finding does, and only on the block."""
    return rules.rules_hash[:12] if rules else "none"
