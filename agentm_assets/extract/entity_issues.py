"""Issue numbers that do not name their repository: `GH-7` and `#12`.

They are bound to the note's repository where one is known. Without one they are kept unscoped
after a word that announces a number, and are not read elsewhere: in notes a bare `#1` is a rank, a
colour, a list number.
"""

import re

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_cues import Before, before, joined_to
from agentm_assets.extract.entity_found import Confidence, Found
from agentm_assets.extract.entity_grammar import BOUNDARY, NUMBER, RIGHT
from agentm_assets.extract.word_lists import CONNECTING

# The literal comes first and the look-behind after it: the engine finds a literal fast.
_GH = re.compile(rf"GH-(?<![^{BOUNDARY}]GH-)({NUMBER}){RIGHT}(?!-\w)")
_HASH_NUMBER = re.compile(rf"#(?<![^{BOUNDARY}]#)({NUMBER}){RIGHT}(?![-/]\w)")

# GitHub's closing keywords and the words that people put before a number.
_CUES = frozenset(
    {"issue", "issues", "pr", "prs", "pull", "pulls", "fix", "fixes", "fixed", "close", "closes"}
    | {"closed", "resolve", "resolves", "resolved", "see"}
)
_FILL = frozenset({"also", "in", "by", "on", "at", "for", "the", "number", "no.", "request"})
_COLOURS = frozenset(
    {"color", "colors", "colour", "colours", "background", "bg", "fg", "fill", "stroke", "border"}
    | {"hex", "rgb", "accent", "tint", "shade"}
)
_MAYBE_COLOUR = (6, 8)  # digits of #rrggbb and #rrggbbaa
_RANK = re.compile(r"#[1-3][ \t]{1,3}[^\W\d_A-Z]")


def find_issues(
    bare: str, guess_from: int, context: EntityContext, scoped_ends: set[int], *, ask: bool
) -> list[Found]:
    """Numbers in `bare` from `guess_from` on; link targets and URLs are already blanked out.

    `scoped_ends`: where `owner/repo#12` forms end, since a list may go on from one. `ask`: in a
    question that a person typed a lone `#12` is meant as one.
    """
    found: list[Found] = []
    if "GH-" in bare:
        for match in _GH.finditer(bare, guess_from):
            found.append(_bind(match[1], match.span(), context, announced=True))
    if "#" not in bare:
        return found
    announced_ends = scoped_ends | {each.end for each in found}
    for match in _HASH_NUMBER.finditer(bare, guess_from):
        start = match.start()
        there = before(bare, start)
        # `#123` at the start of a line is a heading that lacks its blank, or a tag.
        if not ask and (there.line_start or there.last in _COLOURS):
            continue
        announced = ask or _is_cue(there.words) or joined_to(bare, start, announced_ends)
        if announced:
            announced_ends.add(match.end())
        if announced or (context.repo is not None and _stands_alone(bare, match, there)):
            found.append(_bind(match[1], match.span(), context, announced=announced))
    return found


def _bind(number: str, span: tuple[int, int], context: EntityContext, *, announced: bool) -> Found:
    if context.repo is None:
        return Found(f"issue:#{number}", "issue", *span, "low", None, None, number, guessed=True)
    confidence: Confidence = "high" if announced else "low"
    key = f"issue:{context.repo}#{number}"
    return Found(key, "issue", *span, confidence, None, context.repo, number, guessed=True)


def _is_cue(words: tuple[str, ...]) -> bool:
    """`fixes #12`, `see also #12`, `pull request #12`, `merged pull request in #12`."""
    if words and words[-1] == "requests":
        return words[-2:-1] == ("pull",)
    skipped = 0
    while skipped < len(words) - 1 and words[-1 - skipped] in _FILL:
        skipped += 1
    return bool(words) and words[-1 - skipped] in _CUES


def _stands_alone(bare: str, match: re.Match[str], there: Before) -> bool:
    """Whether a number that nothing announces may be one of the note's repository."""
    if len(match[1]) in _MAYBE_COLOUR or _RANK.match(bare, match.start()):
        return False
    if bare[match.start() - 1 : match.start()] in ("(", "["):
        return True  # "Seal the lid (#12)", as commit subjects have it
    return there.colon or not there.last[-1:].isalpha() or there.last in CONNECTING
