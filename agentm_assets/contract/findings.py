"""What is wrong with a note or a rules file, said so that the operator can mend it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in one file of the vault.

    `path` is relative to the vault (POSIX). `line` counts from 1 in the file, None where no line
    applies. `code` is stable, kebab-case, and safe to match on. `cure` tells the operator what to
    do. Neither text quotes note content, which may hold a secret.
    """

    path: str
    line: int | None
    code: str
    message: str
    cure: str
