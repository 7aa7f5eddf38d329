"""From what a source tells to memories and a trace, without a model: the operator's own statements,
what came of a session, and the sentences of a mail or a page that say most of it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Final

from agentm_assets.capture.moment import iso
from agentm_assets.capture.slug import slugify
from agentm_assets.extract.entities import extract_entities
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.ingest.account import Account, Said, moment_of
from agentm_assets.ingest.draft import OUTCOME, Draft
from agentm_assets.ingest.key_sentences import key_sentences
from agentm_assets.ingest.mail import Mail
from agentm_assets.ingest.masking import masked, plain
from agentm_assets.ingest.prose import running, sentences, shortened
from agentm_assets.ingest.statements import Statement, statements
from agentm_assets.ingest.web import Page
from agentm_assets.ledger.source_records import Cursor
from agentm_assets.traces.session import MAX_LIST_ITEMS, Session, session_of

MOST_STATEMENTS: Final = 40
"""Of one reading of a log."""

_OUTCOME_CHARACTERS: Final = 1_000
_FEWEST_OUTCOME_CHARACTERS: Final = 160
_ASKED_CHARACTERS: Final = 240
_TITLE_CHARACTERS: Final = 100
_SUMMARY_CHARACTERS: Final = 700
_FILES: Final = 12
_MAIL_CHARACTERS: Final = 1_200
_PAGE_CHARACTERS: Final = 1_500
_FEWEST_WORDS: Final = 8
_FEWEST_PAGE_WORDS: Final = 25
"""What is left of a page without an article (a login, an error) is its menu."""
_CONTEXT_CHARACTERS: Final = 200_000
_MENTIONS_CHARACTERS: Final = 50_000
_BLANKS: Final = re.compile(r"\s+")

IsPrivate = Callable[[str], bool]
"""Whether a path is the operator's own space of the vault, which no note names."""


@dataclass(frozen=True, slots=True)
class Distilled:
    """`session`: for the calendar, None when the operator said nothing. `title`: what a session is
    about."""

    drafts: tuple[Draft, ...]
    session: Session | None = None
    title: str = ""


def distil_session(
    account: Account,
    agent: str,
    source: str,
    session_id: str,
    earlier: Cursor | None,
    now: datetime,
    is_private: IsPrivate,
) -> Distilled:
    """The trace and the memories of what a reading of a log told. `earlier`: the cursor of the
    reading before."""
    said = list(account.said.values())
    found: list[tuple[Said, Statement]] = []
    for each in said:
        found += ((each, statement) for statement in statements(each.text))
    found = found[:MOST_STATEMENTS]
    answer = account.last_answer
    known = earlier.title if earlier is not None else ""
    told = answer.text if answer is not None else ""
    texts = [
        account.title or account.first_prompt or known,
        account.first_prompt,
        told,
        *(statement.text for _, statement in found),
    ]
    rest = "\n".join((*(each.text for each in said), told))
    # Masked before it is shortened: half of a secret is not known as one.
    title, asked, told, *stated = (
        plain(text) for text in masked(texts, rest[:_CONTEXT_CHARACTERS])
    )
    title, asked = shortened(title, _TITLE_CHARACTERS), shortened(asked, _ASKED_CHARACTERS)
    outcome = _outcome(told)
    touched = tuple(path for path in account.touched if not is_private(path))
    begun = _moment((earlier.started if earlier is not None else "") or account.started, now)
    ended = _moment(account.ended, now)
    tags = _tags(account.folder)
    drafts = [
        _draft(source, sentences(text)[0], text, _moment(each.at, ended), statement.type, tags)
        for (each, statement), text in zip(found, stated, strict=True)
        if text
    ]
    if outcome and (account.prompts or known):
        files = ", ".join(f"`{path.replace('`', ' ')}`" for path in touched[:_FILES])
        more = len(touched) - _FILES
        listed = f"\n\nFiles: {files}{f' and {more} more' if more > 0 else ''}" if files else ""
        question = f"Asked: {asked}\n\n" if asked else ""
        drafts.append(
            _draft(
                source,
                f"What came of: {title}" if title else "What came of a session",
                f"{question}{outcome}{listed}",
                ended,
                "",
                tags,
                OUTCOME,
                core=outcome,
            )
        )
    session = None
    if account.prompts:
        session = session_of(
            {
                "session_id": session_id,
                "agent": agent,
                "title": title,
                "summary": shortened(outcome, _SUMMARY_CHARACTERS),
                "started": iso(begun),
                "ended": iso(max(begun, ended)),
                "touched": list(touched),
                "entities": _mentioned(rest)[:MAX_LIST_ITEMS],
            },
            now,
        )
    return Distilled(_without_repeats(drafts), session, title)


