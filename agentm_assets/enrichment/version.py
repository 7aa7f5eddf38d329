"""The versions under which a judgment is current, and a refusal known."""

import hashlib
import json
from importlib import resources
from typing import Final

from agentm_assets.enrichment.gates.schema import answer_fields
from agentm_assets.enrichment.prompt import PROMPT_HASH
from agentm_assets.models.protocol import Tier

JUDGING_GATES: Final = (
    "aliases.py",
    "answer_json.py",
    "dates.py",
    "distinctive.py",
    "grounding.py",
    "haystack.py",
    "held_words.py",
    "markup.py",
    "membership.py",
    "plain_words.py",
    "schema.py",
    "tokens.py",
)


def stamp_of(model_id: str, tier: Tier) -> str:
    """What `enriched_by` holds: the model, and a hash of prompt, schema and tier. The rules are not
    in it; they have `rules_hash` beside it."""
    parts = json.dumps([PROMPT_HASH, answer_fields(()), tier], sort_keys=True)
    return f"{model_id}+{hashlib.sha256(parts.encode()).hexdigest()[:8]}"


def _hash_of_gates() -> str:
    digest = hashlib.sha256()
    folder = resources.files("agentm_assets.enrichment.gates")
    for name in JUDGING_GATES:
        digest.update(folder.joinpath(name).read_bytes())
    return digest.hexdigest()[:12]


GATE_VERSION: Final = _hash_of_gates()
"""Of the gates behind the model, as they are written: whoever sharpens one has the refused asked
about again, and nothing else."""
