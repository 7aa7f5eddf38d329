"""Sentences of a model that stand on notes: how they are asked for, and the gates behind them.

Each sentence names the notes it rests on, by number. It is held against just these: no token that
they lack (numbers, dates, names, identifiers, URLs), most of its words in them, no markup, nothing
that reads like an order to an agent. Then the model is asked, in a question of its own, whether the
whole says more than the notes. One sentence that fails refuses the answer; the kept answer is then
the memory that it was asked, so the same question is not paid for again.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar

from agentm_assets.dreaming.asking import Asking, Pending
from agentm_assets.dreaming.plain_text import ORDER
from agentm_assets.enrichment.answers import named
from agentm_assets.enrichment.gates.answer_json import NoAnswer, read_object
from agentm_assets.enrichment.gates.distinctive import NUMBER, distinctive_tokens
from agentm_assets.enrichment.gates.grounding import (
    GROUNDING_SCHEMA,
    SYSTEM,
    JudgeUnable,
    parse_grounding,
)
from agentm_assets.enrichment.gates.haystack import Haystack
from agentm_assets.enrichment.gates.held_words import HeldWords
from agentm_assets.enrichment.gates.markup import hidden_text, new_characters, new_html
from agentm_assets.enrichment.gates.plain_words import NO_NAMES
from agentm_assets.enrichment.marked import fenced_data
from agentm_assets.extract.links import extract_links
from agentm_assets.models.protocol import ModelRequest
from agentm_assets.privacy.scrub import scrub_together

T = TypeVar("T")

GATES: Final = "1"
"""Of these gates: another number, and answers that were refused are looked at again."""

LONGEST_SENTENCE: Final = 400
LEAST_HELD: Final = 0.6
"""Share of a sentence's words that its notes must hold. A faithful paraphrase keeps the nouns; a
sentence of other words speaks of something else (tests/dreaming holds examples of both)."""

_VERDICT_TOKENS: Final = 400
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_BLOCK: Final = re.compile(r"\s*(?:[#>|~=`*+-]|\d{1,9}[.)]\s)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`notes`: the numbers, from 1, of the notes that it rests on."""

    text: str
    notes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A gate stayed shut. `code` is stable; `detail` quotes at most one token."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Grounded(Generic[T]):
    """An answer through all gates. `keys`: of the questions, to be let go once it is written."""

    answer: T
    keys: tuple[str, ...]


def sentences_schema(most: int) -> dict[str, Any]:
    """Of a list of sentences, each with the numbers of its notes."""
    return {
        "type": "array",
        "maxItems": most,
        "items": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": LONGEST_SENTENCE},
                "notes": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            },
            "required": ["text", "notes"],
            "additionalProperties": False,
        },
    }


def closed_schema(**fields: Any) -> dict[str, Any]:
    """An object of just these fields, each required: it fits the strict mode of every provider."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def scrubbed_sources(*texts: str) -> tuple[str, ...]:
    """The texts as a model may see them, under one numbering of what was taken out."""
    return tuple(each.text for each in scrub_together(*texts)) if texts else ()


def numbered(name: str, sources: Sequence[str]) -> str:
    """The sources as data of a question, each behind its number."""
    return fenced_data(name, "\n\n".join(f"[{at}] {text}" for at, text in enumerate(sources, 1)))


def read_answer(text: str, *fields: str) -> dict[str, Any] | Refused:
    """The answer's object, of exactly these fields."""
    try:
        found = read_object(text)
    except NoAnswer as error:
        return Refused(f"schema-{error.code}", f"{error}.")
    if set(found) != set(fields):
        return Refused("schema-fields", "the answer has other fields than were asked for.")
    return found


def read_sentences(value: object, most: int) -> tuple[Sentence, ...] | Refused:
    """Sentences of an answer by their form alone."""
    shape = Refused("schema-sentences", "the sentences have another form than was asked for.")
    if not isinstance(value, list) or len(value) > most:
        return shape
    found: list[Sentence] = []
    for item in value:
        if not isinstance(item, dict) or set(item) != {"text", "notes"}:
            return shape
        text, notes = item["text"], item["notes"]
        if not isinstance(text, str) or not isinstance(notes, list):
            return shape
        if any(isinstance(n, bool) or not isinstance(n, int) for n in notes):
            return shape
        found.append(Sentence(" ".join(text.split()), tuple(dict.fromkeys(notes))))
    return tuple(found)


def read_stated(
    text: str,
    field: str,
    most: int,
    sources: Sequence[str],
    known: Sequence[str] = (),
    *,
    least_held: float = LEAST_HELD,
) -> tuple[Sentence, ...] | Refused:
    """An answer that is only a list of sentences under `field`, through all gates."""
    found = read_answer(text, field)
    if isinstance(found, Refused):
        return found
    sentences = read_sentences(found[field], most)
    if isinstance(sentences, Refused):
        return sentences
    return refuse_sentences(sentences, sources, known, least_held=least_held) or sentences


