"""How much of what a model must not see is found, and how much else is taken for it.

The lines of labelled.tsv were written for this test. Recall: the marked text is gone from what is
sent, under whatever kind. Precision: what was found is marked, or part of it.
"""

import base64
import json
import random
import re
import string
import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentm_assets.privacy.scrub import PLACEHOLDER, left, restore, scrub

RECALL = {"email": 0.95, "phone": 0.9, "card": 0.95, "password": 0.95}
PRECISION = {"phone": 0.95, "password": 0.95, "secret": 0.95}
AT_LEAST = 20

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": string.digits + "abcdef",
    "B": string.ascii_letters + string.digits + "-_",
    "D": string.digits,
}
_MADE_UP = re.compile(r"%(?:([AUhBD])(\d+)|(P|JWT))%")


@dataclass(frozen=True)
class Line:
    kind: str
    text: str
    marked: tuple[str, ...]


def _expanded(line: str) -> str:
    chance = random.Random(zlib.crc32(line.encode()))

    def made_up(size: int, alphabet: str) -> str:
        written = [chance.choice(alphabet) for _ in range(size)]
        if size > 4:  # a real token has digits, but for a chance of one in many thousands
            written[size // 2] = chance.choice(string.digits)
        return "".join(written)

    def segment(content: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    def expand(match: re.Match[str]) -> str:
        if match[3] == "P":
            return "\n".join(made_up(64, _ALPHABETS["A"] + "+/") for _ in range(3)) + "=="
        if match[3] == "JWT":
            head = segment({"alg": "HS256", "typ": "JWT"})
            return f"{head}.{segment({'sub': 'x'})}.{made_up(43, _ALPHABETS['B'])}"
        return made_up(int(match[2]), _ALPHABETS[match[1]])

    return _MADE_UP.sub(expand, line)


def _read() -> list[Line]:
    lines = []
    written = (Path(__file__).parent / "labelled.tsv").read_text("utf-8")
    for row in written.split("\n"):
        if row and not row.startswith("# ") and "\t" in row:
            kind, text = row.split("\t", 1)
            text = text.replace("\\r\\n", "\r\n")
            text = re.sub(r"(?<!\\)\\n", "\n", text).replace("\\\\n", "\\n")
            text = _expanded(text)
            marked = tuple(re.findall("«([^»]*)»", text))
            lines.append(Line(kind, text.replace("«", "").replace("»", ""), marked))
    return lines


LINES = _read()
KINDS = sorted({line.kind for line in LINES} - {"none"})


def test_each_kind_has_enough_lines_and_the_negatives_too() -> None:
    for kind in KINDS:
        assert sum(line.kind == kind for line in LINES) >= AT_LEAST, kind
    assert sum(line.kind == "none" for line in LINES) >= 5 * AT_LEAST


@pytest.mark.parametrize("kind", KINDS)
def test_recall(kind: str) -> None:
    marked = [(line, secret) for line in LINES if line.kind == kind for secret in line.marked]
    missed = [line.text for line, secret in marked if secret in scrub(line.text).text]
    assert len(missed) <= (1 - RECALL.get(kind, 1.0)) * len(marked) + 1e-9, missed


def test_precision() -> None:
    right: dict[str, int] = defaultdict(int)
    wrong: dict[str, list[str]] = defaultdict(list)
    for line in LINES:
        scrubbed = scrub(line.text)
        for placeholder, original in scrubbed.originals.items():
            match = PLACEHOLDER.fullmatch(placeholder)
            assert match is not None
            if any(secret in original or original in secret for secret in line.marked):
                right[match[1]] += 1
            else:
                wrong[match[1]].append(line.text)
    for kind in {*right, *wrong}:
        found = right[kind] + len(wrong[kind])
        assert right[kind] >= PRECISION.get(kind, 1.0) * found - 1e-9, (kind, wrong[kind])


def test_what_is_sent_comes_back() -> None:
    for line in LINES:
        scrubbed = scrub(line.text)
        assert restore(scrubbed.text, scrubbed) == line.text


def test_no_line_here_is_beyond_cutting_out() -> None:
    for line in LINES:
        assert left(line.text) == (), line.text
