"""What each part of the ranking adds or costs: the same questions, a part exchanged or left out.

`python bench/ablation.py --work FOLDER --locomo FILE [--conversations 1-5] [--notes VAULT
--gold QUESTIONS.json] … [--only PATTERN] [--json FILE]`

Two tables. In "built up" a row adds one part to the row before it, in "left out" it takes one out
of what is shipped. Gained and lost are ids of questions: of LoCoMo those whose share of evidence
in the first five rose or fell, of notes those whose right note did. The product's own modules rank;
a part is exchanged in this process alone. Indexes stay in FOLDER: a second run asks at once.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from measure import machine
from workspace import open_workspace

from agentm_assets.config.settings import Settings
from agentm_assets.evaluation.gold_questions import GoldQuestion, read_questions
from agentm_assets.evaluation.locomo import Conversation, read_locomo
from agentm_assets.evaluation.scratch import build_index, open_embedder
from agentm_assets.index import lexical
from agentm_assets.index.lexical_schema import BM25_BOOSTS, FLAT_BOOSTS
from agentm_assets.recall import pipeline, pool, rank, second_look
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.penalties import Penalty
from agentm_assets.recall.question import Asked, RecallOptions, understand
from agentm_assets.recall.second_look import Signs
from agentm_assets.recall.show import Shown, show
from agentm_assets.recall.sources import Sources

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DEPTH = 10
RECIPROCAL_K = 60
FEW_IDS = 12  # shown with a row; the others are in the JSON

Change = Callable[[ExitStack], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A row. `change` exchanges a part for as long as the stack lives, `sources` what is read."""

    name: str
    change: Change = lambda stack: None
    sources: Callable[[Sources], Sources] = lambda sources: sources


def attribute(module: Any, name: str, value: Any) -> Change:
    return lambda stack: stack.enter_context(patch.object(module, name, value))


def boosts(**values: float) -> Change:
    """Weights of the lexical fields; others are not asked for."""

    def change(stack: ExitStack) -> None:
        for table in (BM25_BOOSTS, FLAT_BOOSTS):
            stack.enter_context(patch.dict(table, {name: values.get(name, 0.0) for name in table}))

    return change


def without_fields(*names: str) -> Change:
    def change(stack: ExitStack) -> None:
        for table in (BM25_BOOSTS, FLAT_BOOSTS):
            stack.enter_context(patch.dict(table, {name: 0.0 for name in names if name in table}))

    return change


def signs(**values: float) -> Change:
    return attribute(second_look, "WEIGHTS", replace(second_look.WEIGHTS, **values))


def together(*changes: Change) -> Change:
    def change(stack: ExitStack) -> None:
        for each in changes:
            each(stack)

    return change


def reciprocal(
    lexical_scores: Mapping[str, float], dense_scores: Mapping[str, float], *_: Any
) -> dict[str, float]:
    """Reciprocal rank fusion instead of the sum of scores, in the range 0..1."""
    found: dict[str, float] = {}
    for scores in (lexical_scores, dense_scores):
        order = sorted(scores, key=lambda key: (-scores[key], key))
        for place, key in enumerate(order, start=1):
            found[key] = found.get(key, 0.0) + RECIPROCAL_K / (2 * (RECIPROCAL_K + place))
    return found


def unfolded(*arguments: Any, fold: bool = True, **options: Any) -> Shown:
    return show(*arguments, fold=False, **options)


def asked_without_phrases(question: str, options: RecallOptions) -> Asked:
    asked = understand(question, options)
    return replace(asked, phrase=None, topic=asked.text)


NO_VERDICT = patch.object(pipeline, "_grounds", lambda *_: None)
NO_SECOND_LOOK = attribute(pipeline, "look_again", lambda ranked, *_: list(ranked))
NO_GUARD = together(
    attribute(rank, "keep_first_lexical", lambda order, *_: list(order)),
    attribute(second_look, "keep_first_lexical", lambda order, *_: list(order)),
)
NO_NAMES = attribute(rank, "ABOUT_BONUS", 0.0)
NO_FORMS = attribute(lexical, "other_forms", lambda term: ())


def by_words(sources: Sources) -> Sources:
    return replace(sources, vectors=None, embedder=None)


def by_meaning(sources: Sources) -> Sources:
    return replace(sources, lexical=_Silent(sources.lexical))


def decaying(sources: Sources) -> Sources:
    rules = replace(sources.rules, decay=replace(sources.rules.decay, enabled=True))
    return replace(sources, rules=rules)


class _Silent:
    """A lexical arm that finds nothing."""

    def __init__(self, arm: Any) -> None:
        self._arm = arm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arm, name)

    def search(self, question: str, limit: int) -> list[Any]:
        return []


