"""What an answer must look like: its schema, made from the rules at each call, and its reading."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentm_assets.capture.slug import MAX_CHARACTERS, slugify
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.vocabulary import ALTITUDES, OBSERVATIONAL_CLASSES
from agentm_assets.enrichment.gates.answer_json import NoAnswer, read_object
from agentm_assets.enrichment.gates.held_words import HeldWords
from agentm_assets.enrichment.gates.markup import hidden_text, new_characters, new_html
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject
from agentm_assets.enrichment.judgment import MOST_ALIASES, MOST_TAGS, Altitude, Judgment
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.rewritable import is_renamable, is_rewritable
from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.aliases import fold
from agentm_assets.privacy.found import CONTACTS
from agentm_assets.privacy.scrub import PLACEHOLDER, invented, restore

LONGEST_TITLE: Final = 200
LONGEST_SUMMARY: Final = 600
LONGEST_TAG: Final = 40
LONGEST_ALIAS: Final = 100
_ROOM: Final = 1_000
_GROWTH: Final = 2
"""A body may have twice the characters of its source and `_ROOM` more: it distils, it adds
nothing. An answer as JSON may have `_ESCAPED` times that, for escapes and the other fields."""
_ESCAPED: Final = 6

_TAG = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LINE_END = re.compile(r"[\r\n\u0085\u2028\u2029\x0b\x0c]")
_FENCE_LINE = re.compile(r"\A\ufeff?---[ \t]*(?:[\r\n]|\Z)")

_Tag = Annotated[str, Field(min_length=1, max_length=LONGEST_TAG)]
_Alias = Annotated[str, Field(min_length=1, max_length=LONGEST_ALIAS)]


class _Answer(BaseModel):
    """The shape; what depends on the rules or the note is checked afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    type: str
    altitude: str
    class_: str = Field(alias="class")
    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)]
    slug: Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]
    tags: Annotated[list[_Tag], Field(max_length=MOST_TAGS)]
    aliases: Annotated[list[_Alias], Field(max_length=MOST_ALIASES)]
    summary: Annotated[str, Field(min_length=1, max_length=LONGEST_SUMMARY)] | None
    body: str | None
    confidence: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


def answer_schema(rules: LoadedRules) -> dict[str, Any]:
    """The JSON schema of an answer under these rules: closed, every key required, so that it fits
    the strict mode of every provider. Not all of it is enforced by those (llama.cpp's grammar gave
    a confidence of 85): `parse_answer` checks all of it again."""
    fields = answer_fields(rules.rules.memory_types)
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def answer_fields(memory_types: Sequence[str]) -> dict[str, Any]:
    """The schema of each field of an answer."""
    text_or_null = ["string", "null"]
    return {
        "type": {"type": "string", "enum": list(memory_types)},
        "altitude": {"type": "string", "enum": list(ALTITUDES)},
        "class": {"type": "string", "enum": list(OBSERVATIONAL_CLASSES)},
        "title": {"type": "string", "minLength": 1, "maxLength": LONGEST_TITLE},
        "slug": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_CHARACTERS,
            "description": "lower-case words joined by hyphens",
        },
        "tags": {
            "type": "array",
            "maxItems": MOST_TAGS,
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_TAG},
        },
        "aliases": {
            "type": "array",
            "maxItems": MOST_ALIASES,
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_ALIAS},
        },
        "summary": {"type": text_or_null, "maxLength": LONGEST_SUMMARY},
        "body": {"type": text_or_null},
        "confidence": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "from 0 to 1, such as 0.8",
        },
    }


def parse_answer(text: str, rules: LoadedRules, scrubbed: ScrubbedSubject) -> Judgment | Refusal:
    """What a model says of a note, with the originals back where the source had them.

    A rewrite of what must stay (`is_rewritable`, `is_renamable`) is dropped, not refused: the rest
    of the judgment holds without it. So are a slug and tags of words that neither the note
    nor the answer's own sentences hold.
    """
    subject = scrubbed.subject
    longest = _GROWTH * len(subject.source) + _ROOM
    if len(text) > _ESCAPED * longest:
        return _refusal("too-long", "the answer is far longer than the note")
    try:
        answer = _Answer.model_validate(read_object(text))
    except NoAnswer as error:
        # The model gave no answer in the form asked for: that says nothing about the note.
        return Refusal("schema", f"schema-{error.code}", f"{error}.")
    except ValidationError as error:
        return _shape_refusal(error)
    answer = answer.model_copy(update={"tags": _spelt(answer.tags)})
    refusal = (
        _refuse_names(answer, rules)
        or _refuse_placeholders(answer, scrubbed)
        or _refuse_lines(answer)
        or _refuse_body(answer, subject, longest)
    )
    if refusal is not None:
        return refusal
    restored = _restored(answer, scrubbed)
    written = "\n".join(part for part in (restored.title, restored.summary, restored.body) if part)
    before = f"{subject.title}\n{subject.source}"
    if new_html(written, before):
        return _refusal("html", "the answer holds HTML that the note lacks")
    if hidden_text(restored.body or "", subject.source):
        return _refusal("hidden-text", "the answer holds a comment that the note lacks")
    names = "\n".join((*restored.tags, *restored.aliases, restored.slug))
    if new_characters(f"{written}\n{names}", before):
        return _refusal("characters", "the answer holds invisible or control characters")
    return _judgment(restored, subject)


