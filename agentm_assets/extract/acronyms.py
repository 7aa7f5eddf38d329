"""Acronyms beside the term they stand for: `Write-Ahead Log (WAL)` and `WAL (Write-Ahead Log)`."""

import re

_SMALL = frozenset(
    {"a", "an", "and", "as", "at", "by", "de", "for", "from", "in", "is", "la", "of", "on", "or"}
    | {"the", "to", "und", "via", "with", "&"}
)
"""Words that an acronym may pass over."""

SHORTEST, LONGEST = 2, 8
"""Letters and digits of an acronym."""

_ACRONYM = r"[A-Z][A-Za-z0-9&./-]{1,11}"
_AFTER_TERM = re.compile(rf"\(({_ACRONYM})\)")
_BEFORE_TERM = re.compile(rf"(?<![\w-])({_ACRONYM})[ \t]{{0,2}}\(([^()]{{3,120}})\)")
_WINDOW = 160  # characters before the bracket; eight words and the small ones between fit
_MOST_WORDS = 2 * LONGEST
_BREAK = re.compile(
    r"[.!?:;][ \t\r\n]|[()|]|\n[ \t]{0,80}\r?\n|\n[ \t]{0,80}(?:[-*+>#]|\d{1,9}[.)])[ \t]"
)
_CLAUSE_END = re.compile(r"[,;:.](?=\s)|\s[-–—]\s")
_WORD = re.compile(r"[^\W_][\w'’.]*|&")
_BETWEEN_WORDS = re.compile(r"[\s,/-]{0,4}")
_LINK_TARGET = re.compile(r"\]\([^()\s]{0,500}\)")
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")
_MARKS = str.maketrans("", "", '*[]"“”„«»`')
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def find_acronyms(text: str) -> list[tuple[str, str]]:
    """Pairs of term and acronym in prose, in order.

    The initials of the term spell the acronym, in order and completely; small words may be passed
    over, and a hyphenated or humped word may count as several. Of the words before a bracket the
    shortest run that spells it is the term.
    """
    if "(" not in text:
        return []
    prose = _EMPHASIS.sub("", _LINK_TARGET.sub("]", text).translate(_MARKS))
    found: list[tuple[int, str, str]] = []
    for match in _AFTER_TERM.finditer(prose):
        acronym = _checked(match[1])
        term = _term_before(prose, match.start(), acronym) if acronym else None
        if acronym and term:
            found.append((match.start(), term, acronym))
    for match in _BEFORE_TERM.finditer(prose):
        acronym = _checked(match[1])
        term = _term_inside(match[2], acronym) if acronym else None
        if acronym and term:
            found.append((match.start(), term, acronym))
    return [(term, acronym) for _, term, acronym in sorted(found)]


def _checked(acronym: str) -> str | None:
    """The acronym without a plural s; None where the word is none: it needs two capitals."""
    if acronym.endswith("s") and acronym[-2:-1].isupper():
        acronym = acronym[:-1]
    capitals = sum(char.isupper() for char in acronym)
    if not (SHORTEST <= len(_letters(acronym)) <= LONGEST and capitals >= SHORTEST):
        return None
    return acronym if acronym[-1].isalnum() else None


def _letters(acronym: str) -> str:
    return "".join(char for char in acronym if char.isalnum()).lower()


def _term_before(prose: str, bracket: int, acronym: str) -> str | None:
    """The shortest run of words that ends at the bracket and spells the acronym."""
    floor = max(0, bracket - _WINDOW)
    start = floor
    for match in _BREAK.finditer(prose, floor, bracket):
        start = match.end()
    words = list(_WORD.finditer(prose, start, bracket))
    if floor and start == floor and words:
        words = words[1:]  # cut by the window
    if not words or not _is_gap(prose[words[-1].end() : bracket]):
        return None
    for count in range(1, min(len(words), _MOST_WORDS) + 1):
        first = words[-count]
        if count > 1 and not _is_gap(prose[first.end() : words[1 - count].start()]):
            return None
        if prose[first.start() - 1 : first.start()] == "-":
            continue  # the second half of a hyphenated word does not begin a term
        if _spells([word[0] for word in words[-count:]], _letters(acronym)):
            return " ".join(prose[first.start() : words[-1].end()].split())
    return None


def _term_inside(content: str, acronym: str) -> str | None:
    """The bracket's words, or those of its first clause, where all of them spell the acronym."""
    clause = _CLAUSE_END.search(content)
    for piece in (content, content[: clause.start()] if clause else ""):
        words = list(_WORD.finditer(piece))
        while words and words[0][0].lower() in ("a", "an", "the") and len(words) > 1:
            if not _spells([word[0] for word in words[1:]], _letters(acronym)):
                break
            words = words[1:]
        if words and _spells([word[0] for word in words], _letters(acronym)):
            return " ".join(piece[words[0].start() : words[-1].end()].split())
    return None


def _is_gap(between: str) -> bool:
    """What may stand between two words of a term; wider gaps are blanked code."""
    return _BETWEEN_WORDS.fullmatch(between) is not None


def _spells(words: list[str], letters: str) -> bool:
    """Whether the initials spell `letters`: every word gives one, small words may give none."""
    reached = {0}
    for word in words:
        gives = _initials(word)
        following = {
            at + len(given) for at in reached for given in gives if letters.startswith(given, at)
        }
        if word.lower() in _SMALL:
            following |= reached
        if not following:
            return False
        reached = following
    return len(letters) in reached


def _initials(word: str) -> set[str]:
    """What a word may give: its initial, the initials of its humps, or itself when a number."""
    if word == "&":
        return set()
    if word.isdigit():
        return {word, word[0]}
    return {word[0].lower(), "".join(hump[0] for hump in _HUMP.findall(word)).lower()} - {""}
