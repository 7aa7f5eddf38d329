"""`agentm state`: where this checkout's plan and progress are, reading and writing them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentm_assets.cli.options import JsonOption, ProfileOption, VaultOption
from agentm_assets.cli.output import BAD_INPUT, RED_STATE, failures_reported, print_json, printable

if TYPE_CHECKING:
    from agentm_assets.routing.state import StateFolder

app = typer.Typer(help="The working state of this checkout.", no_args_is_help=True)

RootOption = Annotated[
    Path | None,
    typer.Option("--root", metavar="PATH", help="The checkout, instead of the one around here."),
]


@app.command("dir")
def dir_(
    root: RootOption = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the folder that holds the state, and with --json why it is that one."""
    with _state(root, vault, profile) as folder:
        pass
    if as_json:
        print_json(
            {
                "path": folder.shown,
                "in_store": folder.in_store,
                "locator": folder.locator.key if folder.in_store else None,
                "reason": folder.reason,
                "because": folder.because,
            }
        )
    else:
        typer.echo(printable(folder.shown))


@app.command("read")
def read(
    name: Annotated[str, typer.Argument(help="Name of the file, as in PLAN.md.")],
    root: RootOption = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a state file, byte for byte. Exit code 3 when it is not there."""
    from agentm_assets.routing.state import read_state_file
    from agentm_assets.storage.seam import content_hash

    with _state(root, vault, profile) as folder:
        data = read_state_file(folder, name)
    if as_json:
        text = None if data is None else data.decode("utf-8", "replace")
        found = {"hash": None if data is None else content_hash(data), "text": text}
        print_json({"path": f"{folder.shown}/{name}", **found})
    elif data is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        typer.echo(printable(f"agentm: there is no {name} in {folder.shown}"), err=True)
    if data is None:
        raise typer.Exit(RED_STATE)


@app.command("write")
def write(
    name: Annotated[str, typer.Argument(help="Name of the file, as in PLAN.md.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Its new content; standard input else."),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            metavar="HASH|absent",
            help="Only over content with this sha256, or only where there is none yet.",
        ),
    ] = None,
    root: RootOption = None,
    vault: VaultOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a state file, whole or not at all."""
    from agentm_assets.routing.state import (
        MAX_STATE_BYTES,
        StateRefused,
        checkout_of,
        is_checkout,
        write_state_file,
    )
    from agentm_assets.storage.seam import ABSENT, ConcurrentModificationError

    with _state(root, vault, profile) as folder:
        here = Path.cwd()
        if root is None and not folder.in_store and not is_checkout(checkout_of(here)):
            raise StateRefused(
                f"{here} is in no checkout and belongs to no project of the vault, so nothing was "
                "written. Go to a checkout, or name its root: --root PATH"
            )
        data = _given(source, MAX_STATE_BYTES + 1)
        wanted = ABSENT if expect == "absent" else expect
        try:
            written = write_state_file(folder, name, data, wanted)
        except ConcurrentModificationError as error:
            raise StateRefused(str(error)) from error  # what the caller expected is its input
    if as_json:
        print_json({"path": f"{folder.shown}/{name}", "hash": written})
    else:
        typer.echo(printable(f"{folder.shown}/{name}"))


def _given(source: Path | None, limit: int) -> bytes:
    if source is None:
        return sys.stdin.buffer.read(limit)
    try:
        with source.open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise typer.BadParameter(f"{source} can't be read: {error.strerror}") from error


@contextmanager
def _state(root: Path | None, vault: str | None, profile: str | None) -> "Iterator[StateFolder]":
    from agentm_assets.routing.state import StateRefused, checkout_of, harness_state_dir
    from agentm_assets.storage.seam import StorageError
    from agentm_assets.storage.selection import select_backend

    with failures_reported({StateRefused: BAD_INPUT, StorageError: RED_STATE}):
        if root is not None and not root.is_dir():
            raise StateRefused(f"{root} is no folder. Name the root of a checkout")
        checkout = root if root is not None else checkout_of(Path.cwd())
        yield harness_state_dir(
            checkout, os.environ, lambda: select_backend(os.environ, vault=vault, profile=profile)
        )
