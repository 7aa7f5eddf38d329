"""Known-item sets: questions made from the vault itself, by rule, without a model.

Asked is a title or a heading that one note alone has; that note is what is right. The texts come
from the files and not from the index, so that a note which the index lost is missed.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentm_assets.contract.excludes import is_excluded
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.spaces import is_generated, is_in_space, is_rules_file
from agentm_assets.evaluation.control import RunVoid
from agentm_assets.evaluation.gold_questions import GoldQuestion
from agentm_assets.extract.headings import find_headings
from agentm_assets.recall.ranking import RankingRules

QUESTIONS, SEED = 200, 7
"""Of a set, unless it is asked for otherwise: .95 of 200 has an interval of ±.03."""

TITLE, HEADING = "title", "heading"

_WORDS = {TITLE: (2, 12), HEADING: (4, 12)}
"""How many words a text may have: one of fewer is no question that names one note, "Next steps"
stands under many."""

_SHORTEST_UNSPACED = 4  # characters, in a script without blanks
_CLOSED = frozenset({"personal"})
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Item:
    path: str
    stratum: str
    text: str


def known_questions(
    texts: Mapping[str, str], ranking: RankingRules, *, n: int = QUESTIONS, seed: int = SEED
) -> tuple[GoldQuestion, ...]:
    """At most `n` questions, half of them titles and half headings where there are enough of both.

    `texts`: path → text of every note. Left out as answers: `personal/` (a result names notes, and
    is kept), whatever else the rules dampen or exclude, generated pages and the rules file. Which
    are drawn follows from the seed and each question alone, so that a note more or less leaves the
    others drawn as they were. Raises RunVoid when the vault has nothing to ask.
    """
    items = list(_items(texts))
    holders = Counter(key for key, _path in {(_key(item.text), item.path) for item in items})
    unique: dict[str, _Item] = {}
    for item in items:
        if holders[_key(item.text)] == 1 and _is_open(item.path, ranking):
            unique.setdefault(_key(item.text), item)
    questions = [_question(item) for item in unique.values()]
    drawn = {
        stratum: sorted(
            (each for each in questions if each.stratum == stratum),
            key=lambda each: _order(each.id, seed),
        )
        for stratum in (TITLE, HEADING)
    }
    titles = min(len(drawn[TITLE]), max(n // 2, n - len(drawn[HEADING])))
    chosen = (*drawn[TITLE][:titles], *drawn[HEADING][: n - titles])
    if not chosen:
        raise RunVoid(
            "no note of the vault has a title or heading of its own that could be asked for, so "
            "there is nothing to measure. Write a question set, see docs/evaluation.md."
        )
    return chosen


def questions_text(questions: Sequence[GoldQuestion]) -> str:
    """The set as a file of `agentm eval gold`."""
    entries = [
        {
            "id": each.id,
            "question": each.question,
            "expected_note_paths": list(each.expected_note_paths),
            "stratum": each.stratum,
        }
        for each in questions
    ]
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"


def _items(texts: Mapping[str, str]) -> Iterator[_Item]:
    for path, text in texts.items():
        body = text.encode("utf-8", "surrogatepass")
        start = read_frontmatter(body).body_start
        titled = False
        for heading in find_headings(body[start:].decode("utf-8", "replace")):
            if heading.container == "quote":
                continue
            stratum = TITLE if heading.level == 1 and not titled else HEADING
            titled = titled or stratum == TITLE
            asked = " ".join(_WORD.findall(heading.text))
            if _is_telling(asked, stratum):
                yield _Item(path, stratum, asked)


def _is_telling(text: str, stratum: str) -> bool:
    least, most = _WORDS[stratum]
    words = text.split()
    unspaced = len(_UNSPACED.findall(text))
    return len(words) <= most and (len(words) >= least or unspaced >= _SHORTEST_UNSPACED)


def _is_open(path: str, ranking: RankingRules) -> bool:
    closed = _CLOSED | ranking.dampened_spaces
    return not (
        is_in_space(path, closed)
        or is_generated(path)
        or is_rules_file(path)
        or is_excluded(path, ranking.excludes)
    )


def _question(item: _Item) -> GoldQuestion:
    digest = hashlib.sha256(item.text.encode()).hexdigest()[:8]
    return GoldQuestion(f"{item.path}#{digest}", item.text, (item.path,), item.stratum)


def _key(text: str) -> str:
    return text.casefold()


def _order(id_: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode("utf-8", "surrogatepass")).digest()
