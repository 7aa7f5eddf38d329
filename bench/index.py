"""Indexing: a full pass, passes over an unchanged vault, saved notes.

`python bench/index.py VAULT --work EMPTY_FOLDER [--seeded-vectors] [--json]`. Works on a copy. With
`--seeded-vectors` the folder is ready for `bench/recall.py`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Cost, machine, measured, peak_mb, report, spread, summed
from workspace import SeededEmbedder, Workspace, make_workspace

from agentm_assets.contract.rules import load_rules
from agentm_assets.index.embed import embed_pending
from agentm_assets.index.publish import publish_facts, publish_lexical, publish_vectors
from agentm_assets.index.reconcile import ReconcileOptions, ReconcileReport, reconcile
from agentm_assets.index.store import IndexStore
from agentm_assets.storage.selection import open_vault

Steps = dict[str, Callable[[], object]]


def steps_of(workspace: Workspace, embedder: SeededEmbedder | None) -> Steps:
    """The steps of one indexing, as the Dagster job runs them."""
    location = workspace.location
    vault, store = open_vault(location), IndexStore(location.duckdb_file)
    lock = location.index_dir / "tables.lock"

    def tables() -> ReconcileReport:
        rules = load_rules(vault, workspace.env)
        return reconcile(vault, store, rules, ReconcileOptions(), lock_file=lock)

    steps: Steps = {
        "tables": tables,
        "facts": lambda: publish_facts(store, location.facts_file),
        "lexical": lambda: publish_lexical(store, location.lexical_dir),
    }
    if embedder is not None:
        embed_lock = location.index_dir / "embed.lock"
        steps["embeddings (seeded)"] = lambda: embed_pending(store, embedder, lock_file=embed_lock)
        steps["vectors"] = lambda: publish_vectors(store, location.vectors_dir, embedder.model_id)
    return steps


def run(steps: Steps) -> tuple[dict[str, object], dict[str, Cost]]:
    """Each step once."""
    done = {name: measured(step) for name, step in steps.items()}
    return {name: result for name, (result, _) in done.items()}, {
        name: cost for name, (_, cost) in done.items()
    }


def measure(workspace: Workspace, *, seeded: bool, passes: int, saves: int) -> dict[str, Any]:
    embedder = SeededEmbedder(workspace.model_folder()) if seeded else None
    steps = steps_of(workspace, embedder)
    before = workspace.files()
    results: dict[str, Any] = {"machine": machine()}

    words_only = {name: steps[name] for name in ("tables", "facts", "lexical")}
    outcome, costs = run(words_only)
    peak = peak_mb()
    costs |= run({name: step for name, step in steps.items() if name not in words_only})[1]
    tables = outcome["tables"]
    assert isinstance(tables, ReconcileReport)
    without = summed([costs[name] for name in words_only])
    results["vault"] = {
        "notes": tables.notes,
        "chunks": tables.chunks,
        "links": tables.links,
        "entities": tables.entities,
        "findings": len(tables.findings),
    }
    for name, cost in costs.items():
        results[f"full: {name}"] = {"s": cost.wall, "cpu_s": cost.cpu, "MB": cost.written / 1e6}
    results["full, no embeddings"] = {
        "s": without.wall,
        "cpu_s": without.cpu,
        "notes_a_s": tables.notes / without.wall,
    }
    results["full, no embeddings: peak MB"] = peak
    if seeded:
        results["full, with vectors: peak MB"] = peak_mb()
    results["on disk MB"] = {
        "index.duckdb": workspace.location.duckdb_file.stat().st_size / 1e6,
        "serving": sum(
            path.stat().st_size
            for path in workspace.location.serving_dir.rglob("*")
            if path.is_file()
        )
        / 1e6,
    }
    results["load after"] = {"load": machine()["load"]}

    unchanged = [run(steps)[1] for _ in range(passes)]
    results["unchanged: tables"] = _spread(unchanged, ("tables",))
    results["unchanged: all steps"] = _spread(unchanged, tuple(steps))
    after = workspace.files()
    results["notes changed by indexing"] = {
        "files": sum(before.get(path) != after.get(path) for path in before | after),
        "of": len(before),
    }

    saved = [_save(workspace, steps, number) for number in range(saves)]
    for name in steps:
        results[f"saved note: {name}"] = _spread(saved, (name,))
    results["saved note: all steps"] = _spread(saved, tuple(steps))
    results["load at the end"] = {"load": machine()["load"]}
    return results


def _save(workspace: Workspace, steps: Steps, number: int) -> dict[str, Cost]:
    """Add a line to one note, spread over the vault, and index it."""
    notes = sorted(workspace.vault.rglob("*.md"))
    with notes[(number * 7919) % len(notes)].open("a", encoding="utf-8") as note:
        note.write(f"\nMeasured once more: copper valve {number}.\n")
    return run(steps)[1]


def _spread(runs: list[dict[str, Cost]], names: tuple[str, ...]) -> dict[str, float]:
    costs = [summed([each[name] for name in names]) for each in runs]
    return {
        **{f"s_{name}": value for name, value in spread([c.wall for c in costs]).items()},
        "cpu_s": spread([c.cpu for c in costs])["p50"],
        "KB_written": spread([c.written / 1e3 for c in costs])["p50"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeded-vectors", action="store_true")
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    workspace = make_workspace(options.vault, options.work)
    report(
        measure(
            workspace, seeded=options.seeded_vectors, passes=options.passes, saves=options.saves
        ),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
