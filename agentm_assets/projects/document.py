"""New documents: a block of properties in the contract's order, then the body."""

import re
from collections.abc import Mapping, Sequence

from agentm_assets.contract.vocabulary import KEY_ORDER
from agentm_assets.contract.yaml_text import write_flow_list, write_key, write_text

Property = str | Sequence[str]

_RANK = {key: rank for rank, key in enumerate(KEY_ORDER)}
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def document(properties: Mapping[str, Property], body: str) -> bytes:
    """The bytes of a note with LF line ends. Empty properties are left out; those that the
    contract does not order come last, in the order given."""
    keys = sorted(properties, key=lambda key: _RANK.get(key, len(_RANK)))
    lines = ["---"]
    for key in keys:
        value = properties[key]
        if not value:
            continue
        if isinstance(value, str):
            written = write_text(key, one_line(value))
        else:
            written = write_flow_list(key, [one_line(item) for item in value])
        lines.append(f"{write_key(key)}: {written}")
    return "\n".join([*lines, "---", storable(body)]).encode("utf-8")


def one_line(text: str) -> str:
    """`text` with its blanks and line ends folded, and what can't be stored as U+FFFD."""
    return storable(" ".join(text.split()))


def storable(text: str) -> str:
    """`text` with control characters and lone surrogates as U+FFFD, line ends kept."""
    return _UNWRITABLE.sub("\ufffd", text)
