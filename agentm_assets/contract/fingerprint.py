"""What makes two notes exact duplicates: the same body, whatever its white space."""

import hashlib

from agentm_assets.contract.footer import strip_footer


def fingerprint(body: bytes) -> str:
    """sha256 of a body with white space folded, hex: equal for exact duplicates. The footer that a
    pass keeps is no part of the body."""
    return hashlib.sha256(b" ".join(strip_footer(body).split())).hexdigest()
