"""`agentm hook`: what coding agents run before a prompt and at both ends of a session.

A hook never fails its host and never keeps it waiting: whatever goes wrong is told on standard
error and in `log/hooks.jsonl`, nothing is printed, and the exit code is 0. Standard library only
up to the answer, since the operator waits for each prompt.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import NoReturn

from agentm_assets.cli.plain import complain
from agentm_assets.config.vault import VaultLocation, locate

_START_SECONDS = 0.04
"""What the interpreter takes to come here, where the system does not tell."""

_END_SECONDS = 0.015
"""What writing the answer and ending takes."""

_SECONDS = {"prompt": 0.3, "session-start": 5.0, "session-end": 20.0}
_MOST_INPUT = 4 * 1024 * 1024


def main(arguments: Sequence[str]) -> NoReturn:
    if os.environ.get("AGENTM_HOOKS") == "off":
        sys.exit(0)  # an agent that agentm itself asks: it gets no memories, and leaves no trace
    began = time.monotonic() - _age()
    options = _parser().parse_args(arguments)
    seconds = options.budget_ms / 1000 if options.budget_ms else _SECONDS[options.event]
    hook = _Hook(options, began + seconds - _END_SECONDS)
    worker = threading.Thread(target=hook.run, daemon=True)
    worker.start()
    worker.join(max(0.0, hook.deadline - time.monotonic()))
    if worker.is_alive():
        hook.report(f"not done within {seconds * 1000:.0f} ms")
    elif hook.text:
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(hook.text.encode("utf-8", "replace") + b"\n")
            sys.stdout.buffer.flush()
    sys.stderr.flush()
    # The worker may sit in a system call that nothing breaks off, and taking the interpreter down
    # in order costs what the answer has no time for.
    os._exit(0)


def _age() -> float:
    """Seconds since this process began (proc(5), `starttime`)."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib costs 3 ms here
            ticks = int(file.read().rpartition(b")")[2].split()[19])
    except OSError:
        return _START_SECONDS
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


class _Hook:
    """One run: what it printed, or why it printed nothing."""

    def __init__(self, options: argparse.Namespace, deadline: float) -> None:
        self.deadline = deadline
        self.text = ""
        self._options = options
        self._location: VaultLocation | None = None

    def run(self) -> None:
        try:
            self.text = self._print()
        except Exception as error:  # noqa: BLE001 - the host must go on, whatever this is
            known = type(error).__module__.startswith("agentm_assets.")
            self.report(str(error) if known else f"{type(error).__name__} (a fault of agentm)")

    def report(self, reason: str) -> None:
        complain(f"hook {self._options.event}: {reason}")
        if self._location is not None:
            from agentm_assets.hooks.log import record_failure

            try:
                now = datetime.now().astimezone()
                record_failure(self._location, self._options.event, reason, now)
            except OSError as error:
                complain(f"the log of hooks can't be written: {error.strerror}")

    def _print(self) -> str:
        from agentm_assets.hooks.host import read_event

        options = self._options
        event = read_event(b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MOST_INPUT))
        self._location = location = locate(os.environ, vault=options.vault, profile=options.profile)
        now = datetime.now().astimezone()
        if options.event == "prompt":
            from agentm_assets.hooks.block import DEFAULT_TOKENS
            from agentm_assets.hooks.prompt import prompt_block

            return prompt_block(
                event.prompt,
                location,
                os.environ,
                now,
                tokens=options.tokens or DEFAULT_TOKENS,
                seconds=max(0.01, self.deadline - time.monotonic()),
            )
        if options.event == "session-start":
            from agentm_assets.hooks import session_start

            tokens = options.tokens or session_start.DEFAULT_TOKENS
            return session_start.session_block(event.cwd, location, os.environ, tokens)
        from agentm_assets.hooks.session_end import record_end

        record_end(event, location, now)
        return ""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Wrong usage must not fail the host either: exit code 2 would block its prompt."""
        complain(f"hook: {message}")
        sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="agentm hook", description="What coding agents run around prompts.")
    parser.add_argument("event", choices=sorted(_SECONDS))
    parser.add_argument("--tokens", type=int, metavar="N", help="size of what is printed, at most")
    parser.add_argument("--budget-ms", type=int, metavar="N", help="give up after this long")
    parser.add_argument("--vault", metavar="PATH", help="root of the vault")
    parser.add_argument("--profile", metavar="NAME", help="profile of agentm.toml")
    return parser
