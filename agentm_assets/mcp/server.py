"""The MCP server: lists the tools, runs them, and turns every failure into words that help."""

import json
import logging
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from agentm_assets import __version__
from agentm_assets.capture.request import CaptureRefused
from agentm_assets.config.errors import ConfigError
from agentm_assets.contract.edit_region import EditRefused
from agentm_assets.contract.rules import RulesError
from agentm_assets.forgetting.allowed import ForgetRefused
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.mcp.memory import Memory
from agentm_assets.mcp.tools import INSTRUCTIONS, TOOLS
from agentm_assets.reading.errors import NoteShut, ReadingRefused
from agentm_assets.recall.errors import IndexMissing, QuestionRefused
from agentm_assets.recall.shape import json_of
from agentm_assets.storage.seam import StorageError

NAME = "agentm"

KNOWN_FAILURES = (
    CaptureRefused,
    ConfigError,
    EditRefused,
    ForgetRefused,
    IndexMissing,
    NoteShut,
    QuestionRefused,
    ReadingRefused,
    RulesError,
    ServingUnreadable,
    StorageError,
)
"""Errors whose text is written for whoever asked: what was wrong, and the cure."""

_FAULT = (
    "agentm failed on this call. The server goes on; its standard error has the details. Nothing "
    "that a reply called saved is lost."
)
_MOST_NAMED = 8

_PLAIN = {"tuple_type": "should be a list of strings"}  # the only lists that a tool takes

_log = logging.getLogger(__name__)


def build_server(memory: Memory) -> Server[Any]:
    """A server over one memory. It keeps no state of its own, so many sessions can share it."""
    declared = ListToolsResult(tools=[tool.declaration() for tool in TOOLS.values()])

    async def list_tools(
        _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return declared

    async def call_tool(
        _context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        return await run_tool(memory, params.name, params.arguments or {})

    return Server(
        NAME,
        version=__version__,
        title="agentm memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def run_tool(memory: Memory, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """The result of a call. Raises nothing: failures are results too, so
    that a model can mend its call."""
    tool = TOOLS.get(name)
    if tool is None:
        return _failure(f"there is no such tool. Tools: {', '.join(TOOLS)}.")
    try:
        given = tool.takes.model_validate(arguments)
    except ValidationError as error:
        return _failure(f"the arguments of {name} can't be used: {_faults(error)}.")
    try:
        result = json_of(await tool.run(memory, given))
    except KNOWN_FAILURES as error:
        return _failure(str(error))
    except Exception:  # noqa: BLE001
        # The last net: a fault of ours must neither end the server nor carry a note's content out.
        _log.exception("the tool %s failed", name)
        return _failure(_FAULT)
    text = json.dumps(result, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=result)


def _failure(text: str) -> CallToolResult:
    safe = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    return CallToolResult(content=[TextContent(text=safe)], is_error=True)


def _faults(error: ValidationError) -> str:
    # pydantic's message never quotes the value; its `input` would, and may hold a secret
    found = [
        f"`{'.'.join(str(part) for part in fault['loc'])[:80]}` "
        f"{_PLAIN.get(fault['type'], fault['msg'].lower())}"
        for fault in error.errors(include_input=False, include_url=False)[:_MOST_NAMED]
    ]
    return "; ".join(found)
