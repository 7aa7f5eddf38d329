"""The extractive judge against labels: accuracy a type, confusion, what it sets active wrongly.

`python bench/extractive.py LABELS.json [--no-embedder] [--json]`. LABELS is a list of notes, each
with `title`, `text`, `type`, `altitude`, `source` ("where:which") and, where a second type could be
argued for, `also`. Texts are read by the judge alone and nothing of them is printed.
"""

import argparse
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.rules import load_rules
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.subject import Subject
from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import ensure_exported
from agentm_assets.models.weights import locate
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.vault import content_hash

FLOORS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)


@dataclass(frozen=True, slots=True)
class Labelled:
    title: str
    text: str
    type: str
    also: frozenset[str]
    altitude: str
    origin: str


def read_labels(path: Path) -> list[Labelled]:
    return [
        Labelled(
            note["title"],
            note["text"],
            note["type"],
            frozenset(
                [note["also"]] if isinstance(note.get("also"), str) else note.get("also", ())
            ),
            note["altitude"],
            note["source"].partition(":")[0],
        )
        for note in json.loads(path.read_text("utf-8"))
    ]


def subject_of(note: Labelled) -> Subject:
    """The note as an ambient capture would have left it."""
    data = f"---\nstatus: unfiled\ntitle: {json.dumps(note.title)}\n---\n{note.text}".encode()
    frontmatter = read_frontmatter(data)
    body = data[frontmatter.body_start :]
    return Subject(
        locator=Locator("Agent/memory/semantic/2026/01/note.md"),
        data=data,
        data_hash=content_hash(data),
        frontmatter=frontmatter,
        body=body.decode(),
        source=body.decode(),
        fingerprint=fingerprint(body),
        title=note.title,
        space="memory",
        memory_class="semantic",
        status="unfiled",
        captured="2026-01-01",
        aliases=(),
        tags=(),
        is_linked=False,
        human_edited=False,
        trigger="batch",
    )


def shares(notes: Sequence[Labelled], judged: Sequence[Judgment], floor: float) -> dict[str, Any]:
    """Of these notes: how many types are right, and what is set active at this floor. `wrong`: not
    the label and no type that could be argued for; `not_first`: not the label."""
    pairs = list(zip(notes, judged, strict=True))
    active = [(n, j) for n, j in pairs if j.confidence >= floor]
    return {
        "n": len(pairs),
        "right": sum(n.type == j.type for n, j in pairs),
        "arguable": sum(j.type in n.also | {n.type} for n, j in pairs),
        "altitude": sum(n.altitude == j.altitude for n, j in pairs),
        "active": len(active),
        "wrong": sum(j.type not in n.also | {n.type} for n, j in active),
        "not_first": sum(j.type != n.type for n, j in active),
    }


def measure(notes: Sequence[Labelled], embedder: Embedder | None) -> dict[str, Any]:
    rules = load_rules(None, {})
    judge = ExtractiveJudge(rules, embedder)
    judge.judge(subject_of(notes[0]))  # embeds the definitions
    began = time.perf_counter()
    judged = [judge.judge(subject_of(note)) for note in notes]
    seconds = (time.perf_counter() - began) / len(notes)
    floor = rules.rules.thresholds.low_confidence
    confusion: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for note, judgment in zip(notes, judged, strict=True):
        confusion[note.type][judgment.type] += 1

    def part(wanted: Sequence[bool]) -> dict[str, Any]:
        kept = [(n, j) for n, j, w in zip(notes, judged, wanted, strict=True) if w]
        return shares([n for n, _ in kept], [j for _, j in kept], floor)

    return {
        "all": shares(notes, judged, floor),
        "majority": max(Counter(note.type for note in notes).values()),
        "floors": {str(at): shares(notes, judged, at) for at in FLOORS},
        "types": {t: part([n.type == t for n in notes]) for t in rules.rules.memory_types},
        "origins": {
            o: part([n.origin == o for n in notes]) for o in sorted({n.origin for n in notes})
        },
        "confusion": {t: dict(confusion[t]) for t in rules.rules.memory_types},
        "seconds_a_note": round(seconds, 4),
    }


def show(results: dict[str, Any]) -> None:
    types = list(results["confusion"])
    print(f"{'':14}{'n':>5}{'right':>7}{'arguable':>9}{'altitude':>9}{'active':>7}{'wrong':>6}")
    rows = {"all": results["all"], **results["types"], **results["origins"]}
    rows |= {f"floor {at}": row for at, row in results["floors"].items()}
    for name, row in rows.items():
        print(
            f"{name:14}{row['n']:5}{row['right']:7}{row['arguable']:9}{row['altitude']:9}"
            f"{row['active']:7}{row['wrong']:6} ({row['not_first']} not the label)"
        )
    print("\nlabel, judged as:", *types)
    for name in types:
        print(f"{name:14}", *(f"{results['confusion'][name].get(t, 0):4}" for t in types))
    print(f"\nmajority {results['majority']}, seconds a note {results['seconds_a_note']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labels", type=Path)
    parser.add_argument("--no-embedder", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentm"
    embedder = None
    if not arguments.no_embedder:
        embedder = Embedder.open(ensure_exported(locate(), cache), threads=1)
    results = measure(read_labels(arguments.labels), embedder)
    print(json.dumps(results)) if arguments.json else show(results)


if __name__ == "__main__":
    main()
