"""What is added to a host's files, as edits of text that can be made again and taken back."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from agentm_assets.hosts import json_text
from agentm_assets.hosts.json_text import NotPlainJson

SERVER = "agentm"
"""The name of our entry in every host."""


class EditImpossible(Exception):
    """The text can't be edited; says why."""


@dataclass(frozen=True, slots=True)
class JsonServer:
    """The server's entry in a JSON file: member SERVER of the object at `path`."""

    path: tuple[str, ...]
    entry: dict[str, Any]

    def apply(self, text: str) -> str:
        return self._edited(text, lambda old: old != self.entry, add=True)

    def revert(self, text: str) -> str:
        return self._edited(text, lambda old: old == self.entry, add=False)

    def stands(self, text: str) -> bool:
        return _at(json.loads(text), (*self.path, SERVER)) is not None

    def _edited(self, text: str, wanted: Any, *, add: bool) -> str:
        try:
            old = _at(json_text.parse(text), (*self.path, SERVER))
            if not wanted(old):
                return text
            if add:
                return json_text.add_member(text, self.path, SERVER, self.entry)
            return _without_empty(json_text.remove_member(text, self.path, SERVER), self.path)
        except NotPlainJson as error:
            raise EditImpossible(str(error)) from error


@dataclass(frozen=True, slots=True)
class JsonHook:
    """A command that Claude Code runs on an event: an item of `hooks.<event>` in its settings.

    `name` is the argument of `agentm hook`, by which an older entry of ours is known.
    """

    event: str
    name: str
    command: str
    timeout: int  # seconds

    def apply(self, text: str) -> str:
        try:
            items = self._items(text)
            if self.item in items:
                return text
            return json_text.add_item(
                self._cut(text, self._is_ours), ("hooks",), self.event, self.item
            )
        except NotPlainJson as error:
            raise EditImpossible(str(error)) from error

    def revert(self, text: str) -> str:
        try:
            cut = self._cut(text, lambda item: item == self.item)
            return _without_empty(cut, ("hooks", self.event)) if cut != text else text
        except NotPlainJson as error:
            raise EditImpossible(str(error)) from error

    def stands(self, text: str) -> bool:
        return any(self._is_ours(item) for item in self._items(text))

    @property
    def item(self) -> dict[str, Any]:
        command = {"type": "command", "command": self.command, "timeout": self.timeout}
        return {"hooks": [command]}

    def _items(self, text: str) -> list[Any]:
        items = _at(json_text.parse(text), ("hooks", self.event))
        return items if isinstance(items, list) else []

    def _cut(self, text: str, unwanted: Any) -> str:
        items = self._items(text)
        for at in reversed(range(len(items))):
            if unwanted(items[at]):
                text = json_text.remove_item(text, ("hooks",), self.event, at)
        return text

    def _is_ours(self, item: Any) -> bool:
        commands = item.get("hooks") if isinstance(item, dict) else None
        if (
            not isinstance(commands, list)
            or len(commands) != 1
            or not isinstance(commands[0], dict)
        ):
            return False
        command = commands[0].get("command")
        ours = rf"\bagentm(?:_assets\.cli\.entry)?['\"]? hook {re.escape(self.name)}(?: |$)"
        return isinstance(command, str) and re.search(ours, command) is not None


@dataclass(frozen=True, slots=True)
class TomlServer:
    """The server's table `[mcp_servers.agentm]` in Codex's configuration."""

    entry: dict[str, Any]

    def apply(self, text: str) -> str:
        document = _document(text)
        servers = document.get("mcp_servers")
        if servers is None:
            servers = tomlkit.table(is_super_table=True)
            document["mcp_servers"] = servers
        if not isinstance(servers, dict):
            raise EditImpossible("`mcp_servers` is no table")
        old = servers.get(SERVER)
        if old is not None and old == self.entry:
            return text
        table = tomlkit.table()
        for key, value in self.entry.items():
            table[key] = _inline(value) if isinstance(value, dict) else value
        servers[SERVER] = table
        return tomlkit.dumps(document)

    def revert(self, text: str) -> str:
        document = _document(text)
        servers = document.get("mcp_servers")
        if not isinstance(servers, dict) or servers.get(SERVER) != self.entry:
            return text
        del servers[SERVER]
        if not servers:
            del document["mcp_servers"]
        return tomlkit.dumps(document)

    def stands(self, text: str) -> bool:
        servers = _document(text).get("mcp_servers")
        return isinstance(servers, dict) and SERVER in servers


Edit = JsonServer | JsonHook | TomlServer
"""One addition. `apply` gives the text with it (unchanged when it is there just so), `revert` the
text without it (unchanged when it is not there or was changed since); both raise EditImpossible.
`stands`: whether an entry of that name is in a text that can be edited."""


def _inline(values: dict[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        # tomlkit's message names line and column, and a key at most
        raise EditImpossible(f"it is no valid TOML: {error}") from error


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _without_empty(text: str, path: Sequence[str]) -> str:
    """Without the containers on `path` that are empty now, innermost first."""
    for depth in range(len(path), 0, -1):
        if _at(json.loads(text), path[:depth]) not in ({}, []):
            break
        text = json_text.remove_member(text, path[: depth - 1], path[depth - 1])
    return text
