"""One note in the calendar for each session, however often it is told of."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Literal

from agentm_assets.capture.slug import cut, slugify
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import begin
from agentm_assets.projects.declared import is_folder, space_folder
from agentm_assets.projects.document import one_line
from agentm_assets.projects.maps import link
from agentm_assets.projects.turn import turn
from agentm_assets.storage.locator import Locator, LocatorInvalid
from agentm_assets.storage.personal import is_personal
from agentm_assets.storage.seam import ABSENT, StorageBackend
from agentm_assets.traces.note import is_of, merged_trace, new_trace
from agentm_assets.traces.session import Session, TraceRefused

PASS = "trace"

_TITLE_CHARACTERS, _TITLE_BYTES = 56, 150  # of the slug, which the digest follows
_DIGEST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Recorded:
    """The session's note, what was done to it, and what git said (None: nothing was written)."""

    path: str
    did: Literal["created", "merged", "unchanged"]
    outcome: Outcome | None


def record_session(
    location: VaultLocation, backend: StorageBackend, session: Session, now: datetime
) -> Recorded:
    """Make the calendar note of a session, or add to the one that is there.

    The note stands at `calendar/YYYY/YYYY-MM-DD_<title>-<digest of the id>.md`, by the day on which
    the session started; the id is in its `source`. A later account adds aliases, entities and what
    was touched, and never rewrites the body. Paths in `personal/` are left out.

    Raises TraceRefused when the note's properties can't be edited, StorageError.
    """
    touched = tuple(
        dict.fromkeys(
            shown for path in session.touched if (shown := _shown(location, backend, path))
        )
    )
    with turn(location, backend, "traces").held():
        calendar = space_folder(backend, "calendar") or Locator("calendar")
        place = _find(backend, calendar, session, now)
        if place is not None:
            return _merge(location, backend, place, session, touched, now)
        title = session.title or _untitled(session)
        words = cut(slugify(title) or "session", _TITLE_CHARACTERS, _TITLE_BYTES)
        slug = f"{words}-{_digest(session)}"
        day = session.started.date()
        place = calendar.child(f"{day.year:04}").child(f"{day.isoformat()}_{slug}.md")
        with begin(location, backend, pass_name=PASS, subject=f"Trace {place.name}") as run:
            run.write(place, new_trace(session, title, slug, touched), expect=ABSENT)
    return Recorded(place.key, "created", run.outcome)


def _merge(
    location: VaultLocation,
    backend: StorageBackend,
    place: Locator,
    session: Session,
    touched: tuple[str, ...],
    now: datetime,
) -> Recorded:
    try:
        if merged_trace(old := backend.read_bytes(place), session, touched, now) == old:
            return Recorded(place.key, "unchanged", None)
        with begin(location, backend, pass_name=PASS, subject=f"Add to {place.name}") as run:
            run.rewrite(place, lambda data: merged_trace(data, session, touched, now))
    except EditRefused as error:
        raise TraceRefused(f"{place}: {error}. Mend its properties by hand") from error
    return Recorded(place.key, "merged", run.outcome)


def _find(
    backend: StorageBackend, calendar: Locator, session: Session, now: datetime
) -> Locator | None:
    """The trace that is there, by the end of its name: only names are read, and the one note.

    A session that is taken up again starts anew on a later day, so the years around are looked at.
    """
    ending = f"-{_digest(session)}.md"
    around = {moment.year for moment in (session.started, session.ended, now)}
    years = sorted({year + shift for year in around for shift in (-1, 0, 1)})
    for year in years:
        for place in backend.list(calendar.child(f"{year:04}")):
            if place.name.endswith(ending) and is_of(backend.read_bytes(place), session):
                return place
    return None


def _shown(location: VaultLocation, backend: StorageBackend, path: str) -> str:
    """How a touched path stands in the trace: a note of the vault as a link, any other in code;
    "" for one of the operator's own space."""
    pure = PurePosixPath(path)
    if pure.is_relative_to(location.root):
        path = str(pure.relative_to(location.root))
    try:
        place = Locator(path)
    except LocatorInvalid:
        return _code(path)
    if is_personal(place):
        return ""
    if (
        place.name.lower().endswith(".md")
        and backend.exists(place)
        and not is_folder(backend, place)
    ):
        return link(place.key, place.name.removesuffix(".md"))
    return _code(path)


def _code(path: str) -> str:
    return f"`{one_line(path).replace('`', ' ')}`"


def _digest(session: Session) -> str:
    return sha256(session.session_id.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARACTERS]


def _untitled(session: Session) -> str:
    by = f" of {session.agent}" if session.agent else ""
    return f"Session{by}, {session.started.date().isoformat()}"
