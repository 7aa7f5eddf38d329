"""Compound identifiers and their parts: `idx_timestamp_desc`, `os.path.join`, `getHTTPResponse`.

Inline code is taken at its word. In prose an identifier has to show that it is one: snake_case
does, a dotted name whose last part is no domain does, camelCase does; `GitHub`, `e.g.` and
`well-known` do not.
"""

import re
from collections.abc import Iterator

from agentm_assets.extract.link_spans import blank_spans, find_link_spans
from agentm_assets.extract.word_lists import (
    CODE_NOUNS,
    DOMAIN_ENDS,
    FILE_ENDS,
    FUNCTION_WORDS,
    NOT_CAMEL,
)

LONGEST = 80
"""Longer tokens are data: keys, hashes, encoded text."""

_TOKEN = re.compile(r"[^\W\d](?:[\w.]*\w)?")
_CODE_TOKEN = re.compile(r"[^\W\d](?:[\w.-]*\w)?")
_SEPARATORS = re.compile(r"[._-]+")
_HUMP = re.compile(
    r"[A-Z]{2,}s(?![a-z0-9])"  # URLs
    r"|[A-Z]+(?=[A-Z][a-z])"  # HTTP in HTTPResponse
    r"|[A-Z][a-z][a-z0-9]*"
    r"|[A-Z]+[0-9]*"
    r"|[a-z][a-z0-9]*"
    r"|[0-9]+"
)
_HEX = re.compile(r"[0-9a-fA-F]+")

_PUNCTUATION = ".,;:!?()[]{}\"'`*“”"
_HOST_PREFIX = "www."


def find_identifiers(text: str, *, in_code: bool = False) -> list[str]:
    """The compound identifiers of prose, or of what stands in inline code, in order, with repeats.

    In prose the targets of links and URLs are passed over: they hold the names of other things.
    """
    if in_code:
        return [token for run in text.split() for token in _code_tokens(run)]
    text = blank_spans(text, find_link_spans(text).targets, " ")
    runs = text.split()
    return [
        token
        for index, run in enumerate(runs)
        if not (run.isalpha() and run.islower()) and _may_hold_one(run)
        for token in _prose_tokens(run, beside_noun=_beside_noun(runs, index))
    ]


def identifier_parts(name: str) -> list[str]:
    """What a compound name is made of: `getHTTPResponse` of `get`, `HTTP` and `Response`.

    Parts that nobody asks for (single letters, numbers, `of`, the ending of a file) are left out.
    """
    segments = [segment for segment in _SEPARATORS.split(name) if segment]
    if "." in name and len(segments) > 1 and segments[-1].lower() in FILE_ENDS:
        segments.pop()
    parts: list[str] = []
    for segment in segments:
        humps = _humps(segment)
        parts += [segment, *humps] if len(humps) > 1 else [segment]
    return [
        part
        for part in parts
        if part != name
        and len(part) > 1
        and not part[0].isdigit()
        and part.lower() not in FUNCTION_WORDS
    ]


def _may_hold_one(run: str) -> bool:
    """A cheap first look: most words of prose are out (those in lower case were not even asked)."""
    if "_" in run or "." in run[1:-1] or not (run.islower() or run.istitle()):
        return "://" not in run and "@" not in run and not run.lower().startswith(_HOST_PREFIX)
    return False


def _beside_noun(runs: list[str], index: int) -> bool:
    neighbours = runs[max(0, index - 1) : index] + runs[index + 1 : index + 2]
    return any(word.strip(_PUNCTUATION).lower() in CODE_NOUNS for word in neighbours)


def _prose_tokens(run: str, *, beside_noun: bool) -> Iterator[str]:
    for match in _TOKEN.finditer(run):
        before, after = run[match.start() - 1 : match.start()], run[match.end() : match.end() + 1]
        if before in ("#", "&") or (before == ":" and after == ":"):
            continue  # a tag, an entity, an emoji
        token = match[0].strip("_")
        if len(token) > LONGEST:
            continue
        segments = [segment for segment in _SEPARATORS.split(token) if segment]
        if "." in token:
            accepted = _is_dotted_in_prose(token.split("."))
        elif len(segments) > 1:
            accepted = _is_compound(segments)
        else:
            accepted = _is_camel_in_prose(token, called=beside_noun or after == "(")
        if accepted:
            yield token


def _code_tokens(run: str) -> Iterator[str]:
    if "://" in run or "@" in run:
        return
    for match in _CODE_TOKEN.finditer(run):
        token = match[0].strip("_")
        if len(token) > LONGEST or token.lower().endswith(".md"):
            continue
        segments = [segment for segment in _SEPARATORS.split(token) if segment]
        if len(segments) > 1:
            if _is_compound(segments):
                yield token
        elif len(_humps(token)) > 1:
            yield token


def _is_compound(segments: list[str]) -> bool:
    """A name begins with a letter and holds a word; a UUID and a digest do not."""
    if not segments[0][0].isalpha():
        return False
    if all(_HEX.fullmatch(segment) for segment in segments):
        return not any(char.isdigit() for segment in segments for char in segment)
    return any(sum(char.isalpha() for char in segment) > 1 for segment in segments)


def _is_dotted_in_prose(segments: list[str]) -> bool:
    """`os.path`, `config.toml`, `Foo.bar`; not `e.g.`, `example.com`, `Node.js`, `end.Start`."""
    last = segments[-1]
    names = segments[:-1] if last.lower() in FILE_ENDS else segments
    if any(len(segment) < 2 or segment[0].isdigit() for segment in names):
        return False
    if last.lower() in DOMAIN_ENDS or last.lower() == "md":
        return False
    if len(segments) == 2:
        sentence_end = last[0].isupper() and last[1:].islower()
        product = segments[0][0].isupper() and last.lower() == "js"
        return not sentence_end and not product
    return True


def _is_camel_in_prose(token: str, *, called: bool) -> bool:
    """`userId` and `HTTPRetryPolicy` show it; `RetryPolicy` does beside `class` or a bracket."""
    humps = _humps(token)
    if len(humps) < 2 or token.lower() in NOT_CAMEL:
        return False
    if token[0].islower() or len(humps) > 2 or called:
        return True
    return humps[0][-1].isdigit()


def _humps(segment: str) -> list[str]:
    """The words of a camelCase name; a lone capital belongs to the word it begins (`OAuth2`)."""
    found = _HUMP.findall(segment)
    if "".join(found) != segment:
        return [segment]
    humps: list[str] = []
    carried = ""
    for hump in found:
        if len(hump) == 1 and hump.isalpha():
            carried += hump
        else:
            humps.append(carried + hump)
            carried = ""
    if carried:
        humps[-1:] = ["".join(humps[-1:]) + carried]
    return humps
