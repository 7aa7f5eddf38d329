"""The JSON shape of what recall and reading give: one rule for CLI, MCP and hooks."""

from dataclasses import fields, is_dataclass
from typing import Any


def json_of(value: object) -> Any:
    """A frozen dataclass as JSON values: fields become keys, tuples become lists, None stays."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [json_of(each) for each in value]
    return value
