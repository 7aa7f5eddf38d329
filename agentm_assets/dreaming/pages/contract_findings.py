"""The contract, reconciled: what is plain is mended by edits of single lines, the rest listed."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from agentm_assets.contract import properties
from agentm_assets.contract.edit import set_key
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.note import validate_note
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.stage import Change, Leave, Plan
from agentm_assets.migration.note import Wanted, migrate_note
from agentm_assets.migration.words import STATUS_WORDS
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageError

MOST_LISTED: Final = 50

MENDED_SPACES: Final = ("memory", "calendar")
"""Where a pass may edit. Standards and the roots of projects are changed in agreement alone."""


class ContractFindings:
    name: Final = "contract-findings"
    version: Final = "1"
    needs_model: Final = False
    description: Final = (
        "Notes that break the filing contract: what is plain is mended, the rest is listed."
    )

    def plan(self, night: Night) -> Plan:
        with night.index() as connection:
            findings = [
                row for row in connection.execute(_FINDINGS).fetchall() if night.is_open(row[0])
            ]
            dated = dict(connection.execute(_DATED).fetchall())
            odd = [
                path
                for (path,) in connection.execute(_INCOMPLETE).fetchall()
                if night.is_open(path)
            ]
            spaces = dict(connection.execute("SELECT path, space FROM notes").fetchall())
        wanted = Wanted(night.rules.rules, STATUS_WORDS, dated.get)
        candidates = {row[0] for row in findings} | set(odd)
        changes = tuple(
            _change(path, wanted)
            for path in sorted(candidates)
            if spaces.get(path) in MENDED_SPACES
        )
        mended = _mended(night, changes)
        findings = [row for row in findings if (row[0], row[2]) not in mended]
        codes = Counter(row[2] for row in findings)
        notes = [
            f"{path}{'' if line is None else f':{line}'} [{code}] {message}; {cure}"
            for path, line, code, message, cure in findings[:MOST_LISTED]
        ]
        if len(findings) > MOST_LISTED:
            notes.append(f"and {len(findings) - MOST_LISTED:,} more")
        return Plan(
            changes,
            notes=tuple(notes),
            measured={"findings": len(findings), **dict(sorted(codes.items()))},
        )


def _mended(night: Night, changes: Sequence[Change]) -> set[tuple[str, str]]:
    """Path and code of the findings that the changes mend: those are no work for the operator."""
    found: set[tuple[str, str]] = set()
    rules = night.rules.rules
    for change in changes:
        path = change.locator.key
        try:
            held = night.backend.read_bytes(change.locator)
            data = change.build(held)
        except (FileNotFoundError, StorageError, Leave):
            continue  # said when the changes are made
        if data != held:
            before = {each.code for each in validate_note(path, read_frontmatter(held), rules)}
            after = {each.code for each in validate_note(path, read_frontmatter(data), rules)}
            found |= {(path, code) for code in before - after}
    return found


def _change(path: str, wanted: Wanted) -> Change:
    def build(held: bytes | None) -> bytes:
        if held is None:
            raise Leave("gone-meanwhile")
        return _plain_tags(migrate_note(path, held, wanted).data)

    return Change(Locator(path), "rewrite", build)


def _plain_tags(data: bytes) -> bytes:
    """Tags without the # that is no part of them."""
    frontmatter = read_frontmatter(data)
    field = frontmatter.fields.get("tags")
    if field is None or not any(item.strip().startswith("#") for item in field.items):
        return data
    tags = [tag.strip().lstrip("#") for tag in properties.tags(frontmatter)]
    return set_key(data, "tags", [tag for tag in tags if tag])


_FINDINGS: Final = """
SELECT path, line, code, message, cure FROM findings ORDER BY path, line NULLS FIRST, code
"""
_DATED: Final = """
SELECT path, captured FROM notes WHERE captured_origin = 'file name'
"""
_INCOMPLETE: Final = """
SELECT path FROM notes
WHERE memory_class IN ('semantic', 'procedural', 'episodic') AND NOT generated AND kind IS NULL
  AND (status IS NULL OR slug IS NULL OR captured_origin IS DISTINCT FROM 'frontmatter')
ORDER BY path
"""
