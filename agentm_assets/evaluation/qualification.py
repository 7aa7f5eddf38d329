"""Which tier serves a job: a cheap one alone, once it was seen to judge as the strong one does.

Both are asked the same question about the same note (a shadow sample), and what they say of type,
altitude and class is compared. Samples stand in the vault, `Agent/_meta/tier-samples.jsonl`: they
were paid for. Each holds for the exact models and the pass version it was taken with, and for
`SAMPLE_DAYS`; so a qualification ends by itself when one of these changes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelError,
    ModelRequest,
    Provider,
    Tier,
)
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.retry import read_modify_write
from agentm_assets.storage.seam import ABSENT, StorageBackend

SAMPLES = Locator("Agent/_meta/tier-samples.jsonl")
VERSION = 1

LEAST_SAMPLES = 25
LEAST_AGREEMENT = 0.90
SAMPLE_DAYS = 90
"""A hosted model is served differently over time under one name; a quarter is how long we trust
what was seen. 25 and .90 are the bar set before the first sample was taken."""

JOBS = (
    "enrichment",
    "summary",
    "fuzzy-merge",
    "entity-rollup",
    "slop-borderline",
    "crystallize",
    "entity-identity-merge",
    "self-improvement-proposal",
)
PINNED_STRONG = frozenset({"crystallize", "entity-identity-merge", "self-improvement-proposal"})
"""What they get wrong outlives the time in which it can be reverted."""

Outcome = Literal["agreed", "differed", "excluded"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One question that both tiers were asked.

    `key` names the note, `differed` the fields in which they did not agree (or "unusable": the
    cheap one gave no answer that can be used). `excluded`: a tier could not be reached, or the
    strong one gave no yardstick; such a sample counts for nothing. `at`: UTC, ISO 8601.
    """

    job: str
    cheap: str
    strong: str
    pass_version: str
    key: str
    outcome: Outcome
    differed: tuple[str, ...]
    at: str

    def line(self) -> str:
        written = {"v": VERSION, **asdict(self)}
        return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job stands. `serves`: the tier that serves it now, None where none can. `why` says it
    in words. `by_field`: of the compared samples, how many differed in each field."""

    job: str
    serves: Tier | None
    why: str
    samples: int
    agreement: float | None
    excluded: int
    by_field: Mapping[str, int]
    oldest: str | None

    @property
    def text(self) -> str:
        """One line for the operator."""
        return f"{self.job}: {self.serves or 'nobody'} ({self.why})"


def take_sample(
    job: str,
    request: ModelRequest,
    cheap: Provider,
    strong: Provider,
    judged: Callable[[str], Judgment | None],
    *,
    pass_version: str,
    timeout: float,
    now: datetime,
) -> Sample:
    """Ask both and compare. `judged` makes a judgment of an answer, None of one that the schema
    gate turns away. Costs two calls."""

    def sample(outcome: Outcome, differed: tuple[str, ...] = ()) -> Sample:
        at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ids = cheap.model_id, strong.model_id
        return Sample(job, *ids, pass_version, request.key, outcome, differed, at)

    yardstick = _ask(strong, request, judged, timeout)
    if not isinstance(yardstick, Judgment):
        return sample("excluded")  # and the cheap one is not even asked
    found = _ask(cheap, request, judged, timeout)
    if found == "unreachable":
        return sample("excluded")
    if not isinstance(found, Judgment):
        return sample("differed", ("unusable",))
    differed = differences(found, yardstick)
    return sample("differed" if differed else "agreed", differed)


def differences(cheap: Judgment, strong: Judgment) -> tuple[str, ...]:
    """The fields in which two judgments file a note differently."""
    pairs = {
        "type": (cheap.type, strong.type),
        "altitude": (cheap.altitude, strong.altitude),
        "class": (cheap.memory_class, strong.memory_class),
    }
    return tuple(name for name, (one, other) in pairs.items() if one != other)


def serves_alone(
    job: str,
    samples: Iterable[Sample],
    *,
    cheap: str,
    strong: str,
    pass_version: str,
    now: datetime,
) -> bool:
    """Whether the cheap model does the job without the strong one, at exactly these model ids and
    this pass version."""
    standing = _standing(job, samples, cheap, strong, pass_version, now)
    return standing.serves == "cheap"


def tier_of(
    job: str,
    samples: Iterable[Sample],
    *,
    cheap: str | None,
    strong: str | None,
    pass_version: str,
    now: datetime,
) -> Standing:
    """The tier that serves a job. `cheap` and `strong`: the ids of the models that can be had. A
    job that nobody knows is the strong tier's; without one it waits."""
    if cheap is not None and strong is not None:
        return _standing(job, samples, cheap, strong, pass_version, now)
    if strong is not None:
        return Standing(job, "strong", "there is no cheap tier", 0, None, 0, {}, None)
    why = "there is no model" if cheap is None else "it waits for the strong tier"
    return Standing(job, None, why, 0, None, 0, {}, None)


