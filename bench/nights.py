"""Nights over a growing vault: `python bench/nights.py [--notes 5000] [--nights 30]`.

A new vault under git in a folder that is removed at the end: notes of a year about appliances, the
people who repair them and what they decided. Each simulated day brings new captures; then they are
indexed and judged by the judge that ships, and all stages of the night run with that night's clock.
A local server that speaks a provider's wire format answers the questions of the stages; its batches
are ready the night after. Without `--model` no model is there. `--declare N`: the operator declares
the type `person` before that night, which makes every judgment stale. `--corpus FOLDER
--gold FILE`: the notes of that folder come first, as captures, and the questions of the file about
them (a JSON list of `id`, `question`, `expected_note_paths`) are asked before and after in place of
those about the appliances.

Per night: seconds, calls and tokens, files written, what the cap held back, the depth of the queues
and the age of their oldest item in days, and the share of each stage's targets that is current. At
the end: files that are gone (but for those that a pass gave another name), a known-item recall
before and after, how deep what is recalled is derived, and whether the last nights can be taken
back.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from measure import machine, report

from agentm_assets.config.enrichment_table import Batch
from agentm_assets.config.settings import Settings
from agentm_assets.contract.rules import LoadedRules, load_rules
from agentm_assets.dreaming.depth import read_depths
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.order import STAGES
from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.stage import StageReport
from agentm_assets.enrichment.reindex import reindex
from agentm_assets.history.revert import revert
from agentm_assets.history.revert_log import GONE, read_log
from agentm_assets.index.store import IndexStore
from agentm_assets.ledger import queue
from agentm_assets.ledger.summary import summary
from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import ensure_exported
from agentm_assets.models.tiers import Tiers
from agentm_assets.models.weights import locate as locate_weights
from agentm_assets.recall.opening import WarmSources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.storage.selection import open_backend, open_vault

ROOT = Path(__file__).resolve().parents[1]
START = datetime(2026, 3, 1, 2, 30, tzinfo=UTC)
PEOPLE = ("ines", "omar", "hanna", "tomas", "nora", "jonas", "mara", "olga", "piet", "ruta")
MACHINES = ("kettle", "oven", "mixer", "washer", "dryer", "toaster", "heater", "freezer")
PARTS = (
    "relay",
    "valve",
    "thermostat",
    "fuse",
    "gasket",
    "motor",
    "sensor",
    "pump",
    "hinge",
    "lid",
)
CAUSES = ("corroded", "loose", "worn", "wet", "misaligned", "overheated", "cracked", "blocked")
PLACES = ("workshop", "yard", "cellar", "office", "van", "showroom")
TEMPLATES = (
    "{machine} {n} failed with error E{n:04} and did not start. The cause was a {cause} {part} on "
    "board {n}. Fixed by replacing the {part}; @{person} tested it in the {place} and it works "
    "again.",
    "@{person} prefers the {part} of {machine} {n} to be ordered in packs of {k}. Two packs are in "
    "the {place}, see acme/{machine}#{n}.",
    "We decided that every {machine} gets a new {part} after {k} months. {Person} asked for it on "
    "account of {machine} {n}, whose {part} was {cause}.",
    "How to change the {part} of {machine} {n}: 1. Switch it off. 2. Open the back with a {k} mm "
    "key. 3. Pull the {part} out. 4. Put the new one in. {Person} needs {k} minutes for it.",
    "The {part} of {machine} {n} draws {k}.{j} watts at {n} turns. Measured by @{person} in the "
    "{place} with the old meter.",
    "Maybe the {part} of {machine} {n} could be printed instead of bought? {Person} knows somebody "
    "near the {place}. Not tried. See [[{machine}-log]] and [[{part}-stock]].",
)


ASKED = (
    "why did {machine} {n} refuse to come on",
    "in what amounts should the {part} of {machine} {n} be bought",
    "whose wish was a regular new {part} after the trouble with {machine} {n}",
    "steps for swapping the {part} in {machine} {n}",
    "power consumption of the {part} of {machine} {n}",
    "making the {part} of {machine} {n} ourselves",
)
"""What somebody asks who wants such a note, in other words than its own."""


def filled(template: str, n: int) -> str:
    drawn = random.Random(n)
    person = drawn.choice(PEOPLE)
    return template.format(
        n=n,
        k=2 + n % 11,
        j=n % 10,
        machine=drawn.choice(MACHINES),
        part=drawn.choice(PARTS),
        cause=drawn.choice(CAUSES),
        place=drawn.choice(PLACES),
        person=person,
        Person=person.capitalize(),
    )


def text_of(number: int) -> str:
    """Every seventh note says what an earlier one said."""
    n = number - 7 * 40 if number % 7 == 0 and number > 7 * 40 else number
    return filled(TEMPLATES[n % len(TEMPLATES)], n)


RULES = "standards/storage-rules.md"
_WARRANT = """warrants:
  person:
    query_class: who is somebody, and what do we know of them
    nearest: reference
    why_not: a reference is settled when it is filed, a person's page grows
    admission:
      persistent_identity: yes, somebody is somebody without any note
      accumulating_record: yes, notes of many months name the same person
      resolution_need: yes, by name, address and login
      independent_attributes: yes, such as a role
