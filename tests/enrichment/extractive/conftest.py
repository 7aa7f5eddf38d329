"""Notes to judge, written here, and the judge with and without its embedder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import LoadedRules, default_rules_text, parse_rules
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.subject import Subject
from agentm_assets.models.embedder import Embedder
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.vault import content_hash


def subject_of(
    title: str, text: str, *, tags: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
) -> Subject:
    """A note as an ambient capture would have left it."""
    data = b"---\nstatus: unfiled\n---\n" + text.encode("utf-8", "surrogateescape")
    frontmatter = read_frontmatter(data)
    body = data[frontmatter.body_start :]
    return Subject(
        locator=Locator("Agent/memory/semantic/2026/01/note.md"),
        data=data,
        data_hash=content_hash(data),
        frontmatter=frontmatter,
        body=text,
        source=text,
        fingerprint=fingerprint(body),
        title=title,
        space="memory",
        memory_class="semantic",
        status="unfiled",
        captured="2026-01-01",
        aliases=aliases,
        tags=tags,
        is_linked=False,
        human_edited=False,
        trigger="batch",
    )


@pytest.fixture(scope="session")
def subject() -> Callable[..., Subject]:
    return subject_of


@pytest.fixture(scope="session")
def rules() -> LoadedRules:
    return parse_rules(default_rules_text(), Path("storage-rules.md"), "default")


@pytest.fixture(scope="session")
def embedder(minilm_folder: Path) -> Embedder:
    return Embedder.open(minilm_folder, threads=1)


@pytest.fixture(scope="session")
def judge(rules: LoadedRules, embedder: Embedder) -> ExtractiveJudge:
    return ExtractiveJudge(rules, embedder)


@pytest.fixture(scope="session")
def by_words(rules: LoadedRules) -> ExtractiveJudge:
    """Without an embedder."""
    return ExtractiveJudge(rules, None)


@pytest.fixture(scope="session")
def short_notes() -> list[tuple[str, Subject]]:
    """Type and note, 12 a type. The coefficients were fitted to these too."""
    written = json.loads((Path(__file__).parent / "short_notes.json").read_text("utf-8"))
    return [(type_, subject_of(title, text)) for type_, title, text in written]
