"""What of a note speaks for one type or another: its words, and what it is built like."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from agentm_assets.contract.lines import split_lines
from agentm_assets.enrichment.extractive import cue_words
from agentm_assets.extract.link_spans import blank_spans, find_link_spans
from agentm_assets.extract.mask import ALL, Region, blank

OPENING_WORDS = 60
"""The beginning of a note, its title included: what it is about is mostly said there."""

_TOKEN = re.compile(r"([^\W_]++(?:['.\-][^\W_]++)*+)|([.!?;:]++(?=\s|\Z)|[\n\r])")
_URL = re.compile(r"https?://[^\s<>\"')\]]++")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")
_NUMBERED = re.compile(r"[ \t]{0,12}\d{1,3}[.)][ \t]")
_BULLET = re.compile(r"[ \t]{0,12}[-*+][ \t]")
_HEADING = re.compile(r"#{2,6}[ \t]")
_SHELL = re.compile(
    r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?:bash|sh|shell|zsh|console|shell-session|powershell)\b"
    r"|[ \t]*(?:[\w@~./ \-]{0,60})?[$%>#][ \t]+[a-z./]"
)
_PREPARING = re.compile(
    r"\b(?:brew|apt|apt-get|dnf|yum|pip3?|pipx|npm|yarn|pnpm|cargo|gem|go|conda)"
    r"[ ](?:install|add)\b"
    r"|\bgit clone\b|\bmkdir\b|(?<![^\s`])cd [\w./~$-]|\bwget\b|\bdocker (?:build|run|pull|push)\b"
    r"|\bdeploy\b|\bsystemctl\b|\bmake \w|bin/activate\b|\s-m venv\b|\bchmod\b|\bgit (?:push|tag)\b"
)
_SHELL_FENCE = re.compile(
    r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?:(?:bash|sh|shell|zsh|console|shell-session|powershell)\b.*)?\Z"
)
_FAILURE = re.compile(
    r"Traceback|\b[A-Z]\w{0,60}(?:Error|Exception|Warning)\b|\b(?:ERROR|FATAL|error|fatal|panic):"
    r"|\b[Ee]rror:|exit (?:code|status) [1-9]|\bnot found\b|[Pp]ermission denied"
    r"|\bNo such file\b|\bcannot \w{1,20}\b"
)
_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.? (?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December)\b|\b(?:January|February|March|April|May|June|July"
    r"|August|September|October|November|December) \d{1,2}\b"
)
_NUMBER = re.compile(r"\b\d[\d,.]*+")


@dataclass(frozen=True, slots=True)
class Cues:
    """Counts over a note and its title. `words`: of prose. `hits` and `opening`: how often each
    list of `cue_words` was met, in all and in the first OPENING_WORDS words. `steps`: numbered
    lines. `programs`: fenced code in a named language other than a shell's. `preparing`: commands
    that install, fetch, build or put something in place. `imperatives`: sentences and lines that
    begin with one. `english`: share of the words that any English text is full of, 0 to 1.
    """

    words: int
    hits: Mapping[str, int]
    opening: Mapping[str, int]
    title: Mapping[str, int]
    title_begins_doing: bool
    steps: int
    bullets: int
    headings: int
    fences: int
    code_spans: int
    programs: int
    shell_lines: int
    preparing: int
    failures: int
    dates: int
    numbers: int
    links: int
    questions: int
    imperatives: int
    first_person: int
    we: int
    second_person: int
    past: int
    moments: int
    lasting: int
    english: float


def read_cues(
    title: str,
    text: str,
    regions: Sequence[Region],
    prose: str,
    more: Mapping[str, Collection[str]] | None = None,
) -> Cues:
    """Count them. `text` is a body, of which the caller has cut what is too long to be read,
    `regions` as `find_regions(text)` gives them, `prose` as `prose_of` does. `more`: further lists
    of words, by the type that they speak for.

    Linear in its length, and a matter of the text alone.
    """
    lists = {**(more or {}), **LISTS}
    tokens = [token.casefold() for token in _tokens(prose)]
    named = [token.casefold() for token in _tokens(title)]
    words = [token for token in tokens if token]
    code = _code_of(text, regions)
    lines = split_lines(prose)
    fences = [_first_line(text, region) for region in regions if region.kind == "fence"]
    spans = " ".join(text[region.start : region.end] for region in regions if region.kind == "code")
    whole = [*named, "", *tokens]
    return Cues(
        words=len(words),
        hits=_hits(whole, lists),
        opening=_hits(_beginning(whole, OPENING_WORDS), lists),
        title=_hits(named, LISTS),
        title_begins_doing=bool(named) and named[0] in cue_words.DOINGS,
        steps=sum(1 for line in lines if _NUMBERED.match(line)),
        bullets=sum(1 for line in lines if _BULLET.match(line)),
        headings=sum(1 for line in lines if _HEADING.match(line)),
        fences=sum(1 for region in regions if region.kind in ("fence", "indented")),
        code_spans=sum(1 for region in regions if region.kind == "code"),
        programs=sum(1 for each in fences if not _SHELL_FENCE.match(each)),
        preparing=len(_PREPARING.findall(code)) + len(_PREPARING.findall(spans)),
        shell_lines=sum(1 for line in split_lines(code) if _SHELL.match(line)),
        failures=len(_FAILURE.findall(code)) + len(_FAILURE.findall(prose)),
        dates=len(_DATE.findall(prose)),
        numbers=len(_NUMBER.findall(prose)),
        links=len(_URL.findall(text)),
        questions=prose.count("?"),
        imperatives=_first_words_among(tokens, cue_words.IMPERATIVES),
        first_person=_among(words, cue_words.FIRST_PERSON),
        we=_among(words, cue_words.WE),
        second_person=_among(words, cue_words.SECOND_PERSON),
        past=_among(words, cue_words.PAST),
        moments=_count(whole, cue_words.MOMENT),
        lasting=_count(whole, cue_words.LASTING),
        english=_among(words, cue_words.FUNCTION_WORDS) / max(1, len(words)),
    )


def prose_of(text: str, regions: Sequence[Region]) -> str:
    """A body as long as it was, with all blanked that is no prose: code, comments, addresses."""
    masked = blank(text, regions, ALL)
    masked = blank_spans(masked, find_link_spans(masked).targets, " ")
    return _URL.sub(lambda match: " " * len(match[0]), masked).translate(_APOSTROPHES)


LISTS: Mapping[str, Collection[str]] = {
    "preference": cue_words.LIKING,
    "convention": cue_words.RULE,
    "reference": cue_words.LOOKUP,
    "workflow": cue_words.STEPS,
    "fix": cue_words.CURE,
    "idea": cue_words.MAYBE,
}
"""By the type that the words speak for."""


def _tokens(text: str) -> Iterator[str]:
    """The words of a text; "" where a sentence or line ends."""
    for match in _TOKEN.finditer(text.translate(_APOSTROPHES)):
        yield match[1] or ""


def _beginning(tokens: Sequence[str], words: int) -> list[str]:
    found: list[str] = []
    for token in tokens:
        words -= token != ""
        if words < 0:
            break
        found.append(token)
    return found


def _hits(tokens: Sequence[str], lists: Mapping[str, Collection[str]]) -> dict[str, int]:
    return {name: _count(tokens, phrases) for name, phrases in lists.items()}


def _count(tokens: Sequence[str], phrases: Collection[str]) -> int:
    """How many of the phrases stand in the text, the longest at each place."""
    by_first = _by_first_word(frozenset(phrases))
    found = at = 0
    while at < len(tokens):
        length = next(
            (
                len(phrase)
                for phrase in by_first.get(tokens[at], ())
                if tuple(tokens[at : at + len(phrase)]) == phrase
            ),
            0,
        )
        found += length > 0
        at += length or 1
    return found


@cache
def _by_first_word(phrases: frozenset[str]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tuple(phrase.split(" "))
        found.setdefault(words[0], []).append(words)
    for each in found.values():
        each.sort(key=lambda words: (-len(words), words))
    return found


def _among(words: Sequence[str], wanted: Collection[str]) -> int:
    return sum(1 for word in words if word in wanted)


def _first_words_among(tokens: Sequence[str], wanted: Collection[str]) -> int:
    return sum(
        1
        for before, word in zip(["", *tokens], tokens, strict=False)
        if not before and word in wanted
    )


def _code_of(text: str, regions: Sequence[Region]) -> str:
    return "\n".join(
        text[region.start : region.end]
        for region in regions
        if region.kind in ("fence", "indented")
    )


def _first_line(text: str, region: Region) -> str:
    return text[region.start : min(region.end, region.start + 80)].partition("\n")[0].rstrip()
