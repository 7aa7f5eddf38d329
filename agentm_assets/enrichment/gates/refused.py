"""Never ask again what was refused, while nothing has changed."""

from typing import Protocol

from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.subject import Subject


class KnownRefusals(Protocol):
    """The durable record of refusals that are remembered."""

    def code_of(
        self, path: str, fingerprint: str, stamp: str, rules_hash: str, gate_version: str
    ) -> str | None:
        """The code with which exactly that was refused, None when it was not."""


def refuse_known(
    subject: Subject, stamp: str, rules_hash: str, gate_version: str, refusals: KnownRefusals
) -> Refusal | None:
    """The same text, prompt, model, rules and gates: the answer would be refused again."""
    code = refusals.code_of(
        subject.locator.key, subject.fingerprint, stamp, rules_hash, gate_version
    )
    if code is None:
        return None
    return Refusal("refused-before", "refused-before", f"refused before with {code}")
