"""Running Dagster inside a command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def streams_given_back() -> Iterator[None]:
    """Point stdout and stderr back to where they led, whatever happened.

    Dagster redirects them into files of its own during a run, and when it can't write those (a full
    disk) it never undoes that: the reason would be lost with everything else that is printed.
    """
    kept = {number: os.dup(number) for number in (1, 2)}
    try:
        yield
    finally:
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)
