"""Confidence: questions that a vault answers and such that it does not, fitted and reported.

`python bench/confidence.py gather OUT.json --locomo FILE --notes VAULT --gold FILE [--gold FILE …]
--work FOLDER` asks all of them, with meaning and by words alone, and keeps what each verdict rests
on. `fit OUT.json` prints coefficients for `recall/confidence.py` and the thresholds at which 5 of
100 answerable questions are lost; `report OUT.json` what the shipped ones reach. Tuned on the first
half of the conversations and the questions whose id hashes even; reported on the others.
"""

import argparse
import json
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from confidence_fit import (
    Judged,
    curve_table,
    fit,
    reliability,
    threshold,
    using,
    verdict_table,
    without_speaker,
)
from measure import machine
from workspace import Workspace, make_workspace

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.gold_questions import GoldQuestion, read_questions
from agentm_assets.evaluation.locomo import Conversation, read_locomo
from agentm_assets.evaluation.locomo_run import NOW
from agentm_assets.evaluation.scratch import build_index, open_embedder
from agentm_assets.recall import confidence
from agentm_assets.recall.answer import Grounds
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions
from agentm_assets.recall.sources import Sources

SMALL_VAULTS = (8, 12, 15, 20, 30, 50)  # notes
UNANSWERABLE = 5  # LoCoMo's category
CROSSED = 15  # questions that a conversation hands to the notes, and they to each conversation
JUNK = 40  # questions a vault
SEED = 9

_FOREIGN = ["gondola", "ferret", "parsnip", "tuba", "glacier", "orchid", "walrus", "sextant"]
_COMMON = ["green", "walk", "house", "number", "light", "water", "first", "place", "never", "good"]
_EMPTY = ["the", "of", "to", "is", "it", "at", "what", "when", "how", "you", "was", "this", "for"]


@dataclass(frozen=True, slots=True)
class Asked:
    id: str
    text: str
    group: str
    tuning: bool
    answerable: bool


def gather(locomo: Path, notes: Path, gold: Sequence[Path], work: Path) -> list[Judged]:
    talks = read_locomo(locomo)
    questions = [each for file in gold for each in read_questions(file)]
    draw = random.Random(SEED)
    found: list[Judged] = []
    vault = make_workspace(notes, work / "notes")
    found += _ask(vault, [*_of_notes(questions), *_crossed_to_notes(talks), *_junk(notes, draw)])
    for number, talk in enumerate(talks):
        tuning = number < len(talks) // 2
        place = _written(talk, work / f"talk-{number}")
        found += _ask(place, [*_of_talk(talk, tuning), *_crossed_to_talk(questions, number, talks)])
        print(f"{talk.name}: {len(found)} questions so far")
    for size in SMALL_VAULTS:
        place, asked = _small(notes, questions, size, work / f"small-{size}", draw)
        found += _ask(place, [*asked, *_junk(place.vault, draw)])
    return found


def _ask(place: Workspace, questions: Sequence[Asked]) -> Iterator[Judged]:
    settings = Settings.load(place.env, vault=str(place.vault))
    build_index(settings, place.env, open_embedder(settings))
    with open_sources(settings, place.env) as sources:
        by_words = replace(sources, vectors=None, embedder=None)
        for each in questions:
            yield _judged(each, "hybrid", sources)
            yield _judged(each, "lexical", by_words)


def _judged(asked: Asked, mode: str, sources: Sources) -> Judged:
    answer = recall(asked.text, RecallOptions(now=NOW), sources)
    return Judged(asked.id, asked.group, asked.tuning, asked.answerable, mode, answer.grounds)


def _even(id_: str) -> bool:
    return int(sha256(id_.encode()).hexdigest(), 16) % 2 == 0


def _of_notes(questions: Sequence[GoldQuestion]) -> Iterator[Asked]:
    for each in questions:
        answerable = bool(each.expected_note_paths)
        group = "notes, answerable" if answerable else "notes, near topic"
        yield Asked(each.id, each.question, group, _even(each.id), answerable)


def _of_talk(talk: Conversation, tuning: bool) -> Iterator[Asked]:
    for number, each in enumerate(talk.questions, start=1):
        answerable = each.category != UNANSWERABLE
        group = "dialogue, answerable" if answerable else "dialogue, of the other speaker"
        yield Asked(f"{talk.name}-{number}", each.text, group, tuning, answerable)


