"""What became of a note's body since it was captured: the raw text, and whether a human edited it.

The revert log has the hashes of what every pass found and left, git has the bytes. A note that a
model has rewritten is judged anew from what was there before the first rewrite. Where the body is
not what the last pass left, or ever was found otherwise, the operator's hand was in it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.contract.spaces import space_of
from agentm_assets.enrichment.gates.eligibility import EXTRACTIVE
from agentm_assets.history.footer_writes import FOOTER_PASS, same_but_for_footers
from agentm_assets.history.git import Repository
from agentm_assets.history.revert import PASS as REVERT
from agentm_assets.history.revert_log import GONE, Change, read_log
from agentm_assets.history.run import open_repository
from agentm_assets.storage.seam import StorageBackend, content_hash


@dataclass(frozen=True, slots=True)
class Past:
    """`raw`: the note's bytes before the first rewrite, None where the file's own are the raw ones.
    `human_edited`: the body is, or was once, not what a pass had left."""

    raw: bytes | None
    human_edited: bool


UNTOUCHED = Past(None, False)


class NoteHistory:
    """The past of notes, as the revert log had it when this was made. Raises StorageError."""

    def __init__(self, location: VaultLocation, backend: StorageBackend) -> None:
        self._location = location
        self._backend = backend
        self._by_path: dict[str, list[Change]] | None = None
        self._repository: Repository | None = None
        self._opened = False

    def past(self, path: str, data: bytes) -> Past:
        """The past of the note that holds `data` now."""
        chain = self.changes(path)
        judged_by = text_of(read_frontmatter(data), "enriched_by")
        if not chain or judged_by is None:
            return UNTOUCHED
        if self._was_edited(chain, data):
            return Past(None, True)
        if judged_by.startswith(EXTRACTIVE):
            return UNTOUCHED  # it never writes a body
        raw = self._before(chain[0])
        return Past(raw, raw is None)

    def judged_fingerprint(self, path: str, data_hash: str, body: str) -> str:
        """The fingerprint of the body when the judgment that the note carries was written.

        `data_hash` and `body` are the file's content hash and the fingerprint of its body now.
        Where nobody knows any more, it is taken for that of the body as it is.
        """
        chain = self.changes(path)
        if not chain or chain[-1].after == data_hash:
            return body
        left = self._after(chain[-1])
        return body if left is None else body_print(left)

    def taken_back(self, path: str, data_hash: str, stamp: str, rules_hash: str) -> bool:
        """Did the operator take back what this very version of the pass had written, and leave the
        note as it was before?"""
        chain = [each for each in self.changes(path) if each.pass_name != FOOTER_PASS]
        same = same_but_for_footers(path, data_hash, self._changes_of(path))
        if not chain or chain[-1].pass_name != REVERT or chain[-1].after not in same:
            return False
        judged = self._before(chain[-1])
        if judged is None:
            return False
        frontmatter = read_frontmatter(judged)
        if text_of(frontmatter, "superseded_by") is not None:
            return self._split_by(chain, stamp, rules_hash)
        return (
            text_of(frontmatter, "enriched_by") == stamp
            and text_of(frontmatter, "rules_hash") == rules_hash
        )

    def _split_by(self, chain: Sequence[Change], stamp: str, rules_hash: str) -> bool:
        """Whether the run that was taken back last split the note as this version. A note that was
        split carries nobody's stamp; the commit says whose it was."""
        repository, undone = self._open(), chain[-1]
        runs = [each for each in chain[:-1] if each.after == undone.before]
        if repository is None or not runs:
            return False
        run = runs[-1]
        said = {"Run": run.run, "Version": stamp, "Rules": rules_hash}
        patterns = [f"^Agentm-{name}: {_literal(text)}$" for name, text in said.items()]
        commits = repository.log(patterns, f"agentm-{run.pass_name}", _MOST_COMMITS)
        return any(run.path in commit.files for commit in commits)

    def corrected(self, path: str) -> tuple[bool, bool]:
        """Whether the note's name, and whether its class was corrected before, also when that was
        taken back: neither is corrected twice."""
        slug = memory_class = False
        seen: set[str] = set()
        waiting = [path]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for change in self._changes_of(name):
                if change.moved_from is not None:
                    slug |= change.moved_from.rpartition("/")[2] != name.rpartition("/")[2]
                    memory_class |= (
                        space_of(change.moved_from).memory_class != space_of(name).memory_class
                    )
                    waiting.append(change.moved_from)
        return slug, memory_class

    def changes(self, path: str) -> list[Change]:
        """What passes did to the note, under whatever name, oldest first; the taking away of a name
        is left out."""
        chain: list[Change] = []
        name = path
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            own = self._changes_of(name)
            arrivals = [at for at, change in enumerate(own) if change.moved_from is not None]
            newest = own[arrivals[-1] :] if arrivals else own
            chain[:0] = [change for change in newest if change.after != GONE]
            if not arrivals:
                break
            name = own[arrivals[-1]].moved_from or name
        return chain

    def _was_edited(self, chain: Sequence[Change], data: bytes) -> bool:
        found = content_hash(data), body_print(data)
        for newer, older in zip([None, *reversed(chain[1:])], reversed(chain), strict=True):
            if newer is None:
                next_hash, next_body = found
            else:
                next_hash, next_body = self._origin(newer).before or "", None
            if next_hash == older.after:
                continue
            left = self._after(older)
            if next_body is None and newer is not None:
                seen = self._before(newer)
                next_body = None if seen is None else body_print(seen)
            if left is None or next_body is None or body_print(left) != next_body:
                return True
        return False

    def _before(self, change: Change) -> bytes | None:
        """The bytes that the change found."""
        repository, origin = self._open(), self._origin(change)
        if repository is None or origin.base is None:
            return None
        return _having(repository, origin.base, origin.path, origin.before)

    def _origin(self, change: Change) -> Change:
        """The change itself; for one that gave the file another name, what the run did to the old
        name: that says which bytes were there before."""
        if change.moved_from is None:
            return change
        for other in self._changes_of(change.moved_from):
            if other.run == change.run and other.after == GONE:
                return other
        return change

    def _after(self, change: Change) -> bytes | None:
        """The bytes that the change left, as the run committed them."""
        repository = self._open()
        if repository is None:
            return None
        pattern = f"^Agentm-Run: {change.run}$"
        for commit in repository.log((pattern,), f"agentm-{change.pass_name}", _MOST_COMMITS):
            if change.path in commit.files:
                found = _having(repository, commit.commit, change.path, change.after)
                if found is not None:
                    return found
        return None

    def _open(self) -> Repository | None:
        if not self._opened:
            self._opened = True
            repository = open_repository(self._location)
            self._repository = repository if isinstance(repository, Repository) else None
        return self._repository

    def _changes_of(self, path: str) -> list[Change]:
        return self._log().get(path, [])

    def _log(self) -> dict[str, list[Change]]:
        if self._by_path is None:
            found: defaultdict[str, list[Change]] = defaultdict(list)
            for change in read_log(self._backend)[0]:
                found[change.path].append(change)
            self._by_path = dict(found)
        return self._by_path


_SPECIAL = re.compile(r"[\\.\[*^$]")

_MOST_COMMITS = 1000
"""Of one run: a pass over some 50,000 notes."""


def _literal(text: str) -> str:
    """A pattern for just this text, in git's basic regular expressions."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def body_print(data: bytes) -> str:
    """The fingerprint of the body of a note with these bytes."""
    return fingerprint(data[read_frontmatter(data).body_start :])


def _having(repository: Repository, commit: str, path: str, wanted: str | None) -> bytes | None:
    for filtered in (True, False):
        data = repository.content(commit, path, filtered=filtered)
        if data is not None and content_hash(data) == wanted:
            return data
    return None
