"""What older vaults called a status, and how a written word is matched."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agentm_assets.contract.vocabulary import STATUSES, Status

STATUS_WORDS: Final[Mapping[str, Status]] = MappingProxyType(
    {
        **{status: status for status in STATUSES},
        **dict.fromkeys(
            (
                *("accepted", "approved", "complete", "completed", "confirmed", "current"),
                *("done", "evergreen", "filed", "final", "live", "promoted", "published"),
                *("resolved", "settled", "valid"),
            ),
            "active",
        ),
        **dict.fromkeys(
            (
                *("candidate", "draft", "inbox", "needs-review", "new", "pending", "proposed"),
                *("raw", "staged", "to-review", "triage", "unprocessed", "unreviewed"),
            ),
            "unfiled",
        ),
        **dict.fromkeys(
            ("deprecated", "obsolete", "outdated", "replaced"),
            "superseded",
        ),
        **dict.fromkeys(
            (
                *("archive", "archived", "closed", "deleted", "discarded", "dismissed"),
                *("dropped", "inactive", "noise", "rejected", "retired", "stale", "trashed"),
            ),
            "expired",
        ),
    }
)
"""An older word for a status -> the status that it is. A word that is not here is left as it is."""


def kebab(written: str) -> str:
    """A written value as registers spell theirs: lower-case, joined with hyphens."""
    return "-".join(written.casefold().replace("_", " ").replace("-", " ").split())
