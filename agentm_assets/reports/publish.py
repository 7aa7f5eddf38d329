"""Putting the reports into the vault: one run of history each, and nothing where nothing is new."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import LoadedRules, RulesError, load_rules
from agentm_assets.history.outcome import Outcome
from agentm_assets.history.run import begin
from agentm_assets.index.store import IndexStore
from agentm_assets.reports import health as health_of
from agentm_assets.reports import mail
from agentm_assets.reports import morning as morning_of
from agentm_assets.reports.components import Looked
from agentm_assets.reports.day import Day
from agentm_assets.reports.graph.layout import place
from agentm_assets.reports.graph.model import MemoryGraph, read_graph
from agentm_assets.reports.graph.page import page
from agentm_assets.reports.graph.svg import draw
from agentm_assets.reports.health import Health
from agentm_assets.reports.morning import Morning
from agentm_assets.reports.pages import (
    PAGE,
    PICTURE,
    Kind,
    dated,
    folder,
    framed,
    latest,
    put,
    read_page,
)
from agentm_assets.reports.scorecard import scorecard
from agentm_assets.reports.trend import parse_day, read_days
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend
from agentm_assets.storage.selection import open_vault

PASS = "report"


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a report. `paths`: files that were written; `edited`: pages that a person has
    changed, and that stay as they are. `outcome` and `run` None: nothing was written."""

    paths: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    outcome: Outcome | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class HealthReport:
    health: Health
    text: str
    written: Written


@dataclass(frozen=True, slots=True)
class MorningReport:
    """`mailed`: what became of the mail, in words; None where no mail is configured."""

    morning: Morning
    text: str
    written: Written
    mailed: str | None = None


@dataclass(frozen=True, slots=True)
class GraphReport:
    graph: MemoryGraph
    picture: str
    written: Written


def report_graph(
    settings: Settings,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    *,
    dry_run: bool = False,
) -> GraphReport:
    """Draw the memory graph, and put it beside the scorecards.

    Raises StorageError, and what opening the index raises.
    """
    rules = _rules(settings, env)
    with IndexStore(settings.location.duckdb_file).transaction() as connection:
        graph = read_graph(connection, rules.rules if rules else None)
    places = place(graph)
    picture = draw(graph, places)
    home = folder(backend, "health")
    files = {
        home.child(PICTURE): picture.encode(),
        home.child(PAGE): page(graph, places).encode(),
    }
    subject = "Memory graph"
    return GraphReport(graph, picture, _write(settings, backend, files, now, subject, dry_run))


def report_health(
    settings: Settings,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    *,
    dry_run: bool = False,
    looked: Looked | None = None,
) -> HealthReport:
    """Look at everything, and write the scorecard of the day. A second one of the day is written
    when more than a timing has changed. Raises StorageError, OSError and what the index raises."""
    found = health_of.gather(settings, backend, env, now, looked)
    text = scorecard(found, read_days(backend))
    place_ = dated(backend, "health", found.day.date)
    same = _same_day(backend, place_, found.day)
    block = found.day.model_dump(mode="json")
    same = same and backend.exists(latest(backend, "health"))
    files = {} if same else _pages(backend, "health", found.day.date, framed(text, block))
    written = _write(settings, backend, files, now, f"Health scorecard {found.day.date}", dry_run)
    return HealthReport(found, text, written)


def report_morning(
    settings: Settings,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    *,
    dry_run: bool = False,
    with_mail: bool = False,
) -> MorningReport:
    """Write the morning note of the day; `with_mail`: and mail it, once a day.

    Raises StorageError, OSError and what the index raises; what goes wrong with mail is in the
    result."""
    found = morning_of.gather(settings, backend, env, now)
    text = morning_of.note(found)
    data = framed(text, found.block())
    place_ = dated(backend, "morning", found.date)
    same = _same_text(backend, place_, text) and backend.exists(latest(backend, "morning"))
    files = {} if same else _pages(backend, "morning", found.date, data)
    written = _write(settings, backend, files, now, f"Morning note {found.date}", dry_run)
    mailed = None
    if with_mail and not dry_run and settings.mail.is_configured:
        mailed = _mailed(settings, backend, env, now, found.date, text)
    return MorningReport(found, text, written, mailed)


def _pages(backend: StorageBackend, kind: Kind, day: str, data: bytes) -> dict[Locator, bytes]:
    return {dated(backend, kind, day): data, latest(backend, kind): data}


def _same_day(backend: StorageBackend, place_: Locator, day: Day) -> bool:
    block = _block(backend, place_)
    held = None if block is None else parse_day(block)
    return held is not None and held.comparable() == day.comparable()


def _same_text(backend: StorageBackend, place_: Locator, text: str) -> bool:
    try:
        data = backend.read_bytes(place_)
    except FileNotFoundError:
        return False
    return data.startswith(text.encode("utf-8", "replace") + b"\n<!-- agentm:report ")


def _block(backend: StorageBackend, place_: Locator) -> dict[str, Any] | None:
    try:
        return read_page(backend.read_bytes(place_)).block
    except FileNotFoundError:
        return None


def _write(
    settings: Settings,
    backend: StorageBackend,
    files: Mapping[Locator, bytes],
    now: datetime,
    subject: str,
    dry_run: bool,
) -> Written:
    if dry_run or not files:
        return Written()
    edited: list[str] = []
    with begin(settings.location, backend, pass_name=PASS, subject=subject, now=lambda: now) as run:
        for place_, data in files.items():
            if put(run, backend, place_, data):
                edited.append(place_.key)
    paths = tuple(change.path for change in run.changes)
    return Written(
        paths, tuple(edited), run.outcome if paths else None, run.run_id if paths else None
    )


def _mailed(
    settings: Settings,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    day: str,
    text: str,
) -> str:
    location = settings.location
    try:
        if mail.was_sent(location, day):
            return "sent before"
        password = mail.find_password(env, location.config_file, settings.mail)
        message = mail.compose(
            settings.mail, f"agentm morning note {day}", text, now, _attached(backend)
        )
        mail.send(settings.mail, message, password)
        mail.enter_sent(location, day, now)
    except mail.MailFailed as error:
        return f"not sent: {error}"
    except OSError as error:
        return f"sent or not, the log of mails can't be used ({error.strerror})"
    return f"sent to {len(settings.mail.to)}"


def _attached(backend: StorageBackend) -> list[mail.Attachment]:
    found = []
    for name, kind, subtype in ((PICTURE, "image", "svg+xml"), (PAGE, "text", "html")):
        try:
            data = backend.read_bytes(folder(backend, "health").child(name))
        except FileNotFoundError:
            continue
        found.append(mail.Attachment(name, kind, subtype, data))
    return found


def _rules(settings: Settings, env: Mapping[str, str]) -> LoadedRules | None:
    try:
        return load_rules(open_vault(settings.location), env)
    except RulesError:
        return None