_BARE = together(NO_SECOND_LOOK, NO_NAMES, NO_GUARD, NO_FORMS)

BUILT_UP = (
    Part("BM25 of the section's body", together(_BARE, boosts(body=1.0)), by_words),
    Part(
        "+ title, headings, names, parts",
        together(_BARE, boosts(body=1.0, title=0.5, header_path=0.5, names=1.0, parts=0.25)),
        by_words,
    ),
    Part("+ window", _BARE, by_words),
    Part(
        "+ meaning, by reciprocal ranks",
        together(_BARE, attribute(rank, "combine", reciprocal)),
    ),
    Part("+ meaning, by normalised scores instead", _BARE),
    Part("+ names in headings", together(NO_SECOND_LOOK, NO_GUARD, NO_FORMS)),
    Part("+ guard of the first by words", together(NO_SECOND_LOOK, NO_FORMS)),
    Part("+ other forms of words", NO_SECOND_LOOK),
    Part("+ second look: as shipped"),
)


def left_out() -> list[Part]:
    parts = [
        Part("as shipped"),
        Part("by words alone", sources=by_words),
        Part("by meaning alone", sources=by_meaning),
        Part("by reciprocal ranks", attribute(rank, "combine", reciprocal)),
        Part("without field: title", without_fields("title")),
        Part("without field: headings", without_fields("header_path")),
        Part("without field: names and tags", without_fields("names")),
        Part("without field: parts of compounds", without_fields("parts")),
        Part("without field: window, body 1", together(without_fields("window"), _full_body)),
        Part("without field: body", without_fields("body")),
        Part("without other forms of words", NO_FORMS),
        Part("without names, both looks", together(NO_NAMES, signs(about=0.0))),
        Part("without the guard", NO_GUARD),
        Part(
            "without entities",
            attribute(pool, "notes_with_entities", lambda *_: {}),
        ),
        Part("without aliases as names", attribute(pool, "notes_called", lambda *_: {})),
        Part("without time phrases", attribute(pipeline, "understand", asked_without_phrases)),
        Part("without folding of duplicates", attribute(pipeline, "show", unfolded)),
        Part("without penalties", attribute(rank, "penalty_of", _no_penalty)),
        Part("with decay", sources=decaying),
        Part("without the second look", NO_SECOND_LOOK),
    ]
    parts += [Part(f"without sign: {name}", signs(**{name: 0.0})) for name in Signs.__slots__]
    for size in (16, 64):
        parts.append(Part(f"second look at {size}", _looking_at(size)))
    return parts


def _full_body(stack: ExitStack) -> None:
    stack.enter_context(patch.dict(BM25_BOOSTS, {"body": 1.0}))


def _no_penalty(*_: Any) -> Any:
    return Penalty(1.0, ())


def _looking_at(size: int) -> Change:
    return together(
        attribute(second_look, "LOOKED_AT", size), attribute(pipeline, "LOOKED_AT", size)
    )