def _shape_refusal(error: ValidationError) -> Refusal:
    problem = error.errors(include_input=False, include_url=False, include_context=False)[0]
    field = str(problem["loc"][0]) if problem["loc"] else "answer"
    if problem["type"] == "extra_forbidden":
        return _refusal("unknown-field", "the answer has a field that was not asked for")
    if problem["type"] == "missing":
        return _refusal("missing-field", f"the answer lacks `{field}`")
    return _refusal(field, f"`{field}`: {problem['msg'][:1].lower()}{problem['msg'][1:]}")


def _refuse_names(answer: _Answer, rules: LoadedRules) -> Refusal | None:
    if answer.type not in rules.rules.memory_types:
        return _refusal("unknown-type", "the type is none of the rules' memory types")
    if answer.altitude not in ALTITUDES:
        return _refusal("unknown-altitude", "the altitude is neither canonical nor artifact")
    if answer.class_ not in OBSERVATIONAL_CLASSES:
        return _refusal("unknown-class", "the class is none that a pass files into")
    if slugify(answer.slug) != answer.slug:
        return _refusal("slug", "the slug is no lower-case words joined by hyphens")
    if not all(_is_kebab(tag) for tag in answer.tags):
        return _refusal("tags", "a tag is no lower-case words joined by hyphens")
    return None


def _spelt(tags: list[str]) -> list[str]:
    """The tags as tags are written: a small model (1.5B) writes capitals or blanks into those of
    every second answer, which is no reason to lose a judgment. A bare number is no tag."""
    spelt = ["-".join(tag.lower().replace("_", " ").split()) for tag in tags]
    return [tag for tag in spelt if not tag.isdigit()]


def _is_kebab(tag: str) -> bool:
    return bool(_TAG.fullmatch(tag)) and tag == tag.lower()


def _refuse_placeholders(answer: _Answer, scrubbed: ScrubbedSubject) -> Refusal | None:
    """A placeholder that stands for nothing, is damaged, or stands where it would spread what it
    stands for: contacts may be in title, summary and body, all else in the body alone."""
    originals = scrubbed.source
    for part in _texts(answer):
        if invented(part, originals) or _has_loose_bracket(part):
            return _refusal("invented-placeholder", "the answer holds a placeholder of its own")
    for part in (*answer.tags, *answer.aliases, answer.slug):
        if PLACEHOLDER.search(part):
            return _refusal("misplaced-placeholder", "a name in the answer holds a placeholder")
    shown = PLACEHOLDER.findall(scrubbed.title.text)
    for part in (answer.title, answer.summary or ""):
        for found in PLACEHOLDER.finditer(part):
            if found[1] not in CONTACTS and (found[1], found[2]) not in shown:
                return _refusal("misplaced-placeholder", "title or summary would show a secret")
    return None


def _has_loose_bracket(text: str) -> bool:
    rest = PLACEHOLDER.sub("", text)
    return "\u27e6" in rest or "\u27e7" in rest


def _refuse_lines(answer: _Answer) -> Refusal | None:
    for field, texts in (
        ("title", (answer.title,)),
        ("summary", (answer.summary or "-",)),
        ("aliases", answer.aliases),
    ):
        if any(_LINE_END.search(text) or not text.strip() for text in texts):
            return _refusal(field, f"`{field}` is blank, or of more than one line")
    return None


def _refuse_body(answer: _Answer, subject: Subject, longest: int) -> Refusal | None:
    if answer.body is None:
        return None
    if not answer.body.strip():
        return _refusal("body", "the body is empty")
    if len(answer.body) > longest:
        return _refusal("too-long", "the body is far longer than the note")
    if _FENCE_LINE.match(answer.body.lstrip("\ufeff \t\r\n")) and not _FENCE_LINE.match(
        subject.source
    ):
        return _refusal("frontmatter", "the body opens with properties")
    return None


def _texts(answer: _Answer) -> Iterator[str]:
    yield from (answer.title, answer.slug, answer.summary or "", answer.body or "")
    yield from answer.tags
    yield from answer.aliases


def _restored(answer: _Answer, scrubbed: ScrubbedSubject) -> _Answer:
    def back(text: str | None) -> str | None:
        return None if text is None else restore(text, scrubbed.source)

    return answer.model_copy(
        update={
            "title": back(answer.title),
            "summary": back(answer.summary),
            "body": back(answer.body),
        }
    )


def _judgment(answer: _Answer, subject: Subject) -> Judgment:
    altitude: Altitude = "canonical" if answer.altitude == "canonical" else "artifact"
    renamed = is_renamable(subject)
    # What the answer says in sentences is compared with the source by the gates that follow.
    said = (subject.title, subject.source, answer.title, answer.summary or "", answer.body or "")
    words = HeldWords("\n".join(said), (answer.type, answer.class_))
    return Judgment(
        type=answer.type,
        altitude=altitude,
        memory_class=answer.class_,
        title=answer.title.strip() if renamed else subject.title,
        slug=answer.slug if renamed and words.hold(answer.slug) else None,
        tags=_new([tag for tag in answer.tags if words.hold(tag)], subject.tags),
        aliases=_new(answer.aliases, subject.aliases),
        summary=answer.summary.strip() if answer.summary else None,
        body=answer.body if is_rewritable(subject) else None,
        confidence=answer.confidence + 0.0,  # -0.0 is no number that a note should hold
    )


def _new(names: list[str], present: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are not there yet, each once."""
    seen = {fold(name) for name in present}
    found: list[str] = []
    for name in names:
        if fold(name) not in seen:
            seen.add(fold(name))
            found.append(" ".join(name.split()))
    return tuple(found)


def _refusal(code: str, detail: str) -> Refusal:
    return Refusal("schema", f"schema-{code}", f"{detail}.", remembered=True)
