"""Names under which a note can be asked for, taken from its own words.

Two forms give them: an acronym beside the term it stands for, and a compound identifier, which is
also found by its parts (`idx_timestamp_desc` by `timestamp`). Embeddings mangle such tokens and a
word index splits them. Nothing is invented, and plain prose yields nothing.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from agentm_assets.extract.acronyms import find_acronyms
from agentm_assets.extract.identifiers import find_identifiers, identifier_parts
from agentm_assets.extract.mask import Region
from agentm_assets.extract.model import Alias

MAX_ALIASES = 24
"""How many aliases a note has at most; those its frontmatter names are never cut."""

_INLINE_CODE = re.compile(r"`+([^`]+)`+")
_CODE_WORD = re.compile(r"`[A-Z][A-Za-z0-9&./-]{1,11}`")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def derive_aliases(
    title: str, text: str, masked: str, code_spans: Sequence[str], own: Sequence[str]
) -> tuple[Alias, ...]:
    """The aliases of a note: its own in their order, then the derived ones sorted.

    `text` is the body, `masked` the same with code, comments and maths blanked, `code_spans` what
    stands in inline code (`code_spans_of`), `own` the aliases of the frontmatter. No two are equal
    when case and blanks are folded. Where more are found than fit, those of the title win, then
    acronyms, then whole names over their parts, then the first in order.
    """
    in_title = find_identifiers(title)
    for span in _INLINE_CODE.findall(title):
        in_title += find_identifiers(span, in_code=True)
    in_body = find_identifiers(masked)
    for span in code_spans:
        in_body += find_identifiers(span, in_code=True)
    ranks = (
        [*_acronym_names(title), *in_title],
        _acronym_names(_with_code_words(text, masked)),
        in_body,
        _parts(in_title),
        _parts(in_body),
    )
    taken: dict[str, Alias] = {}
    for name in own:
        alias = _UNSAFE.sub("\ufffd", " ".join(name.split()))
        if alias:
            taken.setdefault(fold(alias), Alias(alias, "own"))
    room = max(0, MAX_ALIASES - len(taken))
    derived: dict[str, Alias] = {}
    for rank in ranks:
        for name in sorted(set(rank), key=_order):
            if len(derived) < room and fold(name) not in taken:
                derived.setdefault(fold(name), Alias(name, "derived"))
    return (*taken.values(), *sorted(derived.values(), key=lambda each: _order(each.alias)))


def _with_code_words(text: str, masked: str) -> str:
    """`masked` with the inline code that is one acronym-like word put back: `` `WAL` (…) ``."""
    pieces: list[str] = []
    done = 0
    for match in _CODE_WORD.finditer(text):
        if masked[match.start()] == " ":
            pieces += (masked[done : match.start()], match[0])
            done = match.end()
    pieces.append(masked[done:])
    return "".join(pieces)


def _acronym_names(prose: str) -> list[str]:
    return [name for pair in find_acronyms(prose) for name in pair]


def _parts(names: Iterable[str]) -> list[str]:
    return [part for name in set(names) for part in identifier_parts(name)]


def code_spans_of(text: str, regions: Iterable[Region]) -> tuple[str, ...]:
    """The contents of the inline code of a body, without its backticks.

    `regions` as `find_regions(text)` gives them. Fenced code is left out: it would bury a note's
    names under those of a whole program.
    """
    return tuple(
        text[region.start : region.end].strip("`").strip()
        for region in regions
        if region.kind == "code"
    )


def fold(alias: str) -> str:
    """The form in which two aliases are compared: composed, case and blanks folded."""
    return " ".join(unicodedata.normalize("NFC", alias).casefold().split())


def _order(alias: str) -> tuple[str, str]:
    return fold(alias), alias
