"""The bytes of a session's trace: made once, and later only added to in its lists."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from agentm_assets.capture.moment import iso
from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.lines import split_lines
from agentm_assets.extract.aliases import MAX_ALIASES, code_spans_of, fold
from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.identifiers import find_identifiers
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.projects.document import document, one_line
from agentm_assets.traces.session import MAX_LIST_ITEMS, Session

ENTITIES, TOUCHED, ALIASES = "entities", "touched", "aliases"


def new_trace(session: Session, title: str, slug: str, touched: Sequence[str]) -> bytes:
    """The trace as it is first written. `touched` holds links to notes, and other paths in code."""
    text = session.summary or f"A session{_of(session)}, nothing was summed up."
    listed = "".join(f"- {item}\n" for item in touched)
    return document(
        {
            "kind": "conversation",
            "status": "active",
            "altitude": "artifact",
            "captured": iso(session.ended),
            "slug": slug,
            "title": title,
            ALIASES: session.aliases,
            "source": session.source,
            ENTITIES: session.entities,
        },
        f"{text}\n\nTouched:\n\n{listed}" if listed else f"{text}\n",
    )


def merged_trace(data: bytes, session: Session, touched: Sequence[str], now: datetime) -> bytes:
    """The trace with what a later account of the session adds: aliases, entities and what was
    touched, in the lists of its properties, and `updated`. Its body is settled and stays; `data`
    itself when nothing is new.

    Raises EditRefused where the properties can't be read or edited.
    """
    frontmatter = read_frontmatter(data)
    body = data[frontmatter.body_start :].decode("utf-8", "replace")
    told = f"{properties.title(frontmatter) or ''}\n\n{body}"
    have = _items(frontmatter, ENTITIES)
    mentioned = {*_keys(told), *_keys("\n".join(have))}
    found = _keys(f"{session.title}\n\n{session.summary}")
    entities = _added(have, (key for key in (*session.entities, *found) if key not in mentioned))
    listed = _items(frontmatter, TOUCHED)
    # In code marks in the body, plain in a property.
    lines = {line.rstrip("\r\n") for line in split_lines(body)}
    added = _added(listed, (each.strip("`") for each in touched if f"- {each}" not in lines))
    edited = data
    for key, old, new in (
        (ALIASES, properties.aliases(frontmatter), _aliases(frontmatter, session, told)),
        (ENTITIES, have, entities),
        (TOUCHED, listed, added),
    ):
        if new != old:
            edited = set_key(edited, key, new)
    return data if edited == data else set_key(edited, "updated", iso(now))


def is_of(data: bytes, session: Session) -> bool:
    """Is this the trace of the session? One whose source was taken out still counts by its name."""
    source = properties.text_of(read_frontmatter(data), "source")
    return source is None or source == session.origin or source.endswith(f"-{session.origin}")


def _aliases(frontmatter: Frontmatter, session: Session, body: str) -> tuple[str, ...]:
    """The trace's aliases, then those given now, then the identifiers that the new account names
    and the trace does not. Their parts are left out: an alias that is written counts for links."""
    own = properties.aliases(frontmatter)
    named = _identifiers(f"{session.title}\n\n{session.summary}")
    known = {fold(name) for name in (*own, *_identifiers(body), *session.aliases)}
    new = [name for name in named if fold(name) not in known]
    room = max(0, MAX_ALIASES - len(own) - len(session.aliases))
    return tuple(_without_repeats((*own, *session.aliases, *new[:room])))


def _without_repeats(names: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(fold(name), name)
    return list(first.values())


def _identifiers(text: str) -> list[str]:
    regions = find_regions(text)
    found = set(find_identifiers(blank(text, regions, ALL)))
    for span in code_spans_of(text, regions):
        found.update(find_identifiers(span, in_code=True))
    return sorted(found)


def _keys(text: str) -> tuple[str, ...]:
    masked = blank(text, find_regions(text), ALL)
    mentions = extract_entities(text, masked, EntityContext(), lambda offset: offset)
    return tuple(dict.fromkeys(mention.key for mention in mentions))


def _items(frontmatter: Frontmatter, key: str) -> tuple[str, ...]:
    field = frontmatter.fields.get(key)
    return () if field is None else field.items or ((field.text,) if field.text else ())


def _added(old: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    everything = dict.fromkeys((*old, *(one_line(item) for item in more)))
    return tuple(everything)[: max(len(old), MAX_LIST_ITEMS)]


def _of(session: Session) -> str:
    return f" of {session.agent}" if session.agent else ""
