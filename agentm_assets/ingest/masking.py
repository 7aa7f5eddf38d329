"""What goes from a source into a note: without secrets, and as text that does nothing there."""

import re
from typing import Final

from agentm_assets.privacy.found import CONTACTS
from agentm_assets.privacy.scrub import PLACEHOLDER, Scrubbed, left, scrub_together
from agentm_assets.projects.document import storable

MASK: Final = "[masked {}]"

_LIVELY: Final = (
    (re.compile(r"\[(?=\[)"), r"[\\"),
    (re.compile(r"<!--"), "&lt;!--"),
    (re.compile(r"%(?=%)"), "% "),
)
"""Links to notes and embeds, and the two ways to hide text from a reader."""


def masked(texts: list[str], more: str = "") -> list[str]:
    """The texts with a remark in the place of every secret; addresses and phone numbers stay. What
    `more` (the rest of the source) shows to be a secret is taken out of them as well.

    A text with a private key that has no end is dropped whole ("").
    """
    scrubbed = scrub_together(*texts, more)[: len(texts)]
    return ["" if left(each.text) else _shown(each) for each in scrubbed]


def plain(text: str) -> str:
    """Text of the outside world as it may stand in a note: it links to none and hides nothing."""
    for pattern, instead in _LIVELY:
        text = pattern.sub(instead, text)
    return storable(text)


def _shown(scrubbed: Scrubbed) -> str:
    def instead(match: re.Match[str]) -> str:
        original = scrubbed.originals.get(match[0])
        if original is None or match[1] in CONTACTS or match[1] == "bracket":
            return match[0] if original is None else original
        return MASK.format(match[1])

    return PLACEHOLDER.sub(instead, scrubbed.text)
