"""A model as the judge: the question, the call, the answer through the schema gate; then a second
model's word on whether it is grounded.

What a call brought is kept until the note is written, so that a killed run does not pay for it
again (`enrichment.answers`).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Protocol

from agentm_assets.contract.rules import LoadedRules
from agentm_assets.contract.spaces import is_model_exempt
from agentm_assets.enrichment.answers import KeepingProvider, KeptAnswers, named
from agentm_assets.enrichment.batches import Batches
from agentm_assets.enrichment.gates.budget import Budget, estimate_of
from agentm_assets.enrichment.gates.grounding import (
    JudgeUnable,
    completeness_request,
    grounding_request,
    is_sampled,
    parse_completeness,
    parse_grounding,
    states_something,
)
from agentm_assets.enrichment.gates.privacy import ScrubbedSubject
from agentm_assets.enrichment.gates.schema import parse_answer
from agentm_assets.enrichment.judges import IN_BATCH, Completeness, HandedOver, TierUsage
from agentm_assets.enrichment.judgment import Judgment
from agentm_assets.enrichment.prompt import judgment_request
from agentm_assets.enrichment.refusal import Refusal
from agentm_assets.enrichment.rewritable import is_renamable, is_rewritable
from agentm_assets.enrichment.subject import Subject, Trigger
from agentm_assets.enrichment.version import stamp_of
from agentm_assets.models.protocol import (
    AnswerUnusable,
    ModelError,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    Provider,
    Tier,
    Usage,
)
from agentm_assets.models.spend import OverTheLine
from agentm_assets.privacy.scrub import scrub
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.personal import is_personal

PASS_VERSION: Final = stamp_of("pass", "strong").rpartition("+")[2]
"""Of the prompt and the schema, whichever model is asked: what shadow samples hold for."""


class ClosedToModels(Exception):
    """A note of a space that is closed to models was about to be sent. The gates should have
    stopped it; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Asker:
    """A model and how long it is waited for, in seconds."""

    tier: Tier
    provider: Provider
    timeout: float


class Shadow(Protocol):
    """Asks the tier that does not serve the same, to see whether it would judge alike."""

    def wants(self, path: str) -> bool:
        """Is a sample to be taken of this note?"""

    def take(
        self,
        request: ModelRequest,
        cheap: Provider,
        strong: Provider,
        judged: Callable[[str], Judgment | None],
    ) -> None: ...

    def records(self) -> Mapping[Locator, Sequence[bytes]]:
        """The samples since the last time, as lines for the vault's records."""


