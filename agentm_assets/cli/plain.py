"""Printing without Typer, for the commands that start before it is imported. Standard library."""

import json
import re
import sys

# C0 and C1 control characters but tab and line feed: a note must not steer the terminal. Lone
# surrogates cannot be encoded.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with control characters and lone surrogates shown as U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text)


def print_json(payload: object) -> None:
    """The payload alone on stdout, as UTF-8 whatever the locale."""
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def complain(text: str) -> None:
    """A sentence to the operator on stderr, so that stdout holds the result alone."""
    sys.stderr.write(f"agentm: {printable(text)}\n")
