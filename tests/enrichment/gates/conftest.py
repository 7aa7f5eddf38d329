"""A note, the rules, and answers about the note that are right until a test breaks them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.contract import properties
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import LoadedRules, default_rules_text, parse_rules
from agentm_assets.contract.spaces import space_of
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject, scrub_subject
from agentm_assets.enrichment.subject import Subject, Trigger
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.vault import content_hash

TEXT = """\
The watchdog (WD) reset the board on 2026-04-14 because Ines had set `boil_timeout` to 30 s.
Raising `boil_timeout` to 45 s in config.toml cured it; see https://acme.example/kettle/17.
Mail ines@kettle.example with password: hunter2x if it comes back.
"""
BODY = """\
Ines had set `boil_timeout` to 30 s, so the watchdog (WD) reset the board on 2026-04-14. It was
cured by `boil_timeout` = 45 s in config.toml (https://acme.example/kettle/17). If it comes back,
mail \u27e6email-1\u27e7 with password: \u27e6password-1\u27e7.
"""


def note_of(
    text: str = TEXT,
    *,
    path: str = "Agent/memory/procedural/2026/04/watchdog.md",
    block: str = "status: unfiled",
    title: str = "Watchdog reset",
    is_linked: bool = False,
    human_edited: bool = False,
    trigger: Trigger = "batch",
    source: str | None = None,
) -> Subject:
    data = f"---\n{block}\n---\n{text}".encode("utf-8", "surrogateescape")
    frontmatter = read_frontmatter(data)
    place = space_of(path)
    return Subject(
        locator=Locator(path),
        data=data,
        data_hash=content_hash(data),
        frontmatter=frontmatter,
        body=text,
        source=text if source is None else source,
        fingerprint=fingerprint(data[frontmatter.body_start :]),
        title=title,
        space=place.space,
        memory_class=place.memory_class,
        status=properties.text_of(frontmatter, "status"),
        captured=properties.text_of(frontmatter, "captured"),
        aliases=properties.aliases(frontmatter),
        tags=properties.tags(frontmatter),
        is_linked=is_linked,
        human_edited=human_edited,
        trigger=trigger,
    )


def fields_of(**changes: Any) -> dict[str, Any]:
    return {
        "type": "fix",
        "altitude": "artifact",
        "class": "procedural",
        "title": "Watchdog reset after a short boil timeout",
        "slug": "watchdog-reset-after-a-short-boil-timeout",
        "tags": ["watchdog", "boil"],
        "aliases": ["WD reset"],
        "summary": "The watchdog reset the board until `boil_timeout` was 45 s.",
        "body": BODY,
        "confidence": 0.9,
        **changes,
    }


@pytest.fixture(scope="session")
def note() -> Callable[..., Subject]:
    return note_of


@pytest.fixture(scope="session")
def rules() -> LoadedRules:
    return parse_rules(default_rules_text(), Path("storage-rules.md"), "default")


@pytest.fixture(scope="session")
def fields() -> Callable[..., dict[str, Any]]:
    return fields_of


@pytest.fixture(scope="session")
def answer() -> Callable[..., str]:
    def write(**changes: Any) -> str:
        return json.dumps(fields_of(**changes))

    return write


@pytest.fixture(scope="session")
def shown() -> Callable[[Subject], ScrubbedSubject]:
    """The note as a model sees it."""

    def scrub(subject: Subject) -> ScrubbedSubject:
        scrubbed = scrub_subject(subject)
        assert isinstance(scrubbed, ScrubbedSubject)
        return scrubbed

    return scrub
