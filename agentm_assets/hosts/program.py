"""How a host starts agentm: by an absolute path, since its own PATH may be another."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_KEPT = ("AGENTM_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
"""Variables that decide where agentm's own files are: a host may start it without them."""


@dataclass(frozen=True, slots=True)
class Program:
    """`command` is what starts agentm, `options` name the vault where the configuration does not,
    `environment` what it must find set."""

    command: tuple[str, ...]
    options: tuple[str, ...]
    environment: Mapping[str, str]

    def words(self, *arguments: str) -> list[str]:
        return [*self.command, *arguments, *self.options]

    def shell(self, *arguments: str) -> str:
        """One line for a shell, with the environment in front."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join((*variables, shlex.join(self.words(*arguments))))


def this_program(
    env: Mapping[str, str], *, vault: str | None = None, profile: str | None = None
) -> Program:
    """This very installation, on the vault that this command works on."""
    options: tuple[str, ...] = ()
    named = vault if vault is not None else env.get("AGENTM_VAULT")
    if named is not None:
        is_url = "://" in named
        options = ("--vault", named if is_url else str(Path(named).expanduser().absolute()))
    elif profile is not None or env.get("AGENTM_PROFILE"):
        options = ("--profile", profile or env["AGENTM_PROFILE"])
    return Program(
        command=_command(),
        options=options,
        environment={name: env[name] for name in _KEPT if env.get(name)},
    )


def _command() -> tuple[str, ...]:
    started = Path(sys.argv[0])
    for candidate in (started, Path(sys.executable).with_name("agentm")):
        if candidate.name == "agentm" and candidate.is_file():
            return (str(candidate.absolute()),)
    return (sys.executable, "-m", "agentm_assets.cli.entry")
