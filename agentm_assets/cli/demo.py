"""`agentm demo`: the bundled sample vault, indexed by Dagster and asked from fresh processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.output import (
    BAD_INPUT,
    RED_STATE,
    failures_reported,
    note_to_operator,
    printable,
)

if TYPE_CHECKING:
    from agentm_assets.storage.seam import StorageBackend


NEW_FACT = "The tasting panel meets in the small kitchen on Thursdays; bring your own mug."
NEW_QUESTION = "When do people taste the tea?"


def command(
    path: Annotated[
        Path | None, typer.Argument(help="Where to put the sample vault; it must not exist.")
    ] = None,
) -> None:
    """Make the sample vault, index it, ask it in other words; save a fact and ask for that, too."""
    from agentm_assets.config.directories import cache_dir, data_dir
    from agentm_assets.contract.rules import default_rules_text
    from agentm_assets.demo import demo_questions, sample_vault
    from agentm_assets.storage.initialise import InitError, commit_all, initialise
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.vault_backend import VaultBackend

    root = (path or data_dir(os.environ) / "demo-vault").absolute()
    with failures_reported({InitError: BAD_INPUT}):
        if not root.exists():
            locks_dir = cache_dir(os.environ) / "locks"
            initialise(root, default_rules_text(), locks_dir)
            try:
                _add_sample(VaultBackend(root, locks_dir), sample_vault())
            except (OSError, StorageError) as error:
                raise InitError(
                    f"the sample can't be copied to {root} ({error}). Free some space, remove "
                    "that folder and try again."
                ) from error
            committed = commit_all(root, "Add the sample notes")
            if committed != "committed":
                note_to_operator(committed)
        elif path is not None:
            raise InitError(f"{root} exists. Name a folder that does not.")
    typer.echo(f"sample vault: {printable(str(root))}")
    if _agentm("index", "--vault", str(root)).returncode != 0:
        raise typer.Exit(RED_STATE)
    right = 0
    questions = demo_questions()
    for question in questions:
        # Each question is asked by a process of its own: nothing is remembered but the files.
        done = _agentm(
            "recall", question.question, "-k", "3", "--json", "--vault", str(root), capture=True
        )
        if done.returncode != 0:
            typer.echo(done.stderr, err=True)
            raise typer.Exit(RED_STATE)
        answer = json.loads(done.stdout)
        hits = [hit["path"] for hit in answer["hits"]]
        expected = set(question.expected_note_paths)
        found = bool(expected & set(hits)) if expected else answer["verdict"] == "none"
        right += found
        typer.echo(f"\n{'✓' if found else '✗'} {printable(question.question)}")
        typer.echo(f"  verdict: {answer['verdict']}, confidence {answer['confidence']:.2f}")
        if answer["hits"] and (expected or answer["verdict"] != "none"):
            best = next((h for h in answer["hits"] if h["path"] in expected), answer["hits"][0])
            typer.echo(printable(f"  {best['path']}"))
            typer.echo(printable(f"  {' '.join(best['snippet'].split())[:160]}"))
    typer.echo(f"\n{right} of {len(questions)} answered as expected")
    kept = _saved_and_found(root)
    typer.echo(
        f"look at it: agentm up --vault {printable(str(root))}, then open the address it prints"
    )
    if right < len(questions) / 2 or not kept:
        raise typer.Exit(RED_STATE)


def _saved_and_found(root: Path) -> bool:
    """Save a fact in one process and ask for it in another, before any index run."""
    vault = ("--vault", str(root))
    saved = _agentm("capture", NEW_FACT, "--json", *vault, capture=True)
    asked = _agentm("recall", NEW_QUESTION, "-k", "3", "--json", *vault, capture=True)
    for done in (saved, asked):
        if done.returncode != 0:
            typer.echo(done.stderr, err=True)
            return False
    path = json.loads(saved.stdout)["path"]
    found = path in [hit["path"] for hit in json.loads(asked.stdout)["hits"]]
    typer.echo(f"\nsaved a moment ago, not indexed yet: {printable(path)}")
    typer.echo(f"{'✓' if found else '✗'} {NEW_QUESTION}")
    typer.echo(f"  {NEW_FACT}" if found else "  it was not found")
    return found


def _add_sample(store: "StorageBackend", sample: Path) -> None:
    from agentm_assets.storage.locator import Locator
    from agentm_assets.storage.personal import is_personal
    from agentm_assets.storage.seam import ABSENT, PersonalAuthorization

    asked_for = PersonalAuthorization("flag")  # the operator's whole command is to fill this vault
    for file in sorted(sample.rglob("*")):
        if not file.is_file():
            continue
        place, data = Locator(file.relative_to(sample).as_posix()), file.read_bytes()
        if place.key == "ideas.md":
            store.write_bytes(place, data)  # in place of the empty one of every new vault
        elif is_personal(place):
            store.personal_write(place, data, asked_for, expect=ABSENT)
        else:
            store.write_bytes(place, data, expect=ABSENT)


def _agentm(*arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "agentm_assets.cli.entry", *arguments],
        capture_output=capture,
        text=True,
        check=False,
    )
