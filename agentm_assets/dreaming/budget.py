"""How many files a stage may still write tonight."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MutationBudget:
    """`per_night` bounds all stages together, `per_stage` each: an early one must not use up what
    the later ones need."""

    per_night: int
    per_stage: int

    def left(self, written_tonight: int) -> int:
        """What a stage may write when so many files were written tonight."""
        return max(0, min(self.per_stage, self.per_night - written_tonight))
