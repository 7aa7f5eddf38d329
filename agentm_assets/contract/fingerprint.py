"""What makes two notes exact duplicates: the same body, whatever its white space."""

import hashlib


def fingerprint(body: bytes) -> str:
    """sha256 of a body with white space folded, hex: equal for exact duplicates."""
    return hashlib.sha256(b" ".join(body.split())).hexdigest()