def refuse_sentences(
    sentences: Sequence[Sentence],
    sources: Sequence[str],
    known: Sequence[str] = (),
    *,
    least_held: float = LEAST_HELD,
) -> Refused | None:
    """The first gate that stays shut for one of the sentences. `known`: names that may always be
    said, such as the page's own title."""
    for each in sentences:
        refused = _refuse(each, sources, "\n".join(known), least_held)
        if refused is not None:
            return refused
    return None


def refuse_line(text: str, sources: Sequence[str], known: Sequence[str] = ()) -> Refused | None:
    """The same for a line that rests on all of them, such as a title."""
    return refuse_sentences([Sentence(text, tuple(range(1, len(sources) + 1)))], sources, known)


def _refuse(
    sentence: Sentence, sources: Sequence[str], known: str, least_held: float
) -> Refused | None:
    text = sentence.text
    if not text or len(text) > LONGEST_SENTENCE:
        return Refused("length", "a sentence is empty or too long.")
    if not sentence.notes or not all(1 <= number <= len(sources) for number in sentence.notes):
        return Refused("unsupported", "a sentence names no note that it rests on.")
    if "\u27e6" in text or "\u27e7" in text:
        return Refused("placeholder", "a sentence holds what stands for a secret or an address.")
    if new_html(text, "") or hidden_text(text, "") or "%%" in text:
        return Refused("html", "a sentence holds HTML, a template or hidden text.")
    held = "\n".join((known, *(sources[number - 1] for number in sentence.notes)))
    if new_characters(text, held):
        return Refused("characters", "a sentence holds invisible or control characters.")
    if "[[" in text or "](" in text or extract_links(text.encode("utf-8", "replace"), 0):
        return Refused("link", "a sentence holds a link.")
    if _BLOCK.match(text):
        return Refused("block", "a sentence would be read as a heading, a list or code.")
    if ORDER.search(text):
        return Refused("order", "a sentence reads like an instruction to an agent.")
    haystack = Haystack(held)
    for token in distinctive_tokens(text):
        if not haystack.holds(token):
            return Refused(
                f"new-{token.kind}", f"the answer has {token.text[:60]}, which no note has."
            )
    numbers = _numbers(held)
    if not _numbers(text) <= numbers:
        return Refused("new-number", "the answer has a number, which no note has.")
    words = [word for word in _WORD.findall(text.casefold()) if word not in NO_NAMES]
    own = HeldWords(held, ())
    if words and sum(map(own.hold, words)) < least_held * len(words):
        return Refused("other-words", "a sentence says what its notes do not speak of.")
    return None


def _numbers(text: str) -> set[str]:
    """All numbers, the small ones as well: `3 valves` must not become four."""
    return {each.lstrip("0") or "0" for each in NUMBER.findall(text)}


def ask_grounded(
    asking: Asking,
    request: ModelRequest,
    about: Collection[str],
    sources: Sequence[str],
    read: Callable[[str], T | Refused],
    stated: Callable[[T], str],
) -> Grounded[T] | Pending | Refused:
    """Ask, put the answer through its gates, and ask whether it says more than the sources.

    `read` turns the text into the answer or says which gate stayed shut; `stated` gives what of it
    is compared, "" for an answer that claims nothing. In batches the two questions take two nights.
    """
    request = named(request, {"key": request.key, "gates": GATES})
    reply = asking.ask(request, about)
    if isinstance(reply, Pending):
        return reply
    answer = read(reply.text)
    if isinstance(answer, Refused):
        return answer
    claims = stated(answer)
    if not claims:
        return Grounded(answer, (request.key,))
    verdict = named(
        ModelRequest(
            key="grounding",
            system=SYSTEM,
            user=f"{fenced_data('source', chr(10).join(sources))}\n\n"
            f"{fenced_data('rewrite', claims)}",
            schema_name="grounding",
            schema=GROUNDING_SCHEMA,
            max_output_tokens=_VERDICT_TOKENS,
        ),
        {"answer": request.key, "claims": sha256(claims.encode("utf-8", "replace")).hexdigest()},
    )
    said = asking.ask(verdict, about)
    if isinstance(said, Pending):
        return said
    judged = parse_grounding(said.text)
    if isinstance(judged, JudgeUnable):
        return Refused("grounding-unable", judged.detail)
    if judged is not None:
        return Refused(judged.code, judged.detail)
    return Grounded(answer, (request.key, verdict.key))