"""
_DECLARED = (
    ("fix, idea]", "fix, idea, person]"),
    ("  idea: semantic\n", "  idea: semantic\n  person: semantic\n"),
    ("warrants: {}\n", _WARRANT),
)


@dataclass(frozen=True, slots=True)
class Found:
    """`place` of the note, None when it was not among the first ten; `deepest` derivation of what
    came among the first five."""

    place: int | None
    deepest: int


_CAPTURED = tuple(f"Agent/memory/{name}/" for name in ("semantic", "procedural", "episodic"))


class Estate:
    """The vault with what a night needs of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AGENTM_")},
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "AGENTM_VAULT": str(self.root),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE")},
            **{f"GIT_{who}_NAME": "Olga" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "olga@example.org" for who in ("AUTHOR", "COMMITTER")},
        }
        self.written = 0
        self.judging = Batch()
        self.agentm("init", str(self.root))
        config = folder / "config/agentm/agentm.toml"
        limits = "[profiles.default.enrichment.after_capture]\nnotes = 1000000\n"
        config.write_text(f"{config.read_text()}\n{limits}")
        self.settings = Settings.load(self.env)
        self.location = self.settings.location
        self.backend = open_backend(self.location)
        self.store = IndexStore(self.location.duckdb_file)
        folder_of_model = ensure_exported(
            locate_weights(self.settings.embedder_model), self.settings.cache_dir
        )
        self.embedder: Embedder = Embedder.open(folder_of_model)

    @property
    def rules(self) -> LoadedRules:
        return load_rules(open_vault(self.location), self.env)

    def agentm(self, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", *arguments, "--json"],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"agentm {' '.join(arguments)}: {done.stderr[-2_000:]}")
        return json.loads(done.stdout)

    def capture(self, notes: int, since: datetime, until: datetime) -> None:
        """New captures as files, spread evenly over the time."""
        for number in range(notes):
            at = since + (until - since) * (number / notes)
            name = f"note-{self.written:06}"
            place = self.root / f"Agent/memory/semantic/{at:%Y/%m}/{name}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            head = f"type: reference\nstatus: unfiled\ncaptured: {at:%Y-%m-%dT%H:%M:%SZ}"
            place.write_text(f"---\n{head}\n---\n{text_of(self.written)}\n")
            self.written += 1

    def adopt(self, source: Path) -> dict[str, str]:
        """The notes of a folder as captures; the path of each by the one that it had."""
        places = {}
        for number, note in enumerate(sorted(source.rglob("*.md"))):
            text = note.read_text("utf-8", errors="replace")
            heading = next(
                (x[2:].strip() for x in text.split("\n") if x.startswith("# ")), note.stem
            )
            head = [
                "type: reference",
                "status: unfiled",
                f"captured: 2025-{number % 12 + 1:02}-11T09:00:00Z",
                f"title: {json.dumps(heading, ensure_ascii=False)}",
            ]
            path = f"Agent/memory/semantic/2025/{number % 12 + 1:02}/adopted-{number:05}.md"
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text("\n".join(["---", *head, "---", text]), "utf-8")
            places[str(note.relative_to(source))] = path
        return places

    def declare_person(self) -> None:
        rules = self.root / RULES
        text = rules.read_text()
        for old, new in _DECLARED:
            if text.count(old) != 1:
                raise SystemExit(f"{rules}: {old!r} is not there once")
            text = text.replace(old, new)
        rules.write_text(text)

    def reindex(self, paths: Collection[str]) -> None:
        reindex(self.location, self.backend, self.store, self.rules, self.embedder, paths)

    def night(self, number: int, models: Tiers | None, spend: Any) -> Night:
        return Night(
            location=self.location,
            backend=self.backend,
            store=self.store,
            rules=self.rules,
            now=START + timedelta(days=number),
            judging=self.judging,
            night_id=f"night-{number}",
            models=models,
            spend=spend,
            embedder=lambda: self.embedder,
            reindex=self.reindex,
        )

    def files(self) -> set[str]:
        return {
            str(file.relative_to(self.root))
            for file in self.root.rglob("*.md")
            if ".git" not in file.parts
        }

    def runs(self, since: int) -> list[str]:
        """Ids of the runs that wrote after the first lines of the revert log, newest first."""
        changes = read_log(self.backend)[0][since:]
        return list(dict.fromkeys(change.run for change in reversed(changes)))


def shown(
    number: int, reports: list[StageReport], estate: Estate, seconds: dict[str, float]
) -> Any:
    now = START + timedelta(days=number)
    with estate.store.transaction() as connection:
        depths = queue.depths(connection, now)
        ledger = summary(connection)
    spent: Counter[str] = Counter()
    for each in reports:
        spent.update({name: float(value) for name, value in each.spent.items()})
    return {
        "night": number,
        "seconds": {**seconds, "stages": sum(each.seconds for each in reports)},
        "slowest": {
            each.stage: round(each.seconds, 1)
            for each in sorted(reports, key=lambda each: -each.seconds)[:3]
        },
        "spent": dict(spent),
        "applied": sum(each.applied for each in reports),
        "held": sum(each.held_by_cap for each in reports),
        "anomalies": [each.stage for each in reports if each.anomaly],
        "waiting for a model": sum(each.waiting_for_model for each in reports),
        "parked": sum(len(each.parked) for each in reports),
        "queue": sum(depth.pending for depth in depths),
        "oldest days": max((depth.oldest_age_seconds / 86_400 for depth in depths), default=0.0),
        "coverage": {each.stage: round(each.share, 3) for each in ledger if each.share < 1},
        "skipped": dict(sum((Counter(each.skipped) for each in reports), Counter())),
    }


@contextmanager
def served(wanted: bool, estate: Estate) -> Iterator[tuple[Tiers | None, Any, Callable[[], None]]]:
    """A local model that answers in batches, its spend log, and what ends the batches."""
    if not wanted:
        yield None, None, lambda: None
        return
    from night_answers import answered

    sys.path += [str(ROOT / "tests"), str(ROOT / "tests/dreaming")]
    from model_servers import anthropic_server
    from night_models import by_batch

    from agentm_assets.models.spend import SpendLog

    with anthropic_server(answered) as server:
        yield by_batch(server), SpendLog(estate.location), server.finish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--a-night", type=int, default=250)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--model", action="store_true", help="with a local model server")
    parser.add_argument("--declare", type=int, help="night before which `person` is declared")
    parser.add_argument("--judged", type=int, default=20_000, help="notes judged in a night")
    parser.add_argument("--known", type=int, default=150, help="questions of the recall test")
    parser.add_argument("--corpus", type=Path, help="notes that come first")
    parser.add_argument("--gold", type=Path, help="questions about them")
    parser.add_argument("--take-back", type=int, default=3, help="nights that are taken back")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentm-bench-")))
        estate = Estate(folder)
        estate.judging = Batch(notes=options.judged)
        adopted = estate.adopt(options.corpus) if options.corpus else {}
        estate.capture(options.notes, START - timedelta(days=365), START)
        began = time.perf_counter()
        estate.agentm("index")
        print(f"first index and judgment: {time.perf_counter() - began:.0f} s", file=sys.stderr)
        names = estate.files()
        questions = (
            gold_questions(options.gold, adopted)
            if options.gold
            else questions_of(estate, options.known)
        )
        before = recalled(estate, questions)
        models, spend, end_batches = stack.enter_context(served(options.model, estate))
        nights, marks = [], []
        for number in range(options.nights):
            now = START + timedelta(days=number)
            if number == options.declare:
                estate.declare_person()
            estate.capture(options.a_night, now - timedelta(days=1), now)
            names |= estate.files()
            began = time.perf_counter()
            estate.agentm("index")
            seconds = {"index and judge": time.perf_counter() - began}
            marks.append(len(read_log(estate.backend)[0]))
            night = estate.night(number, models, spend)
            reports = [run_stage(night, stage) for stage in STAGES]
            if number == options.nights - 1:
                # The same night again: nothing is left to do.
                again = [run_stage(night, stage) for stage in STAGES]
            end_batches()
            nights.append(shown(number, reports, estate, seconds))
            names |= estate.files()
            print(json.dumps(nights[-1]), file=sys.stderr, flush=True)
        after = recalled(estate, questions)
        moved = {change.path for change in read_log(estate.backend)[0] if change.after == GONE}
        gone = len(names - estate.files() - moved)
        taken = taken_back(estate, marks[-min(options.take_back, len(marks))])
        report(
            {
                "machine": machine(),
                "notes": estate.written,
                "nights": nights,
                "second run wrote": sum(each.applied for each in again),
                "files gone": gone,
                "recall": compared(before, after),
                "taken back": taken,
            },
            as_json=options.json,
        )


