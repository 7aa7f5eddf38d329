"""The rules file: read at each use, validated whole, never guessed at.

A broken file halts filing and nothing else, so it is an exception that names every violation with
its line, and no older or shipped rules stand in for it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from agentm_assets.contract.rules_block import Tree, Violation, find_block, read_tree
from agentm_assets.contract.rules_checks import check_rules
from agentm_assets.contract.rules_model import RANKING_KEYS, RANKING_THRESHOLDS, StorageRules
from agentm_assets.contract.rules_prose import type_definitions

ENVIRONMENT = "AGENTM_STORAGE_RULES"
RULES_NAME = "storage-rules.md"
MAX_BYTES = 1024 * 1024

Source = Literal["environment", "vault", "default"]


class RulesError(Exception):
    """The rules can't be used. `violations` holds all of them, in line order."""

    def __init__(self, path: Path, violations: tuple[Violation, ...]) -> None:
        self.path = path
        self.violations = violations
        super().__init__("\n".join(f"{path}:{v.line}: {v.message}; {v.cure}" for v in violations))


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """Valid rules.

    `prose` is the file without the block and without frontmatter, `definitions` what it says about
    each memory type. `rules_hash` covers what judgment depends on (prose with white space folded,
    the block without what only ranks), `ranking_hash` the rest, `text_hash` the file's bytes:
    sha256, the first 16 hex digits.
    """

    rules: StorageRules
    prose: str
    definitions: Mapping[str, str]
    path: Path
    source: Source
    text_hash: str
    rules_hash: str
    ranking_hash: str


class RulesFile(Protocol):
    """A rules file of the vault. `data` None: it can't be read, `problem` says why."""

    @property
    def place(self) -> str: ...
    @property
    def data(self) -> bytes | None: ...
    @property
    def problem(self) -> str: ...


class RulesVault(Protocol):
    """The vault, as far as its rules are concerned."""

    def rules_file(self, name: str, *, limit: int) -> RulesFile | None:
        """The file of that name among the standards; None where there is surely nothing."""


def load_rules(vault: RulesVault | None, env: Mapping[str, str]) -> LoadedRules:
    """The rules in force: `$AGENTM_STORAGE_RULES`, else the vault's, else the shipped default.

    A file that exists and can't be read or is invalid is never passed over. Raises RulesError.
    """
    path = named_rules(env)
    if path is not None:
        return _load_file(path, "environment")
    found = None if vault is None else vault.rules_file(RULES_NAME, limit=MAX_BYTES)
    if found is None:
        return _load_file(default_rules_path(), "default")
    if found.data is None:
        raise _unusable(Path(found.place), "unreadable", found.problem, "the default is not used")
    return parse_rules(found.data, Path(found.place), "vault")


def named_rules(env: Mapping[str, str]) -> Path | None:
    """The rules file that the environment names. Raises RulesError for an empty variable and for a
    relative path."""
    named = env.get(ENVIRONMENT)
    if named is None:
        return None
    if not named.strip():
        raise _unusable(
            Path(ENVIRONMENT),
            "empty-variable",
            "the variable is set and empty",
            "give it the path of a rules file, or unset it",
        )
    path = Path(named)
    if not path.is_absolute():
        raise _unusable(
            path,
            "relative-path",
            "the path is relative, so each program would look elsewhere",
            f"give {ENVIRONMENT} an absolute path",
        )
    return path


def _load_file(path: Path, source: Source) -> LoadedRules:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unusable(
            path, "unreadable", f"it can't be read ({error.strerror})", "mend path or permissions"
        ) from error
    if len(data) > MAX_BYTES:
        raise _unusable(path, "too-large", "it is over 1 MiB", "keep rules, move the rest out")
    return parse_rules(data, path, source)


def parse_rules(data: bytes, path: Path, source: Source) -> LoadedRules:
    """Validate the bytes of a rules file. Raises RulesError with every violation."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        violation = Violation(line, "encoding", "this line is not UTF-8", "save the file as UTF-8")
        raise RulesError(path, (violation,)) from error
    block = find_block(text)
    if isinstance(block, Violation):
        raise RulesError(path, (block,))
    tree, violations = read_tree(block)
    if tree is None:
        raise RulesError(path, tuple(violations))
    violations += check_rules(tree)
    rules: StorageRules | None = None
    try:
        rules = StorageRules.model_validate(tree.content)
    except ValidationError as error:
        violations += _shape_violations(error, tree)
    if violations or rules is None:
        raise RulesError(path, tuple(sorted(violations, key=lambda v: (v.line, v.message))))
    judgment, ranking = _parts(rules)
    return LoadedRules(
        rules=rules,
        prose=block.prose,
        definitions=type_definitions(block.prose, rules.memory_types),
        path=path,
        source=source,
        text_hash=hashlib.sha256(data).hexdigest()[:16],
        rules_hash=_digest({"prose": " ".join(block.prose.split()), "block": judgment}),
        ranking_hash=_digest(ranking),
    )


def default_rules_path() -> Path:
    """The rules that agentm ships: beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_standards" / RULES_NAME
    return installed if installed.exists() else package.parent / "standards" / RULES_NAME


def default_rules_text() -> bytes:
    """The bytes of the shipped rules: what a new vault is seeded with."""
    return default_rules_path().read_bytes()


def _shape_violations(error: ValidationError, tree: Tree) -> list[Violation]:
    """What pydantic found, with lines; the offending value is never quoted."""
    found: list[Violation] = []
    for problem in error.errors(include_input=False, include_url=False):
        place = tuple(problem["loc"])
        name = ".".join(str(part) for part in place)
        if problem["type"] == "missing":
            line = tree.line(place[:-1])
            found.append(
                Violation(
                    line,
                    "missing-key",
                    f"`{name}` is missing",
                    "add it; the shipped default has it",
                )
            )
        elif problem["type"] == "extra_forbidden":
            found.append(
                Violation(
                    tree.line(place),
                    "unknown-key",
                    f"`{name}` is no key that agentm knows",
                    "correct its spelling or remove it",
                )
            )
        else:
            said = str(problem.get("ctx", {}).get("error") or problem["msg"])
            found.append(
                Violation(
                    tree.line(place),
                    "value",
                    f"`{name}`: {said[:1].lower()}{said[1:]}",
                    "correct the value; an empty list is written [] and an empty table {}",
                )
            )
    return found


def _parts(rules: StorageRules) -> tuple[dict[str, object], dict[str, object]]:
    """The block in two: what judgment depends on, and what only ranks."""
    whole = rules.model_dump(mode="json")
    thresholds = whole.pop("thresholds")
    ranking: dict[str, object] = {key: whole.pop(key) for key in sorted(RANKING_KEYS)}
    ranking["thresholds"] = {key: thresholds.pop(key) for key in sorted(RANKING_THRESHOLDS)}
    return whole | {"thresholds": thresholds}, ranking


def _digest(part: object) -> str:
    text = json.dumps(_ordered(part), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ordered(part: object) -> object:
    """The order of a register's values says nothing, so it must not make a judgment stale."""
    if isinstance(part, dict):
        return {key: _ordered(value) for key, value in part.items()}
    return sorted(part) if isinstance(part, list) else part


def _unusable(path: Path, code: str, message: str, cure: str) -> RulesError:
    return RulesError(path, (Violation(1, code, message, cure),))
