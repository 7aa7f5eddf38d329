"""Markdown as the reports write it: tables, counted words, and text of notes that stays text."""

import re
from collections.abc import Sequence

_MARKUP = re.compile(r"[\\`*\[\]<>|#~$^]|(?<![^\W_])_|_(?![^\W_])|%(?=%)|=(?==)")
_FOLDED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def plain(text: str) -> str:
    """Text on one line that can't be read as a link, a tag, a comment or a table's border."""
    folded = _FOLDED.sub(" ", text).strip()
    return _MARKUP.sub(r"\\\g<0>", folded)


def code(text: str) -> str:
    """A path or a name of somebody else's making, as a code span: no link is made of it, so no
    backlink and no edge of the graph."""
    folded = _FOLDED.sub(" ", text).strip() or " "
    longest = max((len(run) for run in re.findall("`+", folded)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if folded.startswith("`") or folded.endswith("`") else ""
    return f"{fence}{pad}{folded}{pad}{fence}".replace("|", "\\|")


def count(number: int, name: str, plural: str | None = None) -> str:
    """Such as "1 note" and "2,000 notes"."""
    return f"{number:,} {name if number == 1 else plural or name + 's'}"


_FIGURE = re.compile(r"-|\*{0,2}[-+$]?\d[\d.,%/]*( [a-zA-Zµ]{1,4})?\*{0,2}")


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown already. Columns of figures are set to the right."""
    right = [
        bool(rows) and all(_FIGURE.fullmatch(row[at]) for row in rows) for at in range(len(names))
    ]
    rule = " | ".join("---:" if to_right else "---" for to_right in right)
    return [
        f"| {' | '.join(names)} |",
        f"| {rule} |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def size(number: int) -> str:
    """Bytes as a person reads them."""
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def span(seconds: float) -> str:
    """How long, such as "3 days" or "40 min"."""
    for unit, length in (("day", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            number = seconds / length
            shown = f"{number:.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
            return f"{shown} {unit}" + ("s" if unit == "day" and shown != "1" else "")
    return f"{seconds:.0f} s"
