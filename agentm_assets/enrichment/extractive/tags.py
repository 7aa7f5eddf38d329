"""Tags for a note out of the words that the vault has for such things already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentm_assets.capture.slug import slugify
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary

_OFTEN = 2  # times that a tag is named in a body whose title does not name it
_SHORTEST = 2
_LONGEST_NAME = 4  # words


@dataclass(frozen=True, slots=True)
class TagIndex:
    """A vocabulary by the words that name each tag, made once and used for many notes."""

    by_words: dict[tuple[str, ...], str]
    ranks: dict[str, int]


def index_tags(vocabulary: Vocabulary) -> TagIndex:
    """A tag is named by its words in this order (`home-office` by "home office"), a nested one
    (`area/garden`) and a repository by the last part too. The first tag that a name has, has it."""
    by_words: dict[tuple[str, ...], str] = {}
    ranks: dict[str, int] = {}
    own = {tag.casefold() for tag in vocabulary.tags}
    named = [(name, slugify(name.rpartition("/")[2])) for name in vocabulary.names]
    for written, tag in [*((tag, tag) for tag in vocabulary.tags), *named]:
        if not tag or (written != tag and tag.casefold() in own):
            continue
        ranks.setdefault(tag, len(ranks))
        for form in (written, written.rpartition("/")[2]):
            words = _words(form)
            if words and len("".join(words)) >= _SHORTEST and len(words) <= _LONGEST_NAME:
                by_words.setdefault(words, tag)
    return TagIndex(by_words, ranks)


def find_tags(index: TagIndex, title: str, body: str, own: Iterable[str], most: int) -> list[str]:
    """New tags that the title names, or the body more than once: those of the title first, then the
    most named, then the most used in the vault. Code counts, since a tool is named there."""
    held = {tag.casefold() for tag in own}
    in_title = _named(index, _words(title))
    in_body = _named(index, _words(body))
    found = [
        tag
        for tag in index.ranks
        if tag.casefold() not in held and (in_title.get(tag) or in_body.get(tag, 0) >= _OFTEN)
    ]
    found.sort(key=lambda tag: (tag not in in_title, -in_body.get(tag, 0), index.ranks[tag]))
    return found[:most]


def _words(text: str) -> tuple[str, ...]:
    """Runs of letters and digits, case folded."""
    folded = text.casefold()
    return tuple("".join(c if c.isalnum() else " " for c in folded).split())


def _named(index: TagIndex, words: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    firsts = {name[0] for name in index.by_words}
    for at, word in enumerate(words):
        if word in firsts:
            for length in range(_LONGEST_NAME, 0, -1):
                tag = index.by_words.get(tuple(words[at : at + length]))
                if tag is not None:
                    found[tag] = found.get(tag, 0) + 1
                    break
    return found
