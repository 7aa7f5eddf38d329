"""Phrases of time: hit@1 and hit@5 of the made questions in tests/data/time.

`python bench/time_phrases.py [--json]`. In the made vault nothing but the time of capture tells the
notes of a subject apart. `tuned` were there while the code was written, `seen` came after and what
they missed was mended, `held_out` came after that. `no phrase` is what words and chance find, when
nothing of a question is taken for a time.
"""

import argparse
import json
import os
import runpy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from measure import machine, report

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.scratch import (
    build_index,
    open_embedder,
    temporary_state,
    without_configuration,
)
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources

DATA = Path(__file__).parent.parent / "tests" / "data" / "time"
MADE = runpy.run_path(str(DATA / "made_vault.py"))
NOW = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)  # as the questions mean it


@contextmanager
def opened() -> Iterator[Sources]:
    """The made vault, indexed in a temporary folder."""
    with temporary_state(os.environ) as (folder, kept):
        env = without_configuration(kept, folder)
        root = folder / "vault"
        for path, content in MADE["notes"]().items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, "utf-8")
        settings = Settings.load(env, vault=str(root))
        build_index(settings, env, open_embedder(settings))
        with open_sources(settings, env) as sources:
            yield sources


def scored(name: str, sources: Sources) -> dict[str, Any]:
    """Shares of a file's questions with an expected note first, and among the first five."""
    first = five = 0
    missed = []
    questions: list[Mapping[str, str]] = json.loads((DATA / f"{name}.json").read_text())
    for each in questions:
        expected = MADE["paths_between"](each["subject"], each["first"], each["last"])
        hits = [hit.path for hit in recall(each["question"], RecallOptions(NOW), sources).hits]
        first += bool(expected & set(hits[:1]))
        five += bool(expected & set(hits))
        if not expected & set(hits):
            missed.append(each["question"])
    count = len(questions)
    return {"n": count, "hit@1": first / count, "hit@5": five / count, "missed": missed}


def measure() -> dict[str, Any]:
    results: dict[str, Any] = {"machine": machine()}
    with opened() as sources:
        words = replace(sources, vectors=None, embedder=None)
        for name in ("tuned", "seen", "held_out"):
            results[f"{name}, hybrid"] = scored(name, sources)
            results[f"{name}, words"] = scored(name, words)
            understanding = "agentm_assets.recall.question."
            with (
                patch(understanding + "find_time_phrase", lambda *_: None),
                patch(understanding + "asked_order", lambda *_: None),
            ):
                results[f"{name}, no phrase"] = scored(name, sources)
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    report(measure(), as_json=parser.parse_args().json)
