"""Which unfiled notes hold nothing that anybody could look for."""

import re
from typing import Final

from agentm_assets.dreaming.similar import content_words
from agentm_assets.enrichment.gates.distinctive import distinctive_tokens
from agentm_assets.extract.links import extract_links

LONGEST: Final = 120
"""Characters from which on a text is never noise, whatever it says."""

GRACE_DAYS: Final = 7
"""Days that an unfiled note has, in which a judge or the operator may make something of it."""

_FEWEST_WORDS: Final = 3
_FILLER: Final = frozenset(
    "asdf bar baz blah done dummy foo hello hey hi hmm ipsum lorem ok okay placeholder qwerty "  # noqa: SIM905
    "sample test testing thanks todo untitled wip world yes".split()
)
_HEADING: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE)


def is_noise(title: str, text: str) -> bool:
    """No name, number, identifier, address or link in it, and hardly a word that says anything.
    A short thought is none: it has words of its own."""
    bare = _HEADING.sub("", text).strip()
    if len(bare) > LONGEST:
        return False
    whole = f"{title}\n{bare}"
    if any(token.kind != "name" for token in distinctive_tokens(whole)):
        return False
    if extract_links(text.encode("utf-8", "replace"), 0):
        return False
    return len(content_words(whole) - _FILLER) < _FEWEST_WORDS
