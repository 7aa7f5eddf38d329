"""`agentm capture`: save a memory. Starts before Typer and pydantic, since an agent waits for it.

Nothing that was given is ever printed in an error: it may hold a secret.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import NoReturn

from agentm_assets.capture.request import (
    Captured,
    CaptureFailed,
    CaptureRefused,
    CaptureRequest,
)
from agentm_assets.cli.plain import complain, print_json, printable
from agentm_assets.config.errors import ConfigError

BAD_INPUT, RED_STATE = 2, 3

_STDIN = "-"


def main(arguments: Sequence[str]) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(arguments)
    try:
        captured = _capture(options)
    except CaptureFailed as failure:
        complain(f"{failure} [{failure.code}]")
        return RED_STATE
    except CaptureRefused as refusal:
        complain(f"{refusal} [{refusal.code}]")
        return BAD_INPUT
    except ConfigError as error:
        complain(str(error))
        return BAD_INPUT
    if options.json:
        print_json(asdict(captured))
    else:
        _print(captured)
    return 0


def _capture(options: argparse.Namespace) -> Captured:
    from agentm_assets.capture.refusals import count_refusal
    from agentm_assets.capture.transaction import capture
    from agentm_assets.config.vault import locate
    from agentm_assets.storage.seam import PersonalAuthorization

    location = locate(os.environ, vault=options.vault, profile=options.profile)
    now = datetime.now().astimezone()
    try:
        request = _request(options)
    except CaptureRefused as refusal:
        count_refusal(location, refusal.code, "operator", now)
        raise
    authorization = PersonalAuthorization("flag") if options.personal else None
    return capture(request, location, os.environ, now, authorization)


def _request(options: argparse.Namespace) -> CaptureRequest:
    space = options.space
    if options.personal:
        if space is not None and space.casefold() != "personal":
            raise CaptureRefused(
                "space-and-personal", "--personal and another space were given", "Give one of them"
            )
        space = "personal"
    return CaptureRequest(
        text=_text(options.text),
        title=options.title,
        type=options.type,
        status=options.status,
        tags=_names(options.tag, options.tags),
        aliases=_names(options.alias, options.aliases),
        source=options.source,
        instructions=options.instructions,
        space=space,
        project=options.project,
        captured_by="operator",
    )


def _text(given: str | None) -> str:
    """The argument, or what stands on standard input."""
    if given is not None and given != _STDIN:
        return given
    if given is None and sys.stdin.isatty():
        raise CaptureRefused(
            "text-empty",
            "there is no text",
            'Give one: agentm capture "the kettle boils at 96 degrees", or pipe it in',
        )
    from agentm_assets.capture.wording import MAX_TEXT_BYTES

    data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise CaptureRefused(
            "text-too-long",
            f"standard input has over {MAX_TEXT_BYTES:,} bytes",
            "Capture what is worth asking for, or put the file into the vault itself",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureRefused(
            "text-not-utf8",
            f"standard input is not UTF-8 (byte {error.start:,})",
            "Give text as UTF-8",
        ) from error


def _names(single: Sequence[str], listed: Sequence[str]) -> tuple[str, ...]:
    """Names given one by one, and lists of them: `a, b` or `["a", "b"]`."""
    found = list(single)
    for text in listed:
        from agentm_assets.contract.properties import list_in_text  # brings YAML

        names = list_in_text(text)
        broken = (
            ("[" in text or "]" in text) if names is None else not names and text.strip("[] \t")
        )
        if broken:
            raise CaptureRefused(
                "names-not-a-list",
                "what was given in brackets is no list of names",
                'Write one, two or ["one", "two"]',
            )
        found += text.split(",") if names is None else names
    return tuple(found)


def _print(captured: Captured) -> None:
    filed = ", ".join(
        part
        for part in (
            f"type {captured.type}" if captured.type else "no type",
            f"status {captured.status}" if captured.status else "",
        )
        if part
    )
    verb = "reinforced" if captured.duplicate_of else "saved"
    lines = [f"{verb} {captured.path}  ({filed})", *(f"  {each}" for each in captured.remarks)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


class _Parser(argparse.ArgumentParser):
    """Exits with the code for bad input, and quotes no argument that it can't place."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message = "there is an argument or option too many; put the text in quotes"
        self.print_usage(sys.stderr)
        complain(message)
        sys.exit(BAD_INPUT)


def _help(prog: str) -> argparse.HelpFormatter:
    # With a width given, argparse does not import what would find the terminal's.
    return argparse.HelpFormatter(prog, width=100)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="agentm capture",
        description="Save a memory: the text given, or standard input.",
        allow_abbrev=False,
        formatter_class=_help,
    )
    parser.add_argument(
        "text", nargs="?", metavar="TEXT", help="What to remember; - or nothing: standard input."
    )
    parser.add_argument("--title", metavar="TEXT", help="Else the text's first clause.")
    parser.add_argument("--type", metavar="TYPE", help="One that the storage rules register.")
    parser.add_argument("--status", metavar="STATUS", help="active (default) or unfiled.")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")
    parser.add_argument("--tags", action="append", default=[], metavar="A,B")
    parser.add_argument(
        "--alias", action="append", default=[], metavar="NAME", help="A name to ask for it by."
    )
    parser.add_argument("--aliases", action="append", default=[], metavar="A,B")
    parser.add_argument("--source", metavar="TEXT", help="Where it comes from: a link, a commit.")
    parser.add_argument(
        "--instructions", metavar="TEXT", help="What to heed with this memory, kept as such."
    )
    parser.add_argument(
        "--space",
        metavar="SPACE",
        help="memory (default) or standards; for personal give --personal.",
    )
    parser.add_argument("--project", metavar="SLUG", help="Into a declared project.")
    parser.add_argument(
        "--personal", action="store_true", help="Into personal/, which is yours alone."
    )
    parser.add_argument(
        "--vault", metavar="PATH", help="Root of the vault, instead of the profile's."
    )
    parser.add_argument("--profile", metavar="NAME", help="Profile of agentm.toml to use.")
    parser.add_argument("--json", action="store_true", help="Print JSON alone on stdout.")
    return parser
