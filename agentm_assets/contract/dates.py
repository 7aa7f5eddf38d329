"""ISO dates as notes carry them. Standard library only: a capture waits for this import."""

import re
from datetime import date, datetime

_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?)?"
)


def parse_date(text: str) -> date | datetime | None:
    """`YYYY-MM-DD`, alone or with a time and an offset, as a date or a datetime; else None."""
    if _ISO.fullmatch(text) is None:
        return None
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
        clock = text[11:].replace(" ", "").replace(",", ".")
        return datetime.fromisoformat(f"{text[:10]}T{clock.upper()}")
    except ValueError:  # such as 2024-02-30
        return None
