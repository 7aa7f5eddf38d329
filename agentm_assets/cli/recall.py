"""`agentm recall`: ask the vault a question."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from rich.text import Text

    from agentm_assets.recall.answer import Answer, Grounds, Hit

_STYLES = {"answer": "bold green", "weak": "bold yellow", "none": "bold red"}
_SAID = {
    "answer": "answer",
    "weak": "weak: these may not hold the answer",
    "none": "none: the vault does not seem to hold the answer; the nearest notes",
}


def command(
    question: Annotated[str, typer.Argument(help="What to ask, in plain words.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Notes to show at most.")] = 5,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="Captured on this day or later (2026-08-01, 2026-08, …)."
        ),
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Captured before this day.")
    ] = None,
    only_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only memories of this type.")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(metavar="SPACE", help="Only this space: memory, calendar, projects, …"),
    ] = None,
    linked: Annotated[
        bool, typer.Option("--linked", help="Show also which notes link to these.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why each note stands where it stands.")
    ] = False,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the vault a question."""
    from datetime import datetime

    from agentm_assets.config.settings import Settings
    from agentm_assets.recall.errors import IndexMissing, QuestionRefused
    from agentm_assets.recall.question import RecallOptions, understand
    from agentm_assets.recall.shape import json_of

    options = RecallOptions(
        now=datetime.now().astimezone(),
        k=k,
        after=after,
        before=before,
        type=only_type,
        space=space,
        linked=linked,
    )
    with failures_reported({QuestionRefused: BAD_INPUT, IndexMissing: RED_STATE}):
        understand(question, options)
        settings = Settings.load(os.environ, vault=vault, profile=profile)
        # Half of a cold start: not before question and configuration are known to be sound.
        from agentm_assets.recall.narrowing import check_narrowing
        from agentm_assets.recall.opening import open_sources
        from agentm_assets.recall.pipeline import recall
        from agentm_assets.recall.ranking import known_types
        from agentm_assets.recall.used import note_recall
        from agentm_assets.storage.selection import open_vault

        with open_sources(settings, os.environ) as sources:
            notes = open_vault(settings.location)
            check_narrowing(options, sources.facts, lambda: known_types(notes, os.environ))
            answer = recall(question, options, sources)
    note_recall(settings.location, answer, options.now)
    if as_json:
        print_json(json_of(answer))
    else:
        _print(answer, explain=explain)


def _print(answer: "Answer", *, explain: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    head = Text(_SAID[answer.verdict], style=_STYLES[answer.verdict])
    head.append(f"  (confidence {answer.confidence:.2f}, {answer.mode})", style="dim")
    console.print(head)
    if explain and answer.grounds is not None:
        console.print(Text(_grounds(answer.grounds), style="dim"))
    if answer.why:
        console.print(Text(printable(answer.why), style="yellow"))
    reranked = answer.trace.rerank
    if explain and reranked is not None:
        said = f"reranked: {reranked.pairs} sections in {reranked.ms:.0f} ms by {reranked.model}"
        console.print(
            Text(printable(f"{said}; {reranked.why}" if reranked.why else said), style="dim")
        )
    for place, hit in enumerate(answer.hits, start=1):
        console.print()
        console.print(_heading(place, hit))
        console.print(_snippet(hit))
        if explain:
            console.print(Text(_explanation(hit), style="dim"))
    if answer.linked:
        console.print()
        console.print(Text("these link to them", style="bold"))
    for note in answer.linked:
        line = Text("   ").append(printable(note.path), style="cyan")
        line.append(f"  → {printable(', '.join(note.links_to))}", style="dim")
        console.print(line)


def _heading(place: int, hit: "Hit") -> "Text":
    from rich.text import Text

    line = Text(f"{place}. ").append(printable(hit.path), style="bold cyan")
    if hit.header_path:
        line.append(" › ").append(printable(hit.header_path), style="cyan")
    marks = [hit.captured, hit.status, "changed since it was indexed" if hit.stale else None]
    marks += [None if hit.indexed else "not indexed yet"]
    marks += [f"same as {', '.join(hit.duplicates)}" if hit.duplicates else None]
    shown = ", ".join(printable(mark) for mark in marks if mark)
    return line.append(f"  [{shown}]", style="dim") if shown else line


def _snippet(hit: "Hit") -> "Text":
    from rich.text import Text

    text = Text("   ")
    at = 0
    for start, end in hit.matches:
        text.append(printable(hit.snippet[at:start]))
        text.append(printable(hit.snippet[start:end]), style="bold")
        at = end
    return text.append(printable(hit.snippet[at:]))


def _grounds(found: "Grounds") -> str:
    """What speaks for the verdict and against it, on one line."""
    held = (
        "no telling word" if found.words is None else f"{found.words:.0%} of the words in one hit"
    )
    said = [held]
    if found.meaning is not None:
        said.append(f"cosine {found.meaning:.2f}")
    if found.unseen:
        said.append(f"{found.unseen:.0%} of the words in no section")
    if found.speaker is not None:
        said.append(f"of the speaker asked about {found.speaker:+.2f}")
    if found.named:
        said.append("what is named is mentioned")
    if found.unknown_name:
        said.append("a name that no note holds")
    if found.unknown_thing:
        said.append("an issue, commit or page that no note mentions")
    if found.in_time:
        said.append("of the asked time")
    return f"rests on: {'; '.join(said)}"


def _explanation(hit: "Hit") -> str:
    parts = hit.parts
    found = [f"score {hit.score:.3f}"]
    if parts.lexical_rank is not None and parts.lexical_score is not None:
        found.append(f"words: rank {parts.lexical_rank}, BM25 {parts.lexical_score:.2f}")
    if parts.dense_rank is not None and parts.dense_score is not None:
        found.append(f"meaning: rank {parts.dense_rank}, cosine {parts.dense_score:.3f}")
    if parts.entity:
        found.append("mentions what the question names")
    if parts.rerank is not None:
        found.append(f"reranked: {parts.rerank:.3f}")
    if parts.penalties:
        found.append(f"lowered to {parts.penalty:.2f} by {', '.join(parts.penalties)}")
    found.append(f"bytes {hit.start} to {hit.end}")
    return printable("   " + "; ".join(found))
