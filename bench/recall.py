"""Recall: warm latency of hybrid and lexical, memory, and a cold process of the command line.

`python bench/recall.py --work FOLDER [--json]`, FOLDER as `bench/index.py` left it. Questions are
known items of the vault. Seeded vectors leave the dense arm without sense, so look at hits in the
lexical rows only.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from measure import TELLING_PEAK, cold_process, machine, report, resident_mb, spread
from questions import KnownItem, known_items
from workspace import Workspace, open_workspace

from agentm_assets.recall.arms import OVER_FETCH
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources

WARM_UP = 20


def measure(workspace: Workspace, *, count: int, k: int, cold: int) -> dict[str, Any]:
    items = known_items(workspace.vault, count)
    results: dict[str, Any] = {"machine": machine(), "questions": {"n": len(items), "k": k}}
    bare = resident_mb()
    began = time.perf_counter()
    with open_sources(workspace.settings, workspace.env) as sources:
        opened = (time.perf_counter() - began) * 1e3
        results["vault"] = {
            "notes": sources.facts.counts.notes,
            "chunks": sources.facts.counts.chunks,
            "why_degraded": "; ".join(sources.remarks) or "-",
        }
        lexical = replace(sources, vectors=None, embedder=None)
        if sources.vectors is not None:
            results["warm, hybrid"] = _warm(items, k, sources)
        results["warm, lexical"] = _warm(items, k, lexical)
        results |= _parts(items, sources)
        results["resident MB, imports only"] = bare
        results["resident MB, after the questions"] = resident_mb()
    results["opening ms"] = {"once": opened}
    if cold:
        results["cold process"] = _cold(workspace, items[:cold], k)
    results["load at the end"] = {"load": machine()["load"]}
    return results


def _warm(items: Sequence[KnownItem], k: int, sources: Sources) -> dict[str, float]:
    options = RecallOptions(now=datetime.now().astimezone(), k=k)
    walls, cpus, places = [], [], []
    for item in (*items[:WARM_UP], *items):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = recall(item.question, options, sources)
        walls.append((time.perf_counter() - wall) * 1e3)
        cpus.append((time.process_time() - cpu) * 1e3)
        paths = [hit.path for hit in answer.hits]
        places.append(paths.index(item.path) if item.path in paths else None)
    del walls[:WARM_UP], cpus[:WARM_UP], places[:WARM_UP]
    return {
        **{f"ms_{name}": value for name, value in spread(walls).items()},
        "cpu_ms_p50": spread(cpus)["p50"],
        "hit@1": sum(place == 0 for place in places) / len(places),
        "hit@5": sum(place is not None and place < 5 for place in places) / len(places),
    }


def _parts(items: Sequence[KnownItem], sources: Sources) -> dict[str, dict[str, float]]:
    """The three searches inside a recall; the rest is looking up, ranking and showing."""
    texts = [item.question for item in items]
    parts = {"part: words": _each(texts, lambda text: sources.lexical.search(text, OVER_FETCH))}
    if sources.vectors is not None and sources.embedder is not None:
        vectors, embedder = sources.vectors, sources.embedder
        asked = {text: embedder.embed_one(text) for text in texts}
        parts["part: question's vector"] = _each(texts, embedder.embed_one)
        parts["part: nearest vectors"] = _each(
            texts, lambda text: vectors.search(asked[text], OVER_FETCH)
        )
    return parts


def _each(texts: Sequence[str], work: Callable[[str], object]) -> dict[str, float]:
    times = []
    for text in texts:
        began = time.perf_counter()
        work(text)
        times.append((time.perf_counter() - began) * 1e3)
    return {f"ms_{name}": value for name, value in spread(times).items()}


COMMAND = TELLING_PEAK + "runpy.run_module('agentm_assets.cli.entry', run_name='__main__')"


def _cold(workspace: Workspace, items: Sequence[KnownItem], k: int) -> dict[str, Any]:
    """A process for each question, from start to exit, files in the page cache."""
    walls, cpus, peaks, modes = [], [], [], set()
    for item in items:
        options = ["--json", "-k", str(k), "--vault", str(workspace.vault)]
        shown, cost, peak = cold_process(
            [COMMAND, "recall", item.question, *options], workspace.env
        )
        walls.append(cost.wall * 1e3)
        cpus.append(cost.cpu * 1e3)
        peaks.append(peak)
        modes.add(json.loads(shown)["mode"])
    return {
        **{f"ms_{name}": value for name, value in spread(walls).items()},
        "cpu_ms_p50": spread(cpus)["p50"],
        "peak_MB": max(peaks),
        "mode": "/".join(sorted(modes)),
        "n": len(items),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--cold", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report(
        measure(
            open_workspace(options.work), count=options.questions, k=options.k, cold=options.cold
        ),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