class ModelJudge:
    """Judges by the model that `serving` names; `checker` says whether an answer is grounded.

    `shadow` compares `cheap` with the serving strong tier. With `batches`, questions are handed
    over at the end of the run, and answers of former runs are taken up at its beginning.
    `also_served_by`: what serves at other times, whose judgments hold as well. `asked_with`: path
    -> the asker's phrasing, right after a capture.
    """

    is_generative: Final = True

    def __init__(
        self,
        serving: Asker,
        checker: Asker,
        kept: KeptAnswers,
        trigger: Trigger,
        *,
        batches: Batches | None = None,
        shadow: Shadow | None = None,
        cheap: Asker | None = None,
        also_served_by: Sequence[Asker] = (),
        asked_with: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.stamp: str = stamp_of(serving.provider.model_id, serving.tier)
        # Which tier serves changes with the samples; that alone makes no judgment worse.
        tiers = (serving,) if cheap is None else (serving, cheap)
        self.also_current = frozenset(
            stamp_of(each.provider.model_id, each.tier) for each in (*tiers, *also_served_by)
        )
        self._serving = serving
        self._checker = checker
        self._kept = kept
        self._trigger: Trigger = trigger
        self._batches = batches
        self._shadow = shadow
        self._cheap = cheap
        self._asked_with = asked_with or {}
        self._keys: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self._usage: dict[Tier, TierUsage] = {}
        self._taken_up: dict[str, Usage] = {}
        self._covered: list[float | None] = []
        if batches is not None:
            batches.collect()

    def judge(
        self, scrubbed: ScrubbedSubject, rules: LoadedRules, budget: Budget
    ) -> Judgment | Refusal:
        request = self._question(scrubbed, rules)
        reply = self._kept.get(self._serving.provider.model_id, request.key)
        self._note_key(scrubbed, self._serving, request)
        if reply is None and self._batches is not None:
            return self._in_batch(self._batches, request, scrubbed.subject, rules, budget)
        if reply is None:
            answered = self._ask(self._serving, request, scrubbed.subject, rules, budget)
            if isinstance(answered, Refusal):
                return answered
            reply = answered
        elif self._batches is not None:
            self._taken_up[scrubbed.subject.locator.key] = reply.usage
        self._sample(request, scrubbed, rules, budget)
        return parse_answer(reply.text, rules, scrubbed)

    def ground(
        self, scrubbed: ScrubbedSubject, judgment: Judgment, rules: LoadedRules, budget: Budget
    ) -> Refusal | None:
        if not states_something(scrubbed.subject, judgment):
            return None
        claims = "\0".join((judgment.title, judgment.summary or "", judgment.body or ""))
        about = {"note": self._question(scrubbed, rules).key, "claims": _digest(claims)}
        request = named(grounding_request(scrubbed, judgment, "grounding"), about)
        reply = self._checked(request, scrubbed, rules, budget)
        if isinstance(reply, Refusal):
            return reply
        verdict = parse_grounding(reply.text)
        if isinstance(verdict, JudgeUnable):
            # Only the verdict is asked for again.
            self._kept.drop(self._checker.provider.model_id, request.key)
            return Refusal("grounding", "grounding-unable", verdict.detail)
        if verdict is None and judgment.body and is_sampled(scrubbed.subject.locator.key):
            request = named(completeness_request(scrubbed, judgment, "completeness"), about)
            self._score(self._checked(request, scrubbed, rules, budget))
        return verdict

    def through(self, scrubbed: ScrubbedSubject, rules: LoadedRules) -> None:
        # What a batch cost counts where its answer is used: the run that reads it may be about
        # another month, or be killed before it reports.
        path = scrubbed.subject.locator.key
        used = self._taken_up.pop(path, None)
        if used is not None:
            self._count(self._serving.tier, used)
        for model_id, key in self._keys.pop(path, ()):
            self._kept.drop(model_id, key)

    def finish(self) -> HandedOver:
        return HandedOver() if self._batches is None else self._batches.submit()

    def usage(self) -> Mapping[Tier, TierUsage]:
        return dict(self._usage)

    def completeness(self) -> Completeness:
        given = [covered for covered in self._covered if covered is not None]
        unable = len(self._covered) - len(given)
        return Completeness(len(given), sum(given) / len(given) if given else 0.0, unable)

    def records(self) -> Mapping[Locator, Sequence[bytes]]:
        return {} if self._shadow is None else self._shadow.records()

    def remarks(self) -> tuple[str, ...]:
        return () if self._batches is None else tuple(self._batches.remarks)

    def _question(self, scrubbed: ScrubbedSubject, rules: LoadedRules) -> ModelRequest:
        asked = self._asked_with.get(scrubbed.subject.locator.key, ())
        request = judgment_request(
            scrubbed,
            rules,
            self._trigger,
            asked_with=tuple(scrub(each).text for each in asked),
        )
        subject = scrubbed.subject
        return named(
            request,
            {
                "stamp": self.stamp,
                "rules": rules.rules_hash,
                "file": subject.data_hash,
                "source": _digest(subject.source),
                "asked with": "\0".join(asked) if self._trigger == "eager" else "",
                "may": f"{is_rewritable(subject)} {is_renamable(subject)}",
            },
        )

    def _in_batch(
        self,
        batches: Batches,
        request: ModelRequest,
        subject: Subject,
        rules: LoadedRules,
        budget: Budget,
    ) -> Refusal:
        model_id = self._serving.provider.model_id
        unusable = self._kept.unusable(model_id, request.key)
        if unusable is not None:
            self._count(self._serving.tier, unusable.usage)
            self._kept.drop(model_id, request.key)
            return Refusal("model", "model-unusable", str(unusable))
        if not batches.holds(request.key):
            refused = budget.take(estimate_of(request))
            if refused is not None:
                return refused
            _require_open(subject, rules)
            batches.add(request)
        return Refusal("model", IN_BATCH, "a batch asks about it; its answer comes later")

    def _checked(
        self, request: ModelRequest, scrubbed: ScrubbedSubject, rules: LoadedRules, budget: Budget
    ) -> ModelReply | Refusal:
        """What the second model says, as far as it was not paid for before."""
        self._note_key(scrubbed, self._checker, request)
        reply = self._kept.get(self._checker.provider.model_id, request.key)
        return reply or self._ask(self._checker, request, scrubbed.subject, rules, budget)

    def _score(self, reply: ModelReply | Refusal) -> None:
        """Enter how much of a source its rewrite covers. It is reported, and stops no note."""
        if isinstance(reply, Refusal):
            if reply.gate != "budget":
                self._covered.append(None)
            return
        covered = parse_completeness(reply.text)
        self._covered.append(None if isinstance(covered, JudgeUnable) else covered)

    def _ask(
        self,
        asker: Asker,
        request: ModelRequest,
        subject: Subject,
        rules: LoadedRules,
        budget: Budget,
    ) -> ModelReply | Refusal:
        estimate = estimate_of(request)
        refused = budget.take(estimate)
        if refused is not None:
            return refused
        _require_open(subject, rules)
        keeping = KeepingProvider(asker.provider, self._kept)
        try:
            reply = keeping.ask(request, timeout=asker.timeout)
        except AnswerUnusable as error:
            self._spent(asker.tier, error.usage, estimate, budget)
            return Refusal("model", "model-unusable", str(error))
        except OverTheLine as error:
            return Refusal("budget", "budget-line", str(error))
        except ModelMisconfigured as error:
            return Refusal("model", "model-misconfigured", str(error))
        except ModelError as error:
            return Refusal("model", "model-unavailable", str(error))
        self._spent(asker.tier, reply.usage, estimate, budget)
        return reply

    def _sample(
        self,
        request: ModelRequest,
        scrubbed: ScrubbedSubject,
        rules: LoadedRules,
        budget: Budget,
    ) -> None:
        """Ask the cheap tier the same, if a sample is wanted and there is budget for one."""
        path = scrubbed.subject.locator.key
        if self._shadow is None or self._cheap is None or not self._shadow.wants(path):
            return
        is_new = self._kept.get(self._cheap.provider.model_id, request.key) is None
        if is_new:
            if budget.take(estimate_of(request)) is not None:
                return
            _require_open(scrubbed.subject, rules)
        self._note_key(scrubbed, self._cheap, request)

        def judged(text: str) -> Judgment | None:
            found = parse_answer(text, rules, scrubbed)
            return found if isinstance(found, Judgment) else None

        self._shadow.take(
            request,
            KeepingProvider(self._cheap.provider, self._kept),
            KeepingProvider(self._serving.provider, self._kept),
            judged,
        )
        reply = self._kept.get(self._cheap.provider.model_id, request.key)
        if is_new and reply is not None:
            self._count(self._cheap.tier, reply.usage)

    def _spent(self, tier: Tier, used: Usage, estimate: int, budget: Budget) -> None:
        budget.settle(estimate, used.input_tokens + used.output_tokens)
        self._count(tier, used)

    def _count(self, tier: Tier, used: Usage) -> None:
        held = self._usage.get(tier, TierUsage())
        self._usage[tier] = TierUsage(
            held.calls + 1,
            held.input_tokens + used.input_tokens,
            held.output_tokens + used.output_tokens,
            held.cost + (used.cost or 0.0),
        )

    def _note_key(self, scrubbed: ScrubbedSubject, asker: Asker, request: ModelRequest) -> None:
        entry = asker.provider.model_id, request.key
        keys = self._keys[scrubbed.subject.locator.key]
        if entry not in keys:
            keys.append(entry)


def _require_open(subject: Subject, rules: LoadedRules) -> None:
    """The last look before a call: raises ClosedToModels for a note that no model may see."""
    locator = subject.locator
    folded = locator.key.casefold()
    if (
        is_personal(locator)
        or is_model_exempt(locator.key, rules.rules)
        or is_model_exempt(folded, rules.rules)
    ):
        raise ClosedToModels(f"{locator} lies in a space that is closed to models; nothing is sent")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
