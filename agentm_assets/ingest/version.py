"""The version of reading and distilling, which notes carry as `source_version`."""

from typing import Final

VERSION: Final = "ingest-1"
"""Raise the number when the same source would give other notes: `agentm ingest --again` then reads
anew what an older version read."""