def distil_mail(mail: Mail, source: str, now: datetime) -> Distilled:
    """One memory of a mail, none of one that holds hardly a word or that a machine sent, nor of
    what has no head of a mail."""
    if mail.is_automatic or not (mail.sender or mail.subject):
        return Distilled(())
    found = running(key_sentences(mail.text, _MAIL_CHARACTERS))
    if len(found.split()) < _FEWEST_WORDS:
        return Distilled(())
    texts = (mail.subject, mail.sender, mail.recipients, found, ", ".join(mail.attached))
    subject, sender, recipients, text, attached = (
        plain(each) for each in masked(list(texts), mail.text[:_CONTEXT_CHARACTERS])
    )
    if not text:
        return Distilled(())
    captured = _moment(mail.sent, now)
    head = [f"From: {sender}" if sender else "", f"To: {recipients}" if recipients else ""]
    head += [f"Sent: {captured.date().isoformat()}" if mail.sent else ""]
    head += [f"Attached: {attached}" if attached else ""]
    body = "\n".join(line for line in head if line)
    title = subject or f"Mail of {sender or 'an unknown sender'}"
    draft = Draft(source, mail.digest, title, f"{body}\n\n{text}\n", captured)
    return Distilled((draft,))


def distil_page(page: Page, source: str, now: datetime) -> Distilled:
    """One memory of a web page, none of one with hardly a word."""
    found = running(key_sentences(page.text, _PAGE_CHARACTERS, count=10))
    if len(found.split()) < _FEWEST_PAGE_WORDS:
        return Distilled(())
    texts = (page.title, page.author, page.site, page.description, found)
    title, author, site, description, text, *headings = (
        plain(each)
        for each in masked([*texts, *page.headings[:_FILES]], page.text[:_CONTEXT_CHARACTERS])
    )
    outline = "\n".join(f"- {shortened(each, 100)}" for each in headings if each)
    if not text:
        return Distilled(())
    address = source.removeprefix("url:")
    origin = [address if "://" in address else "", site, f"by {author}" if author else ""]
    said = ", ".join(each for each in (*origin, page.date) if each)
    parts = [description if description and description not in text else "", text]
    parts += [f"Sections:\n\n{outline}" if outline else "", f"Source: {said}" if said else ""]
    body = "\n\n".join(part for part in parts if part) + "\n"
    name = title or shortened(text, _TITLE_CHARACTERS)
    return Distilled((Draft(source, page.digest, name, body, now, "reference"),))


def _outcome(answer: str) -> str:
    text = running(key_sentences(answer, _OUTCOME_CHARACTERS, count=10))
    return text if len(text) >= _FEWEST_OUTCOME_CHARACTERS else ""


def _draft(
    source: str,
    title: str,
    body: str,
    captured: datetime,
    kind: str,
    tags: tuple[str, ...],
    part: str = "",
    core: str = "",
) -> Draft:
    """`core`: what makes it the same memory when it is told again, where that is not the body."""
    same = _BLANKS.sub(" ", f"{part}\n{core or body}")
    digest = sha256(same.encode("utf-8", "replace")).hexdigest()
    return Draft(
        source=source,
        digest=digest,
        title=shortened(title, _TITLE_CHARACTERS),
        body=f"{body.strip()}\n",
        captured=captured,
        type=kind,
        tags=tags,
        part=part,
    )


def _moment(written: str, otherwise: datetime) -> datetime:
    """A moment of the source; a clock that runs ahead gives the other one."""
    found = moment_of(written)
    return otherwise if found is None or found > otherwise else found


def _tags(folder: str) -> tuple[str, ...]:
    """The name of the folder that was worked in."""
    name = slugify(PurePath(folder.replace("\\", "/")).name) if folder else ""
    return (name,) if name else ()


def _mentioned(text: str) -> list[str]:
    """Keys of issues, commits, people and the like that the session names for certain."""
    text = text[:_MENTIONS_CHARACTERS]
    hidden = blank(text, find_regions(text), ALL)
    found = extract_entities(text, hidden, EntityContext(), lambda offset: offset)
    return list(dict.fromkeys(each.key for each in found if each.confidence == "high"))


def _without_repeats(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    return tuple({draft.digest: draft for draft in drafts}.values())
