"""Recall by words in a fresh process that has some 200 ms: no pydantic, no numpy, no model."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from agentm_assets.config.vault import VaultLocation
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.recall.answer import Answer
from agentm_assets.recall.captures import CaptureCache, alone, beside, fresh_remarks, read_fresh
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.ranking_snapshot import ranking_in_haste
from agentm_assets.recall.sources import Sources
from agentm_assets.recall.used import LastRecalled
from agentm_assets.storage.selection import open_vault

_NO_SERVER = "searched by words alone: no agentm server runs"


def recall_by_words(
    question: str, k: int, location: VaultLocation, env: Mapping[str, str], now: datetime
) -> Answer:
    """An answer by words alone. The operator's trackers are not looked up: a bare `#12` is then
    read without its repository.

    Raises IndexMissing, QuestionRefused, ConfigError, StorageError, ServingUnreadable.
    """
    with ExitStack() as stack:
        sources = _sources(location, env, stack)
        return recall(question, RecallOptions(now=now, k=k), sources)


def _sources(location: VaultLocation, env: Mapping[str, str], stack: ExitStack) -> Sources:
    """The index with the captures that it lacks, or these alone. Raises IndexMissing."""
    rules, remark = ranking_in_haste(location, env)
    read = open_vault(location).read_bytes
    cache = CaptureCache()
    remarks = (_NO_SERVER, *([remark] if remark else []))
    try:
        facts = stack.enter_context(FactsReader.open(location.facts_file))
        lexical = LexicalReader.open(location.lexical_dir)
    except ServingUnreadable as error:
        fresh = read_fresh(location, read, cache, None, None, None)
        if not fresh.notes:
            raise IndexMissing(
                f"there is no usable index ({error}). Run `agentm index`."
            ) from error
        rows, words, _dense = alone(fresh, None, cache)
        stack.callback(rows.close)
        facts, lexical = rows.reader(), words
        not_indexed, known = fresh.paths, True
    else:
        fresh = read_fresh(location, read, cache, facts, lexical, None)
        not_indexed, known = frozenset(), False
    sources = Sources(
        facts=facts,
        lexical=lexical,
        vectors=None,
        embedder=None,
        rules=rules,
        read_note=read,
        last_recalled=LastRecalled(location).current() if rules.decay.enabled else {},
        entity_context=EntityContext(),
        remarks=remarks,
        not_indexed=not_indexed,
    )
    if known or not fresh.notes:
        return replace(sources, remarks=(*remarks, *fresh_remarks(fresh)))
    found, rows = beside(sources, lexical, fresh, cache)
    stack.callback(rows.close)
    return found
