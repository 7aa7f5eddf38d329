"""The ledger brought in line with the stamps in the notes: what a deleted index has forgotten."""

from typing import Final

from agentm_assets.config.vault import VaultLocation
from agentm_assets.enrichment.population import STAGE, STOPPED, UNREAD
from agentm_assets.enrichment.reenrichment import NoteHistory
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import ledger
from agentm_assets.ledger.ledger import DONE, LedgerRow
from agentm_assets.storage.seam import StorageBackend

_UNKNOWN: Final = """
SELECT n.path, n.content_hash, n.fingerprint, n.enriched_by, n.rules_hash, n.enriched_at
FROM notes n LEFT JOIN ledger l ON l.stage = ? AND l.target = n.path
WHERE n.enriched_by IS NOT NULL
  AND (l.version IS DISTINCT FROM n.enriched_by OR l.judged_at IS DISTINCT FROM n.enriched_at)
ORDER BY n.path
"""
_GONE: Final = """
DELETE FROM ledger WHERE stage = ? AND target NOT IN (SELECT path FROM notes)
"""
_NO_LONGER_STOPPED: Final = """
DELETE FROM ledger l WHERE stage = ? AND NOT EXISTS (
  SELECT 1 FROM notes n WHERE n.path = l.target AND l.fingerprint IN (n.fingerprint, ?)
    AND n.status IN ('unfiled', 'active'))
"""


def bring_up_to_date(store: IndexStore, location: VaultLocation, backend: StorageBackend) -> int:
    """Enter the judgments that stand in notes and not in the ledger; drop rows of notes that are
    gone, and those of a gate about a body that is another by now. Call it after an index pass.
    Returns how many were entered.

    The revert log and git say which body was judged, where it was changed since. Raises
    StorageError when the log can't be read.
    """
    with store.transaction() as connection:
        connection.execute(_GONE, [STAGE])
        connection.execute(_NO_LONGER_STOPPED, [STOPPED, UNREAD])
        unknown = connection.execute(_UNKNOWN, [STAGE]).fetchall()
    if not unknown:
        return 0
    history = NoteHistory(location, backend)
    rows = [
        LedgerRow(
            STAGE,
            path,
            history.judged_fingerprint(path, data_hash, body),
            by,
            rules_hash or "",
            at or "",
            DONE,
        )
        for path, data_hash, body, by, rules_hash, at in unknown
    ]
    with store.transaction() as connection:
        ledger.enter(connection, rows)
    return len(rows)
