"""What every command shares: exit codes, errors as one sentence, JSON, and text safe to print."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import typer

from agentm_assets.cli.plain import print_json, printable
from agentm_assets.config.errors import ConfigError
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.storage.seam import StorageError

__all__ = [
    "BAD_INPUT",
    "RED_STATE",
    "failures_reported",
    "note_to_operator",
    "print_json",
    "printable",
]

BAD_INPUT = 2
"""The operator's input or configuration cannot be used; also what Typer gives for wrong usage."""

RED_STATE = 3
"""The input is fine, but something that agentm needs is broken or not there yet."""

_EXIT_CODES: Mapping[type[Exception], int] = MappingProxyType(
    {ConfigError: BAD_INPUT, StorageError: RED_STATE, ServingUnreadable: RED_STATE}
)


@contextmanager
def failures_reported(more: Mapping[type[Exception], int] | None = None) -> Iterator[None]:
    """Turn the known errors raised inside into a sentence on stderr and an exit code.

    `more` adds a command's own error classes, which come before their base classes here. Any other
    exception is a fault of the program and passes through.
    """
    own = dict(more or {})
    codes = own | {kind: code for kind, code in _EXIT_CODES.items() if kind not in own}
    try:
        yield
    except tuple(codes) as error:
        typer.echo(f"agentm: {printable(str(error))}", err=True)
        code = next(code for kind, code in codes.items() if isinstance(error, kind))
        raise typer.Exit(code) from error


def note_to_operator(text: str) -> None:
    """A remark beside the result: on stderr, so that stdout holds the result alone."""
    typer.echo(f"agentm: {printable(text)}", err=True)