Questions = dict[str, tuple[str, tuple[str, ...]]]
"""id -> the question and the paths of the notes that answer it, as they were at first."""


def gold_questions(file: Path, adopted: dict[str, str]) -> Questions:
    """Those of the file that a note answers."""
    return {
        each["id"]: (each["question"], tuple(adopted[path] for path in each["expected_note_paths"]))
        for each in json.loads(file.read_text("utf-8"))
        if each["expected_note_paths"]
    }


def questions_of(estate: Estate, most: int) -> Questions:
    """About notes that nothing repeats."""
    found: Questions = {}
    paths = sorted(path for path in estate.files() if path.startswith(_CAPTURED))
    for path in random.Random(7).sample(paths, len(paths)):
        text = (estate.root / path).read_text()
        number = re.search(r"(?:kettle|oven|mixer|washer|dryer|toaster|heater|freezer) (\d+)", text)
        if number is None or int(number[1]) % 7 == 0 or len(found) == most:
            continue
        n = int(number[1])
        found[f"q{n}"] = (filled(ASKED[n % len(ASKED)], n), (path,))
    return found


def recalled(estate: Estate, questions: Questions) -> dict[str, Found]:
    """id -> the place of the first right note among the first ten, None when none is there, and the
    deepest derivation of what was recalled."""
    warm = WarmSources(estate.settings, estate.env, lambda f: estate.embedder, lambda f, p: None)
    moved = {change.moved_from: change.path for change in read_log(estate.backend)[0]}
    with estate.store.transaction() as connection:
        depths = read_depths(connection, estate.backend)
    found: dict[str, Found] = {}
    try:
        sources = warm.current()
        for key, (question, paths) in questions.items():
            right = {_now(path, moved) for path in paths}
            hits = recall(question, RecallOptions(now=datetime.now(UTC), k=10), sources).hits
            places = [at for at, hit in enumerate(hits, 1) if right & {hit.path, *hit.duplicates}]
            deepest = max((depths.of(hit.path) for hit in hits[:5]), default=0)
            found[key] = Found(places[0] if places else None, deepest)
    finally:
        warm.close()
    return found


