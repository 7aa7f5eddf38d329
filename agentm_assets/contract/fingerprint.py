"""What makes two notes exact duplicates: the same body, whatever its white space."""

import hashlib
import re

_BLANKS = re.compile(rb"\s+")


def fingerprint(body: bytes) -> str:
    """sha256 of a body with white space folded, hex: equal for exact duplicates."""
    return hashlib.sha256(_BLANKS.sub(b" ", body).strip()).hexdigest()
