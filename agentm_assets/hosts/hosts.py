"""The coding agents that agentm can be added to: where their files are, and what goes in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentm_assets.config.directories import expand_home
from agentm_assets.hosts.edits import Edit, JsonHook, JsonServer, TomlServer
from agentm_assets.hosts.program import Program

_HOOK_SECONDS = {"prompt": 5, "session-start": 10, "session-end": 30}
"""When Claude Code gives up. Ours give up long before."""


@dataclass(frozen=True, slots=True)
class HostFile:
    """One file of a host and what is added to it. `empty`: what stands for a file not there."""

    path: Path
    edits: tuple[Edit, ...]
    empty: str


def claude_code(env: Mapping[str, str], program: Program) -> tuple[HostFile, ...]:
    """User scope: servers in `.claude.json`, hooks in `settings.json` (code.claude.com/docs: mcp,
    settings). Both move with CLAUDE_CONFIG_DIR."""
    moved = env.get("CLAUDE_CONFIG_DIR")
    folder = Path(expand_home(env, moved)) if moved else _home(env) / ".claude"
    servers = folder / ".claude.json" if moved else _home(env) / ".claude.json"
    entry = {"type": "stdio", **_server(program)}
    hooks = (
        ("UserPromptSubmit", "prompt"),
        ("SessionStart", "session-start"),
        ("SessionEnd", "session-end"),
    )
    return (
        HostFile(servers, (JsonServer(("mcpServers",), entry),), "{}\n"),
        HostFile(
            folder / "settings.json",
            tuple(
                JsonHook(event, name, program.shell("hook", name), _HOOK_SECONDS[name])
                for event, name in hooks
            ),
            "{}\n",
        ),
    )


def codex(env: Mapping[str, str], program: Program) -> tuple[HostFile, ...]:
    """`config.toml` in CODEX_HOME, ~/.codex by default (developers.openai.com/codex/mcp)."""
    moved = env.get("CODEX_HOME")
    folder = Path(expand_home(env, moved)) if moved else _home(env) / ".codex"
    return (HostFile(folder / "config.toml", (TomlServer(_server(program)),), ""),)


def cursor(env: Mapping[str, str], program: Program) -> tuple[HostFile, ...]:
    """~/.cursor/mcp.json (cursor.com/docs: MCP, global configuration)."""
    return (_json_servers(_home(env) / ".cursor" / "mcp.json", program),)


def gemini(env: Mapping[str, str], program: Program) -> tuple[HostFile, ...]:
    """~/.gemini/settings.json (geminicli.com/docs: configuration, user settings file)."""
    return (_json_servers(_home(env) / ".gemini" / "settings.json", program),)


HOSTS: Mapping[str, Callable[[Mapping[str, str], Program], tuple[HostFile, ...]]] = (
    MappingProxyType(
        {"claude-code": claude_code, "codex": codex, "cursor": cursor, "gemini": gemini}
    )
)


def _json_servers(path: Path, program: Program) -> HostFile:
    return HostFile(path, (JsonServer(("mcpServers",), _server(program)),), "{}\n")


def _server(program: Program) -> dict[str, Any]:
    first, *rest = program.words("mcp")
    entry: dict[str, Any] = {"command": first, "args": rest}
    return entry | {"env": dict(program.environment)} if program.environment else entry


def _home(env: Mapping[str, str]) -> Path:
    return Path(expand_home(env, "~"))
