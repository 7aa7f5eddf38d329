"""A JSON schema as a provider's schema mode takes it.

Constrained decoding knows a part of JSON schema; a keyword beyond it is an error at Anthropic and
at OpenAI in strict mode. What is left out here (lengths, ranges, patterns) is checked all the same:
by the schema gate, on the answer.
"""

from collections.abc import Mapping
from typing import Any

_KEPT = ("type", "enum", "const", "description", "$ref")
_OF_SCHEMAS = ("properties", "$defs")


def for_decoding(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with nothing in it but what both schema modes take; objects take no other keys."""
    kept: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    for name in _OF_SCHEMAS:
        if name in schema:
            kept[name] = {key: for_decoding(value) for key, value in schema[name].items()}
    for name in ("anyOf", "oneOf"):
        if name in schema:
            kept["anyOf"] = [for_decoding(each) for each in schema[name]]
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = for_decoding(schema["items"])
    if "properties" in kept:
        kept["required"] = [
            name for name in schema.get("required", ()) if name in kept["properties"]
        ]
        kept["additionalProperties"] = False
    return kept


def is_strict(schema: Any) -> bool:
    """Whether every object requires all its keys, as OpenAI's strict mode wants it."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and set(properties) != set(schema.get("required", ())):
            return False
        return all(is_strict(each) for each in schema.values())
    if isinstance(schema, list):
        return all(is_strict(each) for each in schema)
    return True
