"""The notes that a derived page is made from, and the hash by which it is told to be out of date.

A page is stale exactly when the hash of the sorted fingerprints of its inputs is another one than
the page says. No model is ever asked whether there is something to do.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from agentm_assets.contract.closed import is_closed
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.dreaming.veil import veil_of

SETTLED: Final = (None, "active")
"""Statuses of notes that count: what nobody has filed yet, and what was replaced or has expired,
says nothing on a derived page. A note of an adopted folder has none."""

_COLUMNS: Final = "path, title, captured, slug, summary, fingerprint, status, memory_class, space"


@dataclass(frozen=True, slots=True)
class Input:
    """A note that a page is made from. `captured` as it is written, None when nobody knows.
    `fingerprint`: of the body with white space folded."""

    path: str
    title: str
    captured: str | None
    slug: str | None
    summary: str | None
    fingerprint: str
    memory_class: str | None = None
    space: str = "memory"

    @property
    def day(self) -> str | None:
        """`2026-03-04`."""
        return self.captured[:10] if self.captured else None

    @property
    def print(self) -> str:
        """Of all that a page may show of the note."""
        said = [self.path, self.title, self.captured, self.summary, self.fingerprint]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def inputs_hash(inputs: Iterable[Input]) -> str:
    """Of the sorted fingerprints, 32 hex digits. The order in which notes come says nothing."""
    joined = "\n".join(sorted(each.print for each in inputs))
    return hashlib.sha256(joined.encode()).hexdigest()[:32]


def settled_inputs(
    connection: duckdb.DuckDBPyConnection, rules: LoadedRules, where: str = "TRUE"
) -> dict[str, Input]:
    """The settled notes that a derived page may be made from, by path: none of a space that is
    closed to models, none that a pass writes, no probe's. What they say of closed ones is veiled
    (`veil`). `where`: a further condition in SQL."""
    veil = veil_of(connection, lambda path: is_closed(path, rules.rules))
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM notes WHERE NOT generated AND ({where}) ORDER BY path"
    ).fetchall()
    found: dict[str, Input] = {}
    for path, title, captured, slug, summary, fingerprint, status, memory_class, space in rows:
        if status in SETTLED and is_open(path, rules):
            found[path] = Input(
                path,
                veil.over(title),
                captured,
                slug,
                veil.over(summary) if summary else summary,
                fingerprint,
                memory_class,
                space,
            )
    return found


def is_open(path: str, rules: LoadedRules) -> bool:
    """Whether a background model may see the note at this path, and a derived page quote it."""
    return not is_closed(path, rules.rules)


class Names:
    """How `derived_from` names notes: by slug where only one note has it, else by path."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        rows = connection.execute("SELECT slug FROM notes WHERE slug IS NOT NULL").fetchall()
        self._uses = Counter(slug for (slug,) in rows)

    def of(self, each: Input) -> str:
        if each.slug is not None and self._uses[each.slug] == 1:
            return each.slug
        return each.path.removesuffix(".md")

    def of_all(self, inputs: Sequence[Input]) -> tuple[str, ...]:
        return tuple(sorted({self.of(each) for each in inputs}))
