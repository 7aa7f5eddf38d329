"""The one JSON object that an answer is, and nothing beside it."""

import json
import re
from typing import Any, Final

_FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*)\r?\n```", re.DOTALL)


class NoAnswer(Exception):
    """`code`: what is wrong, without the gate's name. The text never quotes the answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_object(text: str) -> dict[str, Any]:
    """The object of an answer, whole or alone in one fence. Prose around it is refused: what stands
    beside an object may be its retraction. Raises NoAnswer.
    """
    stripped = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(stripped)
    written = fenced[1].strip() if fenced else stripped
    if not written.startswith("{"):
        if "{" in written:
            raise NoAnswer("prose", "prose stands before the JSON object")
        raise NoAnswer("not-json", "the answer is no JSON object")
    try:
        found, end = _DECODER.raw_decode(written)
    except NoAnswer:
        raise
    except (ValueError, RecursionError) as error:
        raise NoAnswer("not-json", "the answer is no valid JSON") from error
    if written[end:].strip():
        raise NoAnswer("prose", "something stands behind the JSON object")
    return dict(found)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NoAnswer("duplicate-key", "a key stands twice in the answer")
    return found


def _no_constant(name: str) -> Any:
    raise NoAnswer("not-json", "the answer holds a number that JSON has not")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_no_constant
)
