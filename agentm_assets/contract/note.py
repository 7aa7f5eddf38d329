"""What is wrong with one note: damage first, then what breaks the filing contract, then lint.

A note in an adopted folder (space `other`) owes the contract nothing: its `type: blog` is its own
business. A contract-exempt space gives no finding at all: there nothing is expected.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, Protocol

from agentm_assets.contract import properties
from agentm_assets.contract.findings import Finding
from agentm_assets.contract.frontmatter import FieldValue, FlawCode, Frontmatter
from agentm_assets.contract.spaces import is_in_space, space_of
from agentm_assets.contract.vocabulary import ALTITUDES, STATUSES

_SEVERITY: Final = (
    "frontmatter-unreadable",
    "frontmatter-unclosed",
    "duplicate-key",
    "invalid-utf8",
    "nul-byte",
    "type-and-kind",
    "not-one-value",
    "unknown-type",
    "retired-type",
    "unknown-kind",
    "retired-kind",
    "kind-is-a-type",
    "type-is-a-kind",
    "unknown-status",
    "unknown-altitude",
    "bad-date",
    "bad-number",
    "cut-by-comment",
    "unquoted-wikilink",
    "broken-tags",
    "tags-as-text",
    "aliases-as-text",
    "tag-with-hash",
    "tag-with-blank",
    "tab-after-key",
)
"""Codes, the most serious first."""

_RANK: Final = {code: rank for rank, code in enumerate(_SEVERITY)}

_FLAWS: Final[dict[FlawCode, tuple[str, str]]] = {
    "unquoted-wikilink": (
        "a wikilink without quotes is read as a list",
        'put it in quotes: key: "[[note]]"',
    ),
    "cut-by-comment": (
        "` #` starts a comment here, so the rest of the value is lost",
        "put the whole value in quotes",
    ),
    "tab-after-key": ("a tab follows the colon", "use a blank instead"),
}
_DEFAULT_EXEMPT: Final = frozenset({"personal"})
_SHARE = re.compile(r"0(?:\.[0-9]+)?|1(?:\.0+)?")
_COUNT = re.compile(r"[0-9]+")


class NoteRules(Protocol):
    """What of the rules file a note is held against."""

    @property
    def memory_types(self) -> Collection[str]: ...
    @property
    def record_kinds(self) -> Collection[str]: ...
    @property
    def deprecations(self) -> Mapping[str, str]: ...
    @property
    def contract_exempt_spaces(self) -> Collection[str]: ...


def validate_note(
    path: str, frontmatter: Frontmatter, rules: NoteRules | None
) -> tuple[Finding, ...]:
    """All findings of the note at the vault-relative `path`, the most serious first.

    `rules` None (the rules file is broken): what only the rules can tell is left out.
    """
    exempt = _DEFAULT_EXEMPT if rules is None else rules.contract_exempt_spaces
    if is_in_space(path, exempt):
        return ()
    findings = [*_damage(path, frontmatter), *_lint(path, frontmatter)]
    if space_of(path).space != "other":
        findings.extend(_contract(path, frontmatter, rules))
    return tuple(sorted(findings, key=severity))


def severity(finding: Finding) -> tuple[int, int]:
    """A key that sorts the findings of one note, the most serious first, then by line."""
    return _RANK[finding.code], finding.line or 0


def _damage(path: str, frontmatter: Frontmatter) -> Iterator[Finding]:
    if frontmatter.error is not None:
        code = "unclosed" if frontmatter.state == "unclosed" else "unreadable"
        yield Finding(
            path,
            frontmatter.error_line,
            f"frontmatter-{code}",
            f"the properties can't be read: {frontmatter.error}",
            "close the block with a line --- , or put text above the first ---"
            if code == "unclosed"
            else "mend the block between the --- lines; until then agentm does not edit this note",
        )
    for key, lines in frontmatter.duplicates.items():
        shown = ", ".join(str(line) for line in lines)
        yield Finding(
            path,
            lines[-1],
            "duplicate-key",
            f"{_named(key)} stands more than once (lines {shown}); the last one is read",
            "keep one; until then agentm does not edit that key",
        )
    if frontmatter.invalid_utf8_line is not None:
        yield Finding(
            path,
            frontmatter.invalid_utf8_line,
            "invalid-utf8",
            "bytes here are not UTF-8; they are searched as \ufffd and left as they are",
            "save the file as UTF-8",
        )
    if frontmatter.nul_line is not None:
        yield Finding(
            path,
            frontmatter.nul_line,
            "nul-byte",
            "a NUL byte stands here; it is searched as \ufffd and left as it is",
            "remove it, or move the file if it is no text",
        )


def _named(key: str) -> str:
    """A property by its name where that is surely a name, since a stray line may be anything."""
    return f"`{key}`" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,39}", key) else "a property"


def _contract(path: str, frontmatter: Frontmatter, rules: NoteRules | None) -> Iterator[Finding]:
    type_, kind = (properties.text_of(frontmatter, key) for key in ("type", "kind"))
    if type_ and kind:
        yield _at(
            path,
            frontmatter,
            "kind",
            "type-and-kind",
            "the note has a type and a kind",
            "a memory has a type, a record has a kind: remove one of the two",
        )
    for key in ("type", "kind", "status", "altitude"):
        field = frontmatter.fields.get(key)
        if field is not None and field.kind in ("list", "map"):
            yield _at(
                path,
                frontmatter,
                key,
                "not-one-value",
                f"`{key}` holds a list or a mapping",
                "give it one value",
            )
    if rules is not None:
        yield from _registers(path, frontmatter, rules, type_, kind)
    # A record outside the memory folders (a project, a design) has a status of its own making.
    is_memory = kind is None or space_of(path).space == "memory"
    for key, allowed in (("status", STATUSES), ("altitude", ALTITUDES)):
        value = properties.text_of(frontmatter, key)
        if value is not None and value not in allowed and (is_memory or key == "altitude"):
            yield _at(
                path,
                frontmatter,
                key,
                f"unknown-{key}",
                f"the {key} is none that agentm knows",
                f"use one of: {', '.join(allowed)}",
            )
    for key in ("captured", "updated", "enriched_at", "superseded_at"):
        field = frontmatter.fields.get(key)
        if field is None or field.kind == "null":
            continue
        written = properties.read_date(frontmatter, key)
        if written is None or written.value is None:
            yield _at(
                path,
                frontmatter,
                key,
                "bad-date",
                f"`{key}` is no ISO date",
                "write it as 2026-08-01 or 2026-08-01T09:30:00+02:00",
            )
    for key, form, cure in (
        ("confidence", _SHARE, "write a number from 0 to 1"),
        ("occurrences", _COUNT, "write a whole number"),
    ):
        value = properties.text_of(frontmatter, key)
        if value is not None and not form.fullmatch(value):
            message = f"`{key}` is no number of the right size"
            yield _at(path, frontmatter, key, "bad-number", message, cure)


def _registers(
    path: str, frontmatter: Frontmatter, rules: NoteRules, type_: str | None, kind: str | None
) -> Iterator[Finding]:
    """What the registers of the rules say about the type and the kind."""
    for key, value, register, other, misplaced in (
        ("type", type_, rules.memory_types, rules.record_kinds, "type-is-a-kind"),
        ("kind", kind, rules.record_kinds, rules.memory_types, "kind-is-a-type"),
    ):
        if value is None or value in register:
            continue
        replacement = rules.deprecations.get(value)
        if value in other:
            right = "kind" if key == "type" else "type"
            code = misplaced
            message = f"the {key} is registered as a {right}"
            cure = f"write it as `{right}: {value}`"
        elif replacement is not None:
            right = "type" if replacement in rules.memory_types else "kind"
            code, message = f"retired-{key}", f"the {key} is retired"
            cure = f"use `{right}: {replacement}` instead"
        else:
            code = f"unknown-{key}"
            message = f"the {key} is not registered in the storage rules"
            cure = f"use one of: {', '.join(register)}"
        yield _at(path, frontmatter, key, code, message, cure)


def _lint(path: str, frontmatter: Frontmatter) -> Iterator[Finding]:
    for name, field in frontmatter.fields.items():
        for flaw in field.flaws:
            yield Finding(path, flaw.line, flaw.code, *_FLAWS[flaw.code])
        key = name.casefold()
        if key in ("tags", "aliases") and field.kind == "scalar" and field.text.strip():
            yield Finding(
                path,
                field.line,
                f"{key}-as-text",
                f"`{key}` is one text; it is read, but other tools no longer do",
                f"write a list: {key}: [one, two]",
            )
        if key == "tags":
            yield from _lint_tags(path, field)


def _lint_tags(path: str, field: FieldValue) -> Iterator[Finding]:
    broken = field.kind == "scalar" and properties.list_in_text(field.text) == []
    if field.kind == "map" or (broken and field.text.strip("[] \t\n")):
        yield Finding(
            path,
            field.line,
            "broken-tags",
            "the tags are no list and can't be read as one",
            "write a list: tags: [one, two]",
        )
    if any(item.strip().startswith("#") for item in field.items):
        yield Finding(
            path,
            field.line,
            "tag-with-hash",
            "a tag is written with its #, which is no part of it",
            "remove the #",
        )
    if any(re.search(r"\S\s+\S", item) for item in field.items):
        yield Finding(
            path,
            field.line,
            "tag-with-blank",
            "a tag holds a blank",
            "join its words with a hyphen, or write two tags",
        )


def _at(
    path: str, frontmatter: Frontmatter, key: str, code: str, message: str, cure: str
) -> Finding:
    return Finding(path, frontmatter.fields[key].line, code, message, cure)
