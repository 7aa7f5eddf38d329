"""Reference footers: below the body of a settled memory, the notes that refer to it."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import duckdb

from agentm_assets.contract.footer import strip_footer, with_footer
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.records import moment
from agentm_assets.dreaming.stage import Applied, Change, Leave, Plan
from agentm_assets.ledger import processed
from agentm_assets.ledger.processed import Processed
from agentm_assets.projects.maps import link
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import content_hash

MOST: Final = 50
"""References shown below one note; the others are counted. A hub's footer must stay readable."""


class ReferenceFooters:
    """Writes below the fence at the very end of a note; the body above it is not touched."""

    name: Final = "reference-footers"
    version: Final = "1"
    needs_model: Final = False
    description: Final = (
        "Below each settled memory the notes that refer to it, behind a mark that ends its body."
    )

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            targets = {
                path: digest
                for path, digest in connection.execute(_TARGETS).fetchall()
                if night.is_open(path)
            }
            sources = _sources(connection, night, targets)
            known = processed.rows_of(connection, self.name)
        built: dict[str, str] = {}
        keys: dict[str, str] = {}
        changes: list[Change] = []
        for path, digest in targets.items():
            lines = _lines(sources.get(path, []))
            said = "\n".join(lines)
            keys[path] = said
            if processed.pending(known.get(path), _key(digest, said), self.version, ""):
                changes.append(_change(path, lines, built))
        share = len(targets) - len(changes)

        def settle(applied: Applied) -> None:
            rows = [
                Processed(
                    self.name,
                    path,
                    self.version,
                    "",
                    "",  # a note as it was before is not through: its footer was taken back
                    _key(built[path], keys[path]),
                    "done",
                    "",
                    moment(night.now),
                )
                for path in built
                if applied.stands(path)
            ]
            with night.index() as connection:
                processed.enter(connection, rows)
                processed.forget(connection, self.name, sorted(set(known) - set(targets)))

        return Plan(
            tuple(changes),
            measured={"notes": len(targets), "referred_to": len(sources), "current": share},
            settle=settle,
        )


def _change(path: str, lines: Sequence[str], built: dict[str, str]) -> Change:
    def build(held: bytes | None) -> bytes:
        if held is None:
            raise Leave("gone-meanwhile")
        data = with_footer(held, lines)
        if strip_footer(data) != strip_footer(held):
            raise Leave("body-would-change")
        built[path] = content_hash(data)
        return data

    return Change(Locator(path), "rewrite", build)


def _sources(
    connection: duckdb.DuckDBPyConnection, night: Night, targets: Mapping[str, str]
) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    veil = night.veil(connection)
    for target, path, title in connection.execute(_REFERENCES).fetchall():
        if target in targets and night.is_open(path):
            found[target].append((path, veil.over(title)))
    return found


def _lines(sources: Sequence[tuple[str, str]]) -> list[str]:
    if not sources:
        return []
    lines = ["", "**Referred to by**", ""]
    lines += [f"- {link(path, title)}" for path, title in sources[:MOST]]
    if len(sources) > MOST:
        lines.append(f"- and {len(sources) - MOST:,} more")
    return [*lines, ""]


def _key(digest: str, said: str) -> str:
    return hashlib.sha256(f"{digest}\0{said}".encode("utf-8", "surrogateescape")).hexdigest()


_TARGETS: Final = """
SELECT path, content_hash FROM notes
WHERE memory_class IN ('semantic', 'procedural', 'episodic') AND NOT generated
  AND status = 'active'
ORDER BY path
"""
# Maps and the topology page name every note, stubs those that name them: that says nothing.
_REFERENCES: Final = """
SELECT DISTINCT l.resolved_path, n.path, n.title FROM links l JOIN notes n ON n.path = l.path
WHERE l.resolved_path IS NOT NULL AND l.resolved_path <> l.path
  AND (NOT n.generated OR n.memory_class IN ('entities', 'crystallized'))
  AND NOT list_contains(n.tags, 'stub')
ORDER BY l.resolved_path, n.path
"""
