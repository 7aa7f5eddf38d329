"""`agentm mcp`: the memory as an MCP server. A host waits for it to start: no Typer here."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from agentm_assets.cli.plain import complain

DEFAULT_PORT = 8377

_RED_STATE = 3


def main(arguments: Sequence[str]) -> int:
    """Serve until the host goes (standard input) or a signal comes (HTTP)."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="agentm mcp: %(message)s")
    from agentm_assets.mcp.memory import Memory
    from agentm_assets.mcp.warm import WarmEndpoint

    memory = Memory(os.environ, vault=options.vault, profile=options.profile)
    hooks = WarmEndpoint(memory)
    hooks.start()
    try:
        if options.http:
            from agentm_assets.mcp.http import PortTaken, serve_http

            try:
                serve_http(memory, options.port, with_token=options.token)
            except PortTaken as error:
                complain(str(error))
                return _RED_STATE
        else:
            from agentm_assets.mcp.stdio import serve_stdio

            serve_stdio(memory)
    except KeyboardInterrupt:
        return 0
    finally:
        hooks.close()
        memory.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentm mcp", description="Serve the memory to coding agents over MCP."
    )
    parser.add_argument("--http", action="store_true", help="streamable HTTP on loopback")
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="port for --http; 0 takes a free one"
    )
    parser.add_argument(
        "--token", action="store_true", help="ask HTTP clients for the token in the state folder"
    )
    parser.add_argument("--vault", metavar="PATH", help="root of the vault")
    parser.add_argument("--profile", metavar="NAME", help="profile of agentm.toml")
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65_535:
        raise ValueError(text)
    return port
