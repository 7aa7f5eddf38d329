"""What a judgment does to the bytes of a note: a few properties' lines, and where allowed the body.

Every other byte stays: unknown properties, `captured`, `source`, `probe`, comments, line ends. A
property is set by `contract.edit`, which refuses whatever it does not understand.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import Final

from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.reading import was_judged
from agentm_assets.enrichment.rewritable import is_renamable, is_rewritable
from agentm_assets.enrichment.subject import Subject
from agentm_assets.history.revert_log import stamp as moment

TOUCHED_KEYS: Final = (
    "type",
    "status",
    "altitude",
    "slug",
    "title",
    "tags",
    "aliases",
    "confidence",
    "summary",
    "enriched_by",
    "enriched_at",
    "rules_hash",
)
"""All that a judgment may write, in the order in which it does."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


def is_sure(judgment: Judgment, rules: LoadedRules) -> bool:
    """Is the judgment over the floor below which a note stays unfiled?"""
    return judgment.confidence >= rules.rules.thresholds.low_confidence


def applied(
    data: bytes,
    subject: Subject,
    judgment: Judgment,
    stamp: str,
    rules: LoadedRules,
    now: datetime,
    *,
    slug: str | None = None,
) -> bytes:
    """The note with the judgment in it. `slug`: the name that it gets, None when it keeps its own.

    Under the floor the note keeps body, title and status, and its confidence says why it waits.
    Raises EditRefused where a property can't be edited: then nothing of it may be written.
    """
    sure = is_sure(judgment, rules)
    edited = data
    if _sets_type(subject, judgment, rules, sure):
        edited = set_key(edited, "type", judgment.type)
    if sure and subject.status == "unfiled":
        edited = set_key(edited, "status", "active")
    if sure or properties.text_of(subject.frontmatter, "altitude") is None:
        edited = set_key(edited, "altitude", judgment.altitude)
    if slug is not None:
        edited = set_key(edited, "slug", slug)
    if sure and is_renamable(subject) and judgment.title != subject.title:
        edited = set_key(edited, "title", judgment.title)
    edited = _with_more(edited, "tags", judgment.tags, subject.tags)
    edited = _with_more(edited, "aliases", judgment.aliases, subject.aliases)
    edited = set_key(edited, "confidence", _rounded(judgment.confidence))
    if judgment.summary is not None:
        edited = set_key(edited, "summary", judgment.summary)
    edited = set_key(edited, "enriched_by", stamp)
    edited = set_key(edited, "enriched_at", moment(now))
    edited = set_key(edited, "rules_hash", rules.rules_hash)
    if sure and judgment.body is not None and is_rewritable(subject):
        edited = _with_body(edited, judgment.body)
    return edited


def _sets_type(subject: Subject, judgment: Judgment, rules: LoadedRules, sure: bool) -> bool:
    """The operator's own word stands: a note that was captured active with a type other than the
    default was given it. So does a filed type, against a judge that is not sure."""
    held = properties.text_of(subject.frontmatter, "type")
    if held is None or held not in rules.rules.memory_types or subject.status == "unfiled":
        return True
    if not was_judged(subject):
        return sure and held == rules.rules.default_type
    return sure


def _with_more(data: bytes, key: str, new: Sequence[str], held: Sequence[str]) -> bytes:
    """The list with new items behind those that are there, in whatever form they stand."""
    known = {item.casefold() for item in held}
    added = [item for item in dict.fromkeys(new) if item.casefold() not in known]
    if not added:
        return data
    own = _items_of(read_frontmatter(data), key)
    return set_key(data, key, [*own, *added])


def _items_of(frontmatter: Frontmatter, key: str) -> tuple[str, ...]:
    """The items under this very key: the same list may go on under another spelling of it."""
    field = frontmatter.fields.get(key)
    if field is None:
        return ()
    alone = replace(frontmatter, fields={key: field})
    return properties.tags(alone) if key == "tags" else properties.aliases(alone)


def _rounded(confidence: float) -> float:
    """To two digits, downwards: what is written is never surer than what was judged."""
    return float(Decimal(str(confidence)).quantize(Decimal("0.01"), ROUND_DOWN))


def _with_body(data: bytes, body: str) -> bytes:
    """The note with another text, in the line ends it had, and the blank lines before it."""
    start = read_frontmatter(data).body_start
    old = data[start:]
    blank = old[: len(old) - len(old.lstrip(b"\r\n"))]
    ends = _LINE_END.findall(old)
    end = max(set(ends), key=ends.count) if ends else b"\n"
    text = _LINE_END.sub(b"\n", body.strip("\r\n").encode("utf-8", "replace"))
    last = end if not old or old.endswith((b"\n", b"\r")) else b""
    return data[:start] + blank + text.replace(b"\n", end) + last
