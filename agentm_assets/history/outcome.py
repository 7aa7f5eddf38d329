"""What became of a commit. The caller shows it; nobody swallows it."""

from dataclasses import dataclass

from agentm_assets.storage.seam import StorageError


@dataclass(frozen=True, slots=True)
class Committed:
    """git has it. `commit` is None when HEAD held every byte already. `ignored`: paths that git is
    told to ignore, so that they are written but not committed. `left_out`: a line each, path and
    reason, for files that could not be committed while the others were."""

    commit: str | None
    ignored: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        if self.left_out:
            return (
                f"{len(self.left_out)} written files can't be committed, the others are: "
                f"{self.left_out[0]}"
            )
        if self.ignored:
            return (
                f"{len(self.ignored)} written files are not committed, since a .gitignore names "
                f"them ({self.ignored[0]}); they can't be restored by agentm revert"
            )
        return f"committed as {self.commit[:12]}" if self.commit else "nothing to commit"


@dataclass(frozen=True, slots=True)
class NoRepository:
    """The write stands; there is no history that could bring the old bytes back."""

    message: str
    cure: str

    @property
    def text(self) -> str:
        return f"{self.message}: automated writes can't be reverted (cure: {self.cure})"


@dataclass(frozen=True, slots=True)
class GitTrouble:
    """The write stands and waits for a commit. `text` says why, and the cure."""

    text: str


Outcome = Committed | NoRepository | GitTrouble


def is_worth_a_remark(outcome: Outcome) -> bool:
    """Whether the operator must hear of it: everything but a plain commit."""
    return not isinstance(outcome, Committed) or bool(outcome.ignored or outcome.left_out)


class RepositoryRequired(StorageError):
    """A write over many files was asked for where it could not be reverted."""
