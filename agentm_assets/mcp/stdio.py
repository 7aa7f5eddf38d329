"""Serving one host over standard input and output."""

from functools import partial

import anyio
from mcp.server.stdio import stdio_server

from agentm_assets.mcp.memory import Memory
from agentm_assets.mcp.server import build_server


def serve_stdio(memory: Memory) -> None:
    """Serve until the host closes the input."""
    anyio.run(partial(_serve, memory))


async def _serve(memory: Memory) -> None:
    server = build_server(memory)
    async with stdio_server() as (read, write):
        memory.warm_up()
        await server.run(read, write, server.create_initialization_options())
