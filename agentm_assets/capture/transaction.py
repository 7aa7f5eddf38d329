"""The capture: check, look for the same text, write, enter into the journal, answer.

No model, no network, no git, and no lock of the vault: an agent waits for the answer.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from agentm_assets.capture import journal
from agentm_assets.capture.filing_rules import BrokenRules, FilingRules, filing_rules
from agentm_assets.capture.live import LiveNote, find_live
from agentm_assets.capture.place import check_space, put, target
from agentm_assets.capture.refusals import count_refusal
from agentm_assets.capture.reinforcement import (
    MOST_AT_ONCE,
    Reinforcement,
    put_down,
    reinforced,
    work_off,
)
from agentm_assets.capture.render import render
from agentm_assets.capture.request import (
    NOT_YET_INDEXED,
    Captured,
    CaptureFailed,
    CaptureRefused,
    CaptureRequest,
)
from agentm_assets.capture.wording import Wording, check_wording
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract import properties
from agentm_assets.contract.edit import EditRefused
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.storage.seam import PersonalAuthorization, StorageBackend, StorageError

UNJUDGED_CLASS = "semantic"
"""Where a text goes that nobody judged while the rules are broken."""

_STATUSES = ("active", "unfiled")
_NOT_JOURNALED = (
    "the capture log can't be written, so recall finds this note only after the next index pass"
)


def capture(
    request: CaptureRequest,
    location: VaultLocation,
    env: Mapping[str, str],
    now: datetime,
    authorization: PersonalAuthorization | None = None,
    *,
    backend: StorageBackend | None = None,
) -> Captured:
    """Save one memory. On return its file is on the disk, whole.

    `now` has a time zone. `backend`: the opened store of a process that captures often. Raises
    CaptureRefused (nothing was saved, and the refusal is counted); its subclass CaptureFailed when
    the request was in order and the vault or the rules can't be used.
    """
    try:
        return _capture(request, location, env, now, authorization, backend)
    except CaptureRefused as refusal:
        count_refusal(location, refusal.code, request.captured_by, now)
        raise
    except StorageError as error:
        count_refusal(location, "vault-unusable", request.captured_by, now)
        raise CaptureFailed("vault-unusable", f"{error}", "Nothing was saved") from error


def _capture(
    request: CaptureRequest,
    location: VaultLocation,
    env: Mapping[str, str],
    now: datetime,
    authorization: PersonalAuthorization | None,
    backend: StorageBackend | None,
) -> Captured:
    wording = check_wording(request)
    check_space(request, authorization)
    status = _status(request)
    if backend is None:
        from agentm_assets.storage.selection import open_backend

        backend = open_backend(location)
    rules = filing_rules(location, backend, env)
    type_, memory_class, remarks = _filed(request, rules)
    if status is None:
        judged = isinstance(rules, FilingRules)
        status = "active" if request.captured_by == "operator" and judged else "unfiled"
    body_print = fingerprint(wording.body)
    personal = (request.space or "").casefold() == "personal"
    if not personal:
        twin = find_live(location, backend, body_print, standards=_is_for_standards(request))
        if twin is not None and not _would_lose(wording, twin):
            again = _reinforce(twin, wording, body_print, location, backend, now, remarks)
            if again is not None:
                return again
    stamp = iso(now)
    placed = put(
        backend,
        target(
            request,
            backend,
            memory_class=memory_class,
            memory_type=type_,
            captured=now,
            authorization=authorization if personal else None,
        ),
        wording,
        lambda slug: render(
            {
                "type": type_,
                "status": status,
                "captured": stamp,
                "slug": slug,
                "title": wording.title,
                "tags": wording.tags,
                "aliases": wording.aliases,
                "source": wording.source,
                "instructions": wording.instructions,
            },
            wording.body,
        ),
    )
    entry = journal.JournalEntry(
        placed.path, placed.content_hash, body_print, stamp, request.captured_by
    )
    journaled = _journaled(location, entry)
    work_off(location, backend, now, MOST_AT_ONCE)
    return Captured(
        path=placed.path,
        slug=placed.slug,
        type=type_,
        status=status,
        captured=stamp,
        indexed=False,
        duplicate_of=None,
        remarks=(NOT_YET_INDEXED, *remarks, *(() if journaled else (_NOT_JOURNALED,))),
    )


def iso(now: datetime) -> str:
    """A moment as notes carry it: ISO 8601 to the second with its offset, `Z` for UTC."""
    if now.utcoffset() == timedelta(0):
        return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return now.isoformat(timespec="seconds")


def _status(request: CaptureRequest) -> str | None:
    if request.status is None or not request.status.strip():
        return None
    status = request.status.strip().casefold()
    if status not in _STATUSES:
        raise CaptureRefused(
            "unknown-status",
            "a new note can't have that status",
            f"Give one of: {', '.join(_STATUSES)}; or leave it out",
        )
    return status


def _filed(
    request: CaptureRequest, rules: FilingRules | BrokenRules
) -> tuple[str | None, str, list[str]]:
    """Type, class and remarks for a request. Raises CaptureRefused, CaptureFailed."""
    asked = (request.type or "").strip()
    if isinstance(rules, BrokenRules):
        if asked:
            raise CaptureFailed(
                "rules-broken",
                f"the storage rules are broken, so no type can be checked: {rules.reason}",
                "Mend them, or capture without a type: nothing has to be restarted",
            )
        why = f"the storage rules are broken ({rules.reason}), so no type was set"
        return None, UNJUDGED_CLASS, [why]
    if not asked:
        if (request.space or "").casefold() == "personal":
            return None, UNJUDGED_CLASS, []
        type_ = rules.default_type
        return type_, rules.routing[type_], [f"no type was given, so it is a {type_}"]
    if asked in rules.memory_types:
        return asked, rules.routing[asked], []
    successor = rules.deprecations.get(asked)
    if successor in rules.memory_types:
        retired = f"that type is retired; it was filed as {successor}"
        return successor, rules.routing[successor], [retired]
    known = f"Use one of: {', '.join(rules.memory_types)}; or leave it out"
    if asked in rules.record_kinds or successor in rules.record_kinds:
        raise CaptureRefused("type-is-a-kind", "that is a kind of record, no type", known)
    raise CaptureRefused("unknown-type", "the storage rules register no such type", known)


def _is_for_standards(request: CaptureRequest) -> bool:
    return (request.space or "").casefold() == "standards"


def _would_lose(wording: Wording, twin: LiveNote) -> bool:
    """Whether the note that is there lacks something that only a new note would keep."""
    return any(
        given is not None and given != properties.text_of(twin.frontmatter, key)
        for key, given in (("source", wording.source), ("instructions", wording.instructions))
    )


def _reinforce(
    twin: LiveNote,
    wording: Wording,
    body_print: str,
    location: VaultLocation,
    backend: StorageBackend,
    now: datetime,
    remarks: list[str],
) -> Captured | None:
    """Count the text once more in the note that holds it; None when it can't be kept there."""
    again = Reinforcement(twin.path, body_print, iso(now), wording.tags, wording.aliases)
    try:
        reinforced(twin.data, again)
        kept = put_down(location, again)
    except (EditRefused, OSError):
        return None  # a note of its own loses nothing
    work_off(location, backend, now, MOST_AT_ONCE)
    said = "this text is in the vault already; it was counted there, and no new note was made"
    if kept.exists():
        said += " (the vault is being written, so the count follows with the next capture or pass)"

    def text(key: str) -> str | None:
        return properties.text_of(twin.frontmatter, key)

    stem = twin.path.rpartition("/")[2].removesuffix(".md")
    captured = properties.captured(twin.frontmatter)
    return Captured(
        path=twin.path,
        slug=text("slug") or stem,
        type=text("type"),
        status=text("status"),
        captured=captured.text if captured else iso(now),
        indexed=twin.indexed,
        duplicate_of=twin.path,
        remarks=(said, *[each for each in remarks if "broken" in each]),
    )


def _journaled(location: VaultLocation, entry: journal.JournalEntry) -> bool:
    try:
        journal.append(location, entry)
    except OSError:
        return False  # the note itself is safe, and the next pass finds it without the journal
    return True
