"""Recall before and after notes are judged: `python bench/judged_recall.py NOTES [--gold FILE]`.

NOTES is a folder of markdown notes. Each becomes a raw capture in a new vault under git, in a
folder that is removed at the end. The questions are asked once when all is indexed and nothing
judged, and again after `agentm backfill`. A note keeps its question whatever name it is given, and
so does the whole for its parts when it is split.

- gold: a JSON list of `id`, `question`, `expected_note_paths` (relative to NOTES); those without a
  path are left out.
- lines: lines of four to twelve words that one note alone has.
- gained, lost: ids of questions whose note came among the first five in one state alone.
- `--dream`: asked once more after a night (`agentm dream`); `dreamt` compares that with the first
  state, with what the night wrote.

The exit code is 1 when a gold question is lost, to the judging or to the night. The judge is the
one that the environment configures: without a model, the extractive one.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from measure import machine, report
from questions import known_items
from rules_edit import Vault

from agentm_assets.config.settings import Settings
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WITHIN = 5
DERIVED = frozenset({"mocs", "entities", "crystallized"})
UNJUDGED = "\n[profiles.default.enrichment.after_capture]\nnotes = 0\n"
NOTE = """---
type: reference
status: unfiled
captured: 2026-0{month}-11T09:00:00Z
slug: note-{number}
title: {title}
origin: {origin}
---
"""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    right: frozenset[str]


def fill(vault: Vault, source: Path) -> int:
    notes = sorted(source.rglob("*.md"))
    for number, note in enumerate(notes):
        text = note.read_text("utf-8", errors="replace")
        heading = next((x[2:].strip() for x in text.split("\n") if x.startswith("# ")), note.stem)
        place = vault.root / f"Agent/memory/semantic/2026/note-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        head = NOTE.format(
            month=number % 5 + 1,
            number=number,
            title=json.dumps(heading, ensure_ascii=False),
            origin=json.dumps(str(note.relative_to(source)), ensure_ascii=False),
        )
        place.write_text(head + text, "utf-8")
    return len(notes)


def gold_questions(file: Path | None) -> list[Question]:
    entries = json.loads(file.read_text("utf-8")) if file is not None else []
    return [
        Question(each["id"], each["question"], frozenset(each["expected_note_paths"]))
        for each in entries
        if each["expected_note_paths"]
    ]


def line_questions(source: Path, count: int) -> list[Question]:
    return [
        Question(f"line-{number}", item.question, frozenset({item.path}))
        for number, item in enumerate(known_items(source, count))
    ]


def origins(vault: Vault) -> dict[str, str]:
    """Path in the vault -> the note of the source that it is, or is a part of."""
    own: dict[str, str] = {}
    by_slug: dict[str, str] = {}
    parts: dict[str, str] = {}
    for path, frontmatter in _memories(vault):
        origin = text_of(frontmatter, "origin")
        derived = text_of(frontmatter, "derived_from")
        if origin is not None:
            own[path] = origin
            by_slug[text_of(frontmatter, "slug") or ""] = origin
        elif derived is not None:
            parts[path] = derived
    return own | {path: by_slug[slug] for path, slug in parts.items()}


def _memories(vault: Vault) -> Iterator[tuple[str, Frontmatter]]:
    for file in sorted((vault.root / "Agent/memory").rglob("*.md")):
        yield str(file.relative_to(vault.root)), read_frontmatter(file.read_bytes())


def ranks(vault: Vault, questions: Sequence[Question]) -> dict[str, int | None]:
    """At which place each question's note came, None when not among the first ten."""
    origin_of = origins(vault)
    settings = Settings.load(vault.env, vault=str(vault.root))
    found: dict[str, int | None] = {}
    with open_sources(settings, vault.env) as sources:
        for question in questions:
            hits = recall(question.text, RecallOptions(now=NOW, k=10), sources).hits
            named = list(dict.fromkeys(origin_of.get(hit.path, hit.path) for hit in hits))
            places = [at for at, name in enumerate(named, 1) if name in question.right]
            found[question.id] = min(places, default=None)
    return found


def compared(before: dict[str, int | None], after: dict[str, int | None]) -> dict[str, object]:
    def good(found: dict[str, int | None], within: int) -> set[str]:
        return {id_ for id_, place in found.items() if place is not None and place <= within}

    return {
        "questions": len(before),
        "r@1": [len(good(found, 1)) for found in (before, after)],
        "r@5": [len(good(found, WITHIN)) for found in (before, after)],
        "r@10": [len(good(found, 10)) for found in (before, after)],
        "gained": " ".join(sorted(good(after, WITHIN) - good(before, WITHIN))) or "none",
        "lost": " ".join(sorted(good(before, WITHIN) - good(after, WITHIN))) or "none",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notes", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--lines", type=int, default=300, help="how many questions are lines")
    parser.add_argument("--dream", action="store_true", help="measure after a night, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sets = {
        "gold": gold_questions(options.gold),
        "lines": line_questions(options.notes, options.lines),
    }
    with tempfile.TemporaryDirectory(prefix="agentm-bench-") as folder:
        vault = Vault(Path(folder))
        vault.agentm("init", str(vault.root))
        config = Path(folder) / "config/agentm/agentm.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        with config.open("a") as file:
            file.write(UNJUDGED)
        notes = fill(vault, options.notes)
        vault.agentm("index")
        before = {name: ranks(vault, questions) for name, questions in sets.items()}
        began = time.perf_counter()
        done = vault.agentm("backfill")
        seconds = time.perf_counter() - began
        after = {name: ranks(vault, questions) for name, questions in sets.items()}
        runs = done["runs"]
        results = {name: compared(before[name], after[name]) for name in sets}
        if options.dream:
            vault.agentm("dream")
            dreamt = {name: ranks(vault, questions) for name, questions in sets.items()}
            made = sorted((vault.root / "Agent").rglob("*.md"))
            derived = [file for file in made if file.parent.name in DERIVED]
            results |= {f"{name} dreamt": compared(before[name], dreamt[name]) for name in sets}
            results["dreamt"] = {"derived pages": len(derived)}
    report(
        {
            "machine": machine(),
            "notes": notes,
            "judged": {
                name: sum(run[name] for run in runs)
                for name in ("enriched", "active", "kept_unfiled", "split", "refused", "left")
            },
            "backfill": {"seconds": seconds},
            "found by a sentence of theirs": [
                sum(run[name] for run in runs) for name in ("found_again", "asked_for")
            ],
            **results,
        },
        as_json=options.json,
    )
    losses = [each["lost"] for name, each in results.items() if name.startswith("gold")]
    if set(losses) != {"none"}:
        sys.exit(1)


if __name__ == "__main__":
    main()
