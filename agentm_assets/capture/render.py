"""A new note's bytes: the contract's properties in their order, then the text as it was given."""

from collections.abc import Mapping

from agentm_assets.contract.vocabulary import KEY_ORDER
from agentm_assets.contract.yaml_text import write_flow_list, write_key, write_text

Value = str | tuple[str, ...]

_BEHIND_SOURCE = "instructions"


def render(properties: Mapping[str, Value | None], body: bytes) -> bytes:
    """The note. What is None or empty is left out; every value stands on one line.

    `body` is not touched: a block at its beginning, or a line `---` in it, is text of the body,
    since the note's own block comes first and is closed before it.
    """
    lines = ["---"]
    for key in sorted(properties, key=_place):
        value = properties[key]
        if not value:
            continue
        written = write_text(key, value) if isinstance(value, str) else write_flow_list(key, value)
        lines.append(f"{write_key(key)}: {written}")
    lines.append("---\n")
    return "\n".join(lines).encode() + body


def _place(key: str) -> tuple[float, str]:
    if key == _BEHIND_SOURCE:
        return KEY_ORDER.index("source") + 0.5, key
    return float(KEY_ORDER.index(key)), key
