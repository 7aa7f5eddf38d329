"""How long to wait before a call is tried again, and how often. Clock, sleep and chance come in."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_TRIES = 4
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Pace:
    """`clock` counts seconds from anywhere, `chance` gives 0 to 1, `now` is the wall clock that a
    server's dates are read against."""

    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def delay(self, failed: int, retry_after: float | None) -> float:
        """Seconds to wait after `failed` tries: twice as long each time, of which a half is chance,
        so that many callers don't come back at once; never sooner than the server asked."""
        longest = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** (failed - 1))
        waited = longest * (0.5 + self.chance() / 2)
        return waited if retry_after is None else retry_after + waited / 2

    def retry_after(self, written: str | None) -> float | None:
        """Seconds that a Retry-After header asks for (RFC 9110, 10.2.3: a number or a date); None
        without one, and for one that can't be read."""
        if written is None:
            return None
        text = written.strip()
        # "inf", "1e9" and "-3" are no delays (the RFC has digits only), nor are a hundred years
        if text.isascii() and text.isdigit() and len(text) <= 9:
            return float(text)
        try:
            wanted = parsedate_to_datetime(text)
        except ValueError:
            return None
        if wanted.tzinfo is None:
            wanted = wanted.replace(tzinfo=UTC)
        return max(0.0, (wanted - self.now()).total_seconds())
