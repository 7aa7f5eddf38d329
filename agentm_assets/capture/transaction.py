"""The capture: check, look for the same text, write, enter into the journal, answer.

No model, no network, no git, and no lock of the vault: an agent waits for the answer.
"""

from collections.abc import Mapping
from datetime import datetime

from agentm_assets.capture import journal
from agentm_assets.capture.filing_rules import BrokenRules, FilingRules, filing_rules
from agentm_assets.capture.known import known_paths
from agentm_assets.capture.moment import iso
from agentm_assets.capture.mounted import require_mounted
from agentm_assets.capture.place import check_space, put, target
from agentm_assets.capture.refusals import count_refusal
from agentm_assets.capture.render import render
from agentm_assets.capture.request import (
    NOT_YET_INDEXED,
    Captured,
    CaptureFailed,
    CaptureRefused,
    CaptureRequest,
)
from agentm_assets.capture.waiting import files_waiting
from agentm_assets.capture.wording import check_wording
from agentm_assets.config.vault import VaultLocation
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
    require_mounted(location, backend)
    rules = filing_rules(location, backend, env)
    type_, memory_class, remarks = _filed(request, rules)
    if status is None:
        judged = isinstance(rules, FilingRules)
        status = "active" if request.captured_by == "operator" and judged else "unfiled"
    body_print = fingerprint(wording.body)
    personal = (request.space or "").casefold() == "personal"
    if not personal:
        known = known_paths(location, body_print)
        if known:
            from agentm_assets.capture.again import capture_again  # brings YAML and the lock

            standards = _is_for_standards(request)
            again = capture_again(
                wording, body_print, known, location, backend, now, standards=standards
            )
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
                "probe": request.probe,
            },
            wording.body,
        ),
    )
    entry = journal.JournalEntry(
        placed.path, placed.content_hash, body_print, stamp, request.captured_by
    )
    journaled = _journaled(location, entry)
    _work_off(location, backend, now)
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


def _work_off(location: VaultLocation, backend: StorageBackend, now: datetime) -> None:
    """Apply a few of the reinforcements that wait for the vault's lock, if it is free now."""
    try:
        if not files_waiting(location):
            return
    except OSError:
        return  # the status says so
    from agentm_assets.capture.reinforcement import MOST_AT_ONCE, work_off

    work_off(location, backend, now, MOST_AT_ONCE)


def _journaled(location: VaultLocation, entry: journal.JournalEntry) -> bool:
    try:
        journal.append(location, entry)
    except OSError:
        return False  # the note itself is safe, and the next pass finds it without the journal
    return True
