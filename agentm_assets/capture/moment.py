"""How a moment is written into a note."""

from datetime import UTC, datetime, timedelta


def iso(now: datetime) -> str:
    """A moment as notes carry it: ISO 8601 to the second with its offset, `Z` for UTC."""
    if now.utcoffset() == timedelta(0):
        return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return now.isoformat(timespec="seconds")
