"""Options that several commands take, spelt once."""

from typing import Annotated

import typer

VaultOption = Annotated[
    str | None,
    typer.Option("--vault", metavar="PATH", help="Root of the vault, instead of the profile's."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Profile of agentm.toml to use."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout.")]
