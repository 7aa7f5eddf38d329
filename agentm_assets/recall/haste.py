"""Recall by words in a fresh process that has some 200 ms: no pydantic, no numpy, no model."""

from collections.abc import Mapping
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.recall.answer import Answer
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.ranking_snapshot import ranking_in_haste
from agentm_assets.recall.sources import Sources
from agentm_assets.storage.selection import open_vault


def recall_by_words(
    question: str, k: int, location: VaultLocation, env: Mapping[str, str], now: datetime
) -> Answer:
    """An answer by words alone. The operator's trackers are not looked up: a bare `#12` is then
    read without its repository.

    Raises IndexMissing, QuestionRefused, ConfigError, ServingUnreadable.
    """
    rules, remark = ranking_in_haste(location, env)
    try:
        facts = FactsReader.open(location.facts_file)
        lexical = LexicalReader.open(location.lexical_dir)
    except ServingUnreadable as error:
        raise IndexMissing(f"there is no usable index ({error}). Run `agentm index`.") from error
    with facts:
        sources = Sources(
            facts=facts,
            lexical=lexical,
            vectors=None,
            embedder=None,
            rules=rules,
            read_note=open_vault(location).read_bytes,
            last_recalled={},
            entity_context=EntityContext(),
            remarks=(
                "searched by words alone: no agentm server runs",
                *([remark] if remark else []),
            ),
        )
        return recall(question, RecallOptions(now=now, k=k), sources)
