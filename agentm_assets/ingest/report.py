"""What an ingest did, source by source."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Did = Literal["new", "grown", "changed", "again", "current", "nothing", "older", "passed", "failed"]
DONE: Final[tuple[Did, ...]] = (
    "new", "grown", "changed", "again", "nothing", "current", "older", "passed", "failed",
)  # fmt: skip
MEANING: Final[Mapping[Did, str]] = {
    "new": "read for the first time",
    "grown": "grew: its new tail was read",
    "changed": "has other content than before: its notes take the place of the older ones",
    "again": "read anew by this version",
    "nothing": "holds nothing to keep; that is remembered",
    "current": "nothing new",
    "older": "read by an older version; --again reads it anew",
    "passed": "passed over",
    "failed": "could not be used",
}


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One source of one file. `source`: "" where the file is of none. `made`: paths of new notes;
    in a dry run, how they would be called. `superseded` and `reinforced`: paths of notes that were
    there. `unknown`: records of types that nobody knows, by type. `broken`: lines or mails that
    can't be read. `restarted`: why a log was read from its beginning. `reason`: for "passed",
    "nothing" and "failed"."""

    place: str
    kind: str
    source: str
    did: Did
    records: int = 0
    made: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    trace: str = ""
    unknown: Mapping[str, int] = field(default_factory=dict)
    broken: int = 0
    restarted: str = ""
    waits: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """`looked_at`: files and addresses. `ignored`: files of a folder that are nothing that is
    read. `remarks`: for the operator. `runs`: ids by which it is taken back."""

    sources: tuple[SourceReport, ...]
    looked_at: int
    ignored: int
    dry_run: bool
    remarks: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def counts(self) -> dict[Did, int]:
        """How many sources had which fate, in the order of DONE."""
        counted = Counter(each.did for each in self.sources)
        return {did: counted[did] for did in DONE if counted[did]}

    def unknown(self) -> dict[str, int]:
        """Records of unknown types, by kind of log and type, the most frequent first."""
        total: Counter[str] = Counter()
        for each in self.sources:
            total.update({f"{each.kind}: {name}": n for name, n in each.unknown.items()})
        return dict(total.most_common())

    @property
    def made(self) -> tuple[str, ...]:
        return _joined(each.made for each in self.sources)

    @property
    def superseded(self) -> tuple[str, ...]:
        return _joined(each.superseded for each in self.sources)

    @property
    def reinforced(self) -> tuple[str, ...]:
        return _joined(each.reinforced for each in self.sources)

    @property
    def traces(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.trace for each in self.sources if each.trace))

    @property
    def broken(self) -> int:
        return sum(each.broken for each in self.sources)


def _joined(many: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for paths in many for path in paths))