def tier_table(
    samples: Sequence[Sample],
    *,
    cheap: str | None,
    strong: str | None,
    pass_versions: Mapping[str, str],
    now: datetime,
) -> tuple[Standing, ...]:
    """How every job stands. `pass_versions`: that of each job that has one."""
    return tuple(
        tier_of(
            job,
            samples,
            cheap=cheap,
            strong=strong,
            pass_version=pass_versions.get(job, ""),
            now=now,
        )
        for job in JOBS
    )


def read_samples(backend: StorageBackend) -> list[Sample]:
    """All samples, oldest first, without those of a later version. Raises StorageError."""
    try:
        data = backend.read_bytes(SAMPLES)
    except FileNotFoundError:
        return []
    found = (_parsed(line) for line in data.split(b"\n"))
    return [sample for sample in found if sample is not None]


def append_samples(backend: StorageBackend, samples: Sequence[Sample]) -> None:
    """Add samples; those that are there already are not added again. Raises StorageError."""
    added = [sample.line().encode("utf-8", "replace") for sample in samples]

    def longer(old: bytes) -> bytes:
        known = set(old.split(b"\n"))
        end = b"\n" if old and not old.endswith(b"\n") else b""
        new = [line + b"\n" for line in added if line not in known]
        return old + end + b"".join(new) if new else old

    if not backend.exists(SAMPLES):
        with suppress(FileExistsError):  # another run was quicker: its lines are added to
            backend.write_bytes(SAMPLES, longer(b""), expect=ABSENT)
    read_modify_write(backend, SAMPLES, longer)


def _standing(
    job: str,
    samples: Iterable[Sample],
    cheap: str,
    strong: str,
    pass_version: str,
    now: datetime,
) -> Standing:
    if cheap == strong:
        return Standing(job, "strong", "both tiers are one model", 0, None, 0, {}, None)
    if job not in JOBS:
        return Standing(job, "strong", "nobody knows this job", 0, None, 0, {}, None)
    valid = _valid(job, samples, cheap, strong, pass_version, now)
    compared = [each for each in valid if each.outcome != "excluded"]
    agreed = sum(1 for each in compared if each.outcome == "agreed")
    fields = [name for each in compared for name in each.differed]
    facts = (
        len(compared),
        agreed / len(compared) if compared else None,
        len(valid) - len(compared),
        {name: fields.count(name) for name in sorted(set(fields))},
        min((each.at for each in compared), default=None),
    )
    if job in PINNED_STRONG:
        return Standing(job, "strong", "pinned: its mistakes outlive a revert", *facts)
    if len(compared) < LEAST_SAMPLES:
        why = f"{len(compared)} of {LEAST_SAMPLES} samples"
        return Standing(job, "strong", why, *facts)
    why = f"{agreed} of {len(compared)} samples agree"
    # in whole numbers: 0.9 is not a number that a computer has
    good = agreed * 100 >= round(LEAST_AGREEMENT * 100) * len(compared)
    return Standing(job, "cheap" if good else "strong", why, *facts)


def _valid(
    job: str,
    samples: Iterable[Sample],
    cheap: str,
    strong: str,
    pass_version: str,
    now: datetime,
) -> list[Sample]:
    """The samples that still count, one a note: a note asked often would count for many."""
    first = (now.astimezone(UTC) - timedelta(days=SAMPLE_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ")
    last = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    wanted = (job, cheap, strong, pass_version)
    newest: dict[str, Sample] = {}
    for each in samples:
        same = (each.job, each.cheap, each.strong, each.pass_version) == wanted
        if not same or not first <= each.at <= last:
            continue
        held = newest.get(each.key)
        # one that could not be taken takes nothing back
        if held is None or held.outcome == "excluded" or each.outcome != "excluded":
            newest[each.key] = each
    return list(newest.values())


def _ask(
    provider: Provider,
    request: ModelRequest,
    judged: Callable[[str], Judgment | None],
    timeout: float,
) -> Judgment | Literal["unusable", "unreachable"]:
    try:
        reply = provider.ask(request, timeout=timeout)
    except AnswerUnusable:
        return "unusable"
    except ModelError:
        return "unreachable"
    return judged(reply.text) or "unusable"


def _parsed(line: bytes) -> Sample | None:
    try:
        written = json.loads(line)
        if written.pop("v") != VERSION:
            return None
        differed = tuple(str(name) for name in written.pop("differed"))
        sample = Sample(differed=differed, **written)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    texts = (sample.job, sample.cheap, sample.strong, sample.pass_version, sample.key, sample.at)
    whole = all(isinstance(text, str) for text in texts)
    return sample if whole and sample.outcome in ("agreed", "differed", "excluded") else None