@dataclass(frozen=True, slots=True)
class Corpus:
    """Questions that can be asked with a part exchanged."""

    name: str
    ask: Callable[[Part], "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """id -> figure; a question is gained when its figure rises. `line` sums it up."""

    figures: dict[str, float]
    line: str


def of_locomo(talks: Sequence[tuple[Conversation, Sources]]) -> Corpus:
    def ask(part: Part) -> Outcome:
        fives: dict[str, float] = {}
        tens: list[float] = []
        with ExitStack() as stack:
            part.change(stack)
            stack.enter_context(NO_VERDICT)
            for talk, opened in talks:
                sources = part.sources(opened)
                for number, question in enumerate(talk.questions, start=1):
                    if question.category == 5 or not question.evidence:
                        continue
                    options = RecallOptions(now=NOW, k=DEPTH, per="section")
                    hits = pipeline.recall(question.text, options, sources).hits
                    found = [talk.turn_at(hit.path, hit.start) for hit in hits]
                    share = len(question.evidence & set(found[:5])) / len(question.evidence)
                    fives[f"{talk.name}/{number}"] = share
                    tens.append(len(question.evidence & set(found)) / len(question.evidence))
        count = len(fives)
        return Outcome(fives, f"r@5 {sum(fives.values()) / count:.3f} r@10 {sum(tens) / count:.3f}")

    return Corpus("LoCoMo", ask)


def of_notes(name: str, questions: Sequence[GoldQuestion], opened: Sources) -> Corpus:
    answerable = [each for each in questions if each.expected_note_paths]

    def ask(part: Part) -> Outcome:
        places: dict[str, int] = {}
        with ExitStack() as stack:
            part.change(stack)
            stack.enter_context(NO_VERDICT)
            sources = part.sources(opened)
            for each in answerable:
                answer = pipeline.recall(each.question, RecallOptions(now=NOW, k=DEPTH), sources)
                right = set(each.expected_note_paths)
                found = [at for at, hit in enumerate(answer.hits, start=1) if hit.path in right]
                places[each.id] = found[0] if found else DEPTH + 1
        first, five = (sum(place <= depth for place in places.values()) for depth in (1, 5))
        mrr = sum(1 / place for place in places.values() if place <= DEPTH) / len(places)
        line = f"hit@1 {first} hit@5 {five} of {len(places)}, MRR {mrr:.3f}"
        return Outcome({id_: 1 / place for id_, place in places.items()}, line)

    return Corpus(name, ask)


@contextmanager
def indexed(vault: Path, work: Path) -> Iterator[Sources]:
    """The vault's index in the scratch folder, brought up to date, open."""
    place = open_workspace(work)
    settings = Settings.load(place.env, vault=str(vault))
    build_index(settings, place.env, open_embedder(settings))
    with open_sources(settings, place.env) as sources:
        if sources.remarks:
            raise SystemExit(f"{vault}: {'; '.join(sources.remarks)}")
        yield sources


def written(talk: Conversation, work: Path) -> Path:
    folder = work / talk.name
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in talk.notes.items():
        if not (folder / path).exists():
            (folder / path).write_text(text, encoding="utf-8", newline="")
    return folder


def compared(before: Outcome, after: Outcome) -> tuple[list[str], list[str]]:
    """Ids gained and lost."""
    change = {id_: after.figures[id_] - before.figures[id_] for id_ in before.figures}
    gained = [id_ for id_, by in change.items() if by > 0]
    return gained, [id_ for id_, by in change.items() if by < 0]


@dataclass(frozen=True, slots=True)
class Row:
    """`gained` and `lost` against the row before (built up), or against what is shipped."""

    table: str
    part: str
    corpus: str
    line: str
    gained: list[str]
    lost: list[str]

    @property
    def changes(self) -> str:
        counts = f"+{len(self.gained)} -{len(self.lost)}"
        ids = [*(f"+{id_}" for id_ in self.gained), *(f"-{id_}" for id_ in self.lost)]
        return f"{counts} ({' '.join(ids)})" if 0 < len(ids) <= FEW_IDS else counts


def asked(table: str, parts: Sequence[Part], corpora: Sequence[Corpus]) -> Iterator[Row]:
    before: dict[str, Outcome] = {}
    for part in parts:
        for corpus in corpora:
            now = corpus.ask(part)
            gained, lost = compared(before.get(corpus.name, now), now)
            yield Row(table, part.name, corpus.name, now.line, gained, lost)
            if table == "built up" or corpus.name not in before:
                before[corpus.name] = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--conversations", default="1-5")
    parser.add_argument("--notes", type=Path, action="append", default=[])
    parser.add_argument("--gold", type=Path, action="append", default=[])
    parser.add_argument("--only", default="", help="a pattern that the names of parts hold")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if len(options.notes) != len(options.gold):
        raise SystemExit("give a --gold for every --notes")
    with ExitStack() as stack:
        corpora: list[Corpus] = []
        if options.locomo:
            first, _, last = options.conversations.partition("-")
            talks = read_locomo(options.locomo)[int(first) - 1 : int(last or first)]
            opened = [
                (
                    talk,
                    stack.enter_context(
                        indexed(written(talk, options.work / talk.name), options.work)
                    ),
                )
                for talk in talks
            ]
            corpora.append(of_locomo(opened))
        for vault, gold in zip(options.notes, options.gold, strict=True):
            questions = read_questions(gold)
            sources = stack.enter_context(indexed(vault.resolve(), options.work))
            corpora.append(of_notes(gold.stem, questions, sources))
        rows: list[Row] = []
        for table, parts in (("built up", list(BUILT_UP)), ("left out", left_out())):
            chosen = [part for part in parts if re.search(options.only, part.name)]
            if table == "left out" and chosen:
                chosen = [parts[0], *(part for part in chosen if part is not parts[0])]
            for row in asked(table, chosen, corpora):
                rows.append(row)
                print(f"{row.part:40} {row.corpus:14} {row.line}  {row.changes}", flush=True)
                if options.json:  # after each row: a run takes long, and may be stopped
                    shown = {"machine": machine(), "rows": [asdict(each) for each in rows]}
                    options.json.write_text(json.dumps(shown, indent=1))


if __name__ == "__main__":
    main()
