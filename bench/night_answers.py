"""A model that only quotes: what the local server of `nights.py` answers.

Nothing it says is new, so every gate that compares an answer with its notes lets it through.
"""

import json
import re
from typing import Any

_NUMBERED = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)
_TITLE = re.compile(r"^Title: (.+)$", re.MULTILINE)
_NOTE = re.compile(r"^Title: .*?\n\n(.+?)$", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[^.!?]+[.!?]")


def answered(asked: Any) -> str:
    """`asked`: a question as the server took it, with its answer's schema."""
    fields = (asked.schema or {}).get("properties", {})
    if "faithful" in fields:
        return json.dumps({"faithful": True, "claim": None})
    notes = [(int(number), text) for number, text in _NUMBERED.findall(asked.user)]
    answer: dict[str, Any] = {}
    for name in fields:
        if name in ("sentences", "proposals"):
            answer[name] = [{"text": _first(text), "notes": [at]} for at, text in notes[:3]]
            if "title" in fields and notes:
                # A lesson rests on several accounts: the first says it, two others bear it out.
                several = [at for at, _ in notes[:3]]
                answer[name] = [{"text": _first(notes[0][1]), "notes": several}]
        elif name == "same":
            answer[name] = len({_words(text) for _, text in notes}) == 1
        elif name == "summary":
            answer[name] = _first(notes[0][1]) if notes else None
        elif name == "slug":
            said = _NOTE.search(asked.user)
            answer[name] = (
                "-".join(re.findall(r"[a-z0-9]+", said[1].lower())[:8]) if said else "note"
            )
        elif name == "title" and (given := _TITLE.search(asked.user)):
            answer[name] = given[1]  # a note that is judged keeps its own
        elif name == "title":
            answer[name] = _first(notes[0][1])[:60].rstrip(" .") if notes else "Note"
        else:
            answer[name] = _JUDGED.get(name)
    return json.dumps(answer)


_JUDGED: dict[str, Any] = {
    "type": "reference",
    "altitude": "canonical",
    "class": "semantic",
    "tags": [],
    "aliases": [],
    "body": None,
    "confidence": 0.8,
}


def _first(text: str) -> str:
    """The first sentence behind the head that names a note."""
    body = text.partition(": ")[2] or text
    found = _SENTENCE.search(body)
    return (found[0] if found else body).strip()


def _words(text: str) -> str:
    return " ".join(sorted(set(text.casefold().split())))
