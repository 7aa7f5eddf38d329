"""What is wrong with one note: damage first, then what breaks the filing contract, then lint.

A note in an adopted folder (space `other`) owes the contract nothing: its `type: blog` is its own
business. A contract-exempt space gives no finding of the contract or lint at all.
"""

from collections.abc import Iterator

from agentm_assets.contract import properties
from agentm_assets.contract.findings import Finding
from agentm_assets.contract.frontmatter import Frontmatter
from agentm_assets.contract.rules_model import StorageRules
from agentm_assets.contract.spaces import space_of
from agentm_assets.contract.vocabulary import ALTITUDES, STATUSES

_FLAWS = {
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


def validate_note(
    path: str, frontmatter: Frontmatter, rules: StorageRules | None
) -> tuple[Finding, ...]:
    """All findings of one note, the most serious first.

    `rules` None (the rules file is broken): what only the rules can tell is left out.
    """
    exempt = ("personal",) if rules is None else rules.contract_exempt_spaces
    closed = path.split("/")[0].casefold() in {name.casefold() for name in exempt}
    findings = list(_damage(path, frontmatter))
    if not closed:
        if space_of(path).space != "other":
            findings.extend(_contract(path, frontmatter, rules))
        findings.extend(_lint(path, frontmatter))
    return tuple(findings)


def _damage(path: str, frontmatter: Frontmatter) -> Iterator[Finding]:
    if frontmatter.error is not None:
        code = "unclosed" if frontmatter.state == "unclosed" else "unreadable"
        yield Finding(
            path,
            frontmatter.error_line,
            f"frontmatter-{code}",
            f"the properties can't be read: {frontmatter.error}",
            "mend the block between the --- lines; until then agentm does not edit this note",
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
    for key, lines in frontmatter.duplicates.items():
        shown = ", ".join(str(line) for line in lines)
        yield Finding(
            path,
            lines[-1],
            "duplicate-key",
            f"`{key}` stands more than once (lines {shown}); the last one is read",
            "keep one; until then agentm does not edit that key",
        )


def _contract(path: str, frontmatter: Frontmatter, rules: StorageRules | None) -> Iterator[Finding]:
    given = {key: properties.text_of(frontmatter, key) for key in ("type", "kind")}
    if given["type"] and given["kind"]:
        yield _at(
            path,
            frontmatter,
            "kind",
            "type-and-kind",
            "the note has a type and a kind",
            "a memory has a type, a record has a kind: remove one of the two",
        )
    if rules is not None:
        for key, register in (("type", rules.memory_types), ("kind", rules.record_kinds)):
            value = given[key]
            if value is None or value in register:
                continue
            replacement = rules.deprecations.get(value)
            if replacement is not None:
                message, cure = f"the {key} is retired", f"use `{replacement}` instead"
            else:
                message = f"the {key} is not registered in the storage rules"
                cure = f"use one of: {', '.join(register)}"
            code = f"{'retired' if replacement else 'unknown'}-{key}"
            yield _at(path, frontmatter, key, code, message, cure)
    for key, allowed in (("status", STATUSES), ("altitude", ALTITUDES)):
        value = properties.text_of(frontmatter, key)
        if value is not None and value not in allowed:
            yield _at(
                path,
                frontmatter,
                key,
                f"unknown-{key}",
                f"the {key} is none that agentm knows",
                f"use one of: {', '.join(allowed)}",
            )
    for key in ("captured", "updated"):
        written = properties.read_date(frontmatter, key)
        if written is not None and written.value is None:
            yield _at(
                path,
                frontmatter,
                key,
                "bad-date",
                f"`{key}` is no ISO date",
                "write it as 2026-08-01 or 2026-08-01T09:30:00+02:00",
            )


def _lint(path: str, frontmatter: Frontmatter) -> Iterator[Finding]:
    for field in frontmatter.fields.values():
        for flaw in field.flaws:
            yield Finding(path, flaw.line, flaw.code, *_FLAWS[flaw.code])
    for key in ("tags", "aliases"):
        if properties.text_of(frontmatter, key) is not None:
            yield _at(
                path,
                frontmatter,
                key,
                f"{key}-as-text",
                f"`{key}` is one text; it is read, but other tools no longer do",
                f"write a list: {key}: [one, two]",
            )
    for tag in properties.tags(frontmatter):
        if any(character.isspace() for character in tag):
            yield _at(
                path,
                frontmatter,
                "tags",
                "tag-with-blank",
                "a tag holds a blank",
                "join its words with a hyphen, or write two tags",
            )
            break


def _at(
    path: str, frontmatter: Frontmatter, key: str, code: str, message: str, cure: str
) -> Finding:
    field = frontmatter.fields.get(key)
    return Finding(path, field.line if field else None, code, message, cure)
