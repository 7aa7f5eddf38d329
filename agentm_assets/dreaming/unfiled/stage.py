"""The stage that drains what is unfiled.

Classification comes first and is enrichment's own work (`classify`). What this stage changes itself
are edits of single lines: the weaker of two equal notes is superseded by the stronger, noise
expires. Nothing is deleted; each can be taken back.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import duckdb

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import text_of
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.vocabulary import OBSERVATIONAL_CLASSES
from agentm_assets.dreaming.draining import Jobs, most_tonight, take
from agentm_assets.dreaming.inputs import is_open
from agentm_assets.dreaming.night import Night
from agentm_assets.dreaming.similar import read_texts
from agentm_assets.dreaming.stage import Change, Leave, Plan
from agentm_assets.dreaming.unfiled.classify import Classified, classify
from agentm_assets.dreaming.unfiled.noise import GRACE_DAYS, LONGEST, is_noise
from agentm_assets.forgetting.edit import Wanted, forgotten
from agentm_assets.storage.locator import Locator

NAME: Final = "unfiled-drain"
_EMPTY: Final = fingerprint(b"")


@dataclass(frozen=True, slots=True)
class Copy:
    """A note that says word for word what another says. `print`: of its body."""

    path: str
    status: str
    is_typed: bool
    captured: str | None
    name: str
    print: str
    linked: int

    @property
    def strength(self) -> tuple[object, ...]:
        """The strongest sorts first: filed, linked, typed, then the oldest."""
        return (
            self.status != "active",
            -self.linked,
            not self.is_typed,
            self.captured or "9",
            self.path,
        )


class UnfiledDrain:
    """Classify, merge, expire."""

    name: Final = NAME
    version: Final = "1"
    needs_model: Final = True
    description: Final = (
        "Unfiled notes are judged (by the model where one is configured, else by the built-in "
        "judge), exact doubles superseded by the stronger note, noise expired."
    )

    def __init__(self) -> None:
        self._classified = Classified()

    def prepare(self, night: Night) -> None:
        """Judge what waits. It writes by itself, through the same history."""
        self._classified = classify(night)

    def plan(self, night: Night) -> Plan:
        done, self._classified = self._classified, Classified()
        with night.index() as connection:
            doubles = find_doubles(connection, night.rules)
            noise = find_noise(connection, night.rules, night.now.date())
        weaker = {one.path: (one, stronger) for one, stronger in doubles}
        reasons = {path: "noise" for path in noise if path not in weaker}
        reasons |= {path: f"double of {stronger.path}" for path, (_, stronger) in weaker.items()}
        jobs = Jobs()
        for item in take(night, NAME, reasons, most_tonight(night, NAME)):
            if item.target in weaker:
                build = _superseded(*weaker[item.target], night)
            else:
                build = _expired(night)
            jobs.add(item, Change(Locator(item.target), "rewrite", build))
        return Plan(
            changes=tuple(jobs.changes),
            waiting_for_model=0 if done.report is None else done.report.in_batch,
            skipped={} if done.report is None else dict(done.report.refused),
            notes=() if done.why is None else (done.why,),
            measured={
                "judged": 0 if done.report is None else done.report.enriched,
                "unjudged": done.left,
                "doubles": len(weaker),
                "noise": len(noise),
            },
            spent=_spent(done),
            settle=lambda applied: jobs.settle(night, None, applied),
        )


def _spent(done: Classified) -> dict[str, int | float]:
    """What the models took for the notes that were judged."""
    if done.report is None or not (done.report.usage or done.report.in_batch):
        return {}
    used = done.report.usage.values()
    return {
        "calls": sum(each.calls for each in used),
        "in_batch": done.report.in_batch,
        "tokens": sum(each.input_tokens + each.output_tokens for each in used),
        "cost": round(sum(each.cost for each in used), 6),
    }


def find_doubles(
    connection: duckdb.DuckDBPyConnection, rules: LoadedRules
) -> list[tuple[Copy, Copy]]:
    """Each note that is to be superseded, with the one that stays; at least one of the two is
    unfiled: what the operator filed twice is his."""
    rows = connection.execute(
        "SELECT n.path, n.status, coalesce(n.slug, ''), n.captured, n.fingerprint, "
        "count(l.path), n.type IS NOT NULL FROM notes n "
        "LEFT JOIN links l ON l.resolved_path = n.path AND l.path <> n.path "
        "WHERE n.memory_class IN (SELECT unnest(?::VARCHAR[])) AND n.kind IS NULL "
        "AND n.status IN ('unfiled', 'active') AND n.fingerprint IN ("
        "  SELECT fingerprint FROM notes WHERE status IN ('unfiled', 'active') "
        "  GROUP BY fingerprint HAVING count(*) > 1 AND count(*) FILTER (status = 'unfiled') > 0) "
        "GROUP BY ALL ORDER BY n.path",
        [list(OBSERVATIONAL_CLASSES)],
    ).fetchall()
    groups: defaultdict[str, list[Copy]] = defaultdict(list)
    for path, status, slug, captured, print_, linked, has_type in rows:
        if print_ != _EMPTY and is_open(path, rules):
            name = slug or path.rpartition("/")[2].removesuffix(".md")
            groups[print_].append(
                Copy(path, status, bool(has_type), captured, name, print_, int(linked))
            )
    found = []
    for group in groups.values():
        stronger, *others = sorted(group, key=lambda each: each.strength)
        found += [(one, stronger) for one in others if one.status == "unfiled"]
    return sorted(found, key=lambda pair: pair[0].path)


def find_noise(
    connection: duckdb.DuckDBPyConnection, rules: LoadedRules, today: date
) -> tuple[str, ...]:
    """Unfiled notes without a word to look for, that nothing links to, after their grace."""
    before = (today - timedelta(days=GRACE_DAYS)).isoformat()
    rows = connection.execute(
        "SELECT n.path, n.title FROM notes n WHERE n.status = 'unfiled' AND n.kind IS NULL "
        "AND n.memory_class IN (SELECT unnest(?::VARCHAR[])) AND n.captured < ? "
        "AND n.path NOT IN (SELECT resolved_path FROM links WHERE resolved_path IS NOT NULL) "
        "AND (SELECT coalesce(sum(length(text)), 0) FROM chunks c WHERE c.path = n.path) < ? "
        "ORDER BY n.path",
        [list(OBSERVATIONAL_CLASSES), before, 2 * LONGEST],
    ).fetchall()
    open_ones = [(path, title) for path, title in rows if is_open(path, rules)]
    texts = read_texts(connection, [path for path, _ in open_ones])
    return tuple(path for path, title in open_ones if is_noise(title, texts.get(path, "")))


def _superseded(weaker: Copy, stronger: Copy, night: Night) -> Callable[[bytes | None], bytes]:
    wanted = Wanted("the same text stands in the other note", stronger.name, night.now)

    def build(held: bytes | None) -> bytes:
        data = _still_unfiled(held)
        try:
            other = night.backend.read_bytes(Locator(stronger.path))
        except FileNotFoundError as error:
            raise Leave("other-gone") from error
        if _body(other) != _body(data) or _status(other) not in ("active", "unfiled"):
            raise Leave("other-changed")
        return forgotten(data, wanted)

    return build


def _expired(night: Night) -> Callable[[bytes | None], bytes]:
    wanted = Wanted("nothing in it that could be looked for", None, night.now)

    def build(held: bytes | None) -> bytes:
        data = _still_unfiled(held)
        frontmatter = read_frontmatter(data)
        text = data[frontmatter.body_start :].decode("utf-8", "replace")
        if not is_noise(text_of(frontmatter, "title") or "", text):
            raise Leave("edited-meanwhile")
        return forgotten(data, wanted)

    return build


def _still_unfiled(held: bytes | None) -> bytes:
    """The note, if nobody has filed it meanwhile and it is no probe. One that this stage has
    changed already is given back as it is."""
    if held is None:
        raise Leave("gone")
    if text_of(read_frontmatter(held), "probe") is not None:
        raise Leave("probe")
    if _status(held) == "active":
        raise Leave("filed-meanwhile")
    return held


def _status(data: bytes) -> str | None:
    return text_of(read_frontmatter(data), "status")


def _body(data: bytes) -> str:
    return fingerprint(data[read_frontmatter(data).body_start :])
