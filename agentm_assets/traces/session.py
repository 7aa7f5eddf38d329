"""What a coding agent tells of a session, checked. It comes from outside: nothing in it is an
instruction, and nothing of it decides where in the vault something is written but its day."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from agentm_assets.contract.properties import parse_date
from agentm_assets.projects.document import one_line, storable

MAX_INPUT_BYTES = 1024 * 1024
MAX_ID_CHARACTERS = 200
MAX_TITLE_CHARACTERS = 200
MAX_LIST_ITEMS = 200
MAX_ITEM_CHARACTERS = 500

_TEXTS = ("session_id", "agent", "title", "summary", "started", "ended")
_LISTS = ("touched", "entities", "aliases")


class TraceRefused(Exception):
    """The session can't be recorded; the text says which part of the input and the cure."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a coding agent.

    `started` and `ended` are aware. `touched` are paths, as the agent names them; `entities` keys
    such as issue:owner/repo#12; `agent` is the program's name ("claude-code").
    """

    session_id: str
    started: datetime
    ended: datetime
    agent: str = ""
    title: str = ""
    summary: str = ""
    touched: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """What the trace carries as its source, and is found by."""
        return f"{self.agent}-session:{self.session_id}" if self.agent else self.origin

    @property
    def origin(self) -> str:
        """The part of `source` that tells sessions apart."""
        return f"session:{self.session_id}"


def read_session(data: bytes, now: datetime) -> Session:
    """A session from JSON: an object with `session_id` and, as far as known, `agent`, `title`,
    `summary`, `started` and `ended` (ISO 8601 with an offset; `now` else), and the lists `touched`,
    `entities` and `aliases`. Other keys are passed over, since hooks send more.

    Raises TraceRefused.
    """
    if len(data) > MAX_INPUT_BYTES:
        raise TraceRefused(f"the input is over {MAX_INPUT_BYTES} bytes; send a summary")
    try:
        given = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TraceRefused("the input is no JSON; send one object on standard input") from error
    if not isinstance(given, dict):
        raise TraceRefused("the input is no JSON object; send one with session_id")
    return session_of(given, now)


def session_of(given: Mapping[str, object], now: datetime) -> Session:
    """A session from what `read_session` describes. Raises TraceRefused."""
    texts = {name: _text(given, name) for name in _TEXTS}
    lists = {name: _list(given, name) for name in _LISTS}
    session_id = one_line(texts["session_id"])
    if not session_id or len(session_id) > MAX_ID_CHARACTERS:
        raise TraceRefused(
            f"`session_id` must be a text of 1 to {MAX_ID_CHARACTERS} characters; it tells "
            "sessions apart"
        )
    ended = _moment(texts["ended"], "ended", now)
    return Session(
        session_id=session_id,
        started=_moment(texts["started"], "started", ended),
        ended=ended,
        agent=one_line(texts["agent"])[:MAX_ID_CHARACTERS],
        title=one_line(texts["title"])[:MAX_TITLE_CHARACTERS],
        summary=storable(texts["summary"]).strip(),
        **lists,
    )


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise TraceRefused(f"`{name}` must be a text")
    return value or ""


def _list(given: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = given.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TraceRefused(f"`{name}` must be a list of texts")
    items = (one_line(item)[:MAX_ITEM_CHARACTERS] for item in value[:MAX_LIST_ITEMS])
    return tuple(dict.fromkeys(item for item in items if item))


def _moment(written: str, name: str, otherwise: datetime) -> datetime:
    if not written.strip():
        return otherwise
    moment = parse_date(written.strip())
    if not isinstance(moment, date):
        raise TraceRefused(f"`{name}` is no ISO date, as in 2026-08-01T09:30:00+02:00")
    if not isinstance(moment, datetime):
        raise TraceRefused(f"`{name}` lacks its time of day, as in 2026-08-01T09:30:00+02:00")
    if moment.tzinfo is None:
        raise TraceRefused(f"`{name}` lacks its offset, as in 2026-08-01T09:30:00+02:00 or …Z")
    return moment
