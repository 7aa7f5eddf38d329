"""The words that a vault uses to sort its notes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`tags` are those that notes of the vault carry already, the most used first; `names` are its
    projects, its repositories ("owner/repo") and its tools. No tag is made of anything else."""

    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
