"""The console entry point."""

import io
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

BEFORE_TYPER: Mapping[str, str] = MappingProxyType(
    {
        "capture": "agentm_assets.cli.capture:main",
        "hook": "agentm_assets.cli.hook:main",
        "mcp": "agentm_assets.cli.mcp:main",
    }
)
"""First argument -> "module:function" of commands that start before Typer or pydantic is imported,
because an agent waits for them. The function takes the remaining arguments, returns an exit code.
"""


def main() -> None:
    """Run the command that the process was started with, and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow locale costs a mark, not the answer
    target = BEFORE_TYPER.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if target is not None:
        module, _, name = target.partition(":")
        run = cast("Callable[[list[str]], int]", getattr(import_module(module), name))
        sys.exit(run(sys.argv[2:]))

    from agentm_assets.cli.app import app

    app()


if __name__ == "__main__":
    main()