def _now(path: str, moved: dict[str | None, str]) -> str:
    while path in moved:
        path = moved[path]
    return path


def compared(before: dict[str, Found], after: dict[str, Found]) -> dict[str, Any]:
    def share(found: dict[str, Found], k: int) -> float:
        return sum(each.place is not None and each.place <= k for each in found.values()) / len(
            found
        )

    def within(each: Found) -> bool:
        return each.place is not None and each.place <= 5

    return {
        "questions": len(before),
        **{f"r@{k}": [share(before, k), share(after, k)] for k in (1, 5, 10)},
        "gained": [key for key in before if within(after[key]) and not within(before[key])],
        "lost": [key for key in before if within(before[key]) and not within(after[key])],
        "mean deepest of the first five": [
            sum(each.deepest for each in found.values()) / len(found) for found in (before, after)
        ],
    }


def taken_back(estate: Estate, mark: int) -> dict[str, int]:
    """Undo what was written after the first `mark` lines of the revert log, the newest run first,
    and count what became of the files."""
    fates: Counter[str] = Counter()
    runs = estate.runs(mark)
    for run in runs:
        done = revert(estate.location, estate.backend, run, now=lambda: datetime.now(UTC))
        fates.update(each.fate for each in done.files)
    return {"runs": len(runs), **fates}


if __name__ == "__main__":
    main()