def _crossed_to_notes(talks: Sequence[Conversation]) -> Iterator[Asked]:
    for number, talk in enumerate(talks):
        own = [each for each in talk.questions if each.category != UNANSWERABLE]
        for at, each in enumerate(own[:: len(own) // CROSSED][:CROSSED]):
            id_ = f"notes-{talk.name}-{at}"
            tuning = number < len(talks) // 2
            yield Asked(id_, each.text, "dialogue asked of notes", tuning, False)


def _crossed_to_talk(
    questions: Sequence[GoldQuestion], number: int, talks: Sequence[Conversation]
) -> Iterator[Asked]:
    """A question of the tuning half goes to a conversation of the tuning half."""
    tuning = number < len(talks) // 2
    own = [each for each in questions if each.expected_note_paths and _even(each.id) == tuning]
    for each in own[number % 5 :: 5][:CROSSED]:
        id_ = f"{talks[number].name}-{each.id}"
        yield Asked(id_, each.question, "notes asked of dialogue", tuning, False)


def _small(
    notes: Path, questions: Sequence[GoldQuestion], size: int, work: Path, draw: random.Random
) -> tuple[Workspace, list[Asked]]:
    """A few notes with the questions of some of them, and questions of notes that it lacks."""
    pool = [each for each in questions if each.expected_note_paths and _even(each.id)]
    own = draw.sample(pool, max(6, size // 3))
    kept = {path for each in own for path in each.expected_note_paths}
    others = sorted(set(_paths(notes)) - kept)
    kept |= set(draw.sample(others, max(0, size - len(kept))))
    source = work.with_suffix(".notes")
    for path in sorted(kept):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(notes / path, source / path)
    asked = []
    for each in pool:
        held = [path in kept for path in each.expected_note_paths]
        if all(held) or not any(held):
            group = "small vaults, " + ("answerable" if all(held) else "of other notes")
            asked.append(Asked(f"small-{size}-{each.id}", each.question, group, True, all(held)))
    return make_workspace(source, work), asked


def _junk(vault: Path, draw: random.Random) -> Iterator[Asked]:
    """Words that ask nothing: of the vault, of no vault, of every text, letters, and stop words."""
    text = " ".join((vault / path).read_text("utf-8", "replace") for path in _paths(vault)[:5])
    own = sorted({word for word in text.lower().split() if word.isalpha() and len(word) > 2})
    letters = ["".join(draw.sample("abcdefghijklmnopqrstuvwxyz", 6)) for _ in range(30)]
    kinds = (own, _FOREIGN, _COMMON, letters, _EMPTY)
    for number in range(JUNK):
        words = kinds[number % len(kinds)]
        asked = " ".join(draw.sample(words, min(len(words), draw.randint(2, 7))))
        yield Asked(f"junk-{vault.parent.name}-{number}", asked, "junk", number % 2 == 0, False)


def _paths(vault: Path) -> list[str]:
    return sorted(str(file.relative_to(vault)) for file in vault.rglob("*.md"))


def _written(talk: Conversation, work: Path) -> Workspace:
    source = work.with_suffix(".notes")
    source.mkdir(parents=True)
    for path, text in talk.notes.items():
        (source / path).write_text(text, encoding="utf-8", newline="")
    return make_workspace(source, work)


def _read(file: Path) -> list[Judged]:
    return [
        Judged(**{**each, "grounds": each["grounds"] and Grounds(**each["grounds"])})
        for each in json.loads(file.read_bytes())
    ]


def _print(title: str, table: dict[str, object]) -> None:
    print(f"\n{title}")
    for name, value in table.items():
        print(f"  {name}: {value}")


def _fit(questions: Sequence[Judged]) -> None:
    for mode, start in (("hybrid", confidence.HYBRID), ("lexical", confidence.LEXICAL)):
        asked = [each for each in questions if each.mode == mode]
        curve = fit(asked, start)
        print(f"{mode}: {curve}")
        undo = using(curve, mode)
        print(f"  5 of 100 answerable are lost below {threshold(asked, 0.05):.3f}")
        undo()


def _report(questions: Sequence[Judged]) -> None:
    for mode in ("hybrid", "lexical"):
        asked = [each for each in questions if each.mode == mode]
        for tuning, half in ((True, "tuning half"), (False, "held back")):
            _print(f"{mode}, verdicts, {half}", dict(verdict_table(asked, tuning=tuning)))
            _print(f"{mode}, reliability, {half}", dict(reliability(asked, tuning=tuning)))
        rounded = {
            name: {group: round(value, 3) for group, value in row.items()}
            for name, row in curve_table(asked).items()
        }
        _print(f"{mode}, what is rejected for what is lost", dict(rounded))
        bare = verdict_table([without_speaker(each) for each in asked], tuning=False)
        _print(f"{mode}, held back, without the speaker", dict(bare))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["gather", "fit", "report"])
    parser.add_argument("table", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--gold", type=Path, action="append", default=[])
    parser.add_argument("--work", type=Path)
    chosen = parser.parse_args()
    if chosen.step != "gather":
        {"fit": _fit, "report": _report}[chosen.step](_read(chosen.table))
        return
    if not (chosen.locomo and chosen.notes and chosen.gold and chosen.work):
        parser.error("gather needs --locomo, --notes, --gold and --work")
    found = gather(chosen.locomo, chosen.notes, chosen.gold, chosen.work)
    chosen.table.write_text(json.dumps([asdict(each) for each in found]))
    print(f"{len(found)} answers in {chosen.table}; {machine()}")


if __name__ == "__main__":
    main()
