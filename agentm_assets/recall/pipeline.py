"""Recall: a question in, an answer with its confidence out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from agentm_assets.index.corrections import Correction
from agentm_assets.index.lexical_terms import compounds, normal
from agentm_assets.recall.answer import Answer, Grounds, RerankTrace, Trace
from agentm_assets.recall.confidence import grounds, judge, telling
from agentm_assets.recall.linked import linking
from agentm_assets.recall.names import unknown_names, unseen_share
from agentm_assets.recall.penalties import PenaltyContext
from agentm_assets.recall.pool import Pool, gather
from agentm_assets.recall.question import LONGEST_QUESTION, Asked, RecallOptions, understand
from agentm_assets.recall.rank import rank
from agentm_assets.recall.second_look import LOOKED_AT, look_again
from agentm_assets.recall.show import READ_AHEAD, Shown, show
from agentm_assets.recall.sources import Sources
from agentm_assets.recall.speakers import speaker_margin

_JUDGED_HITS = 3
"""Hits that the confidence looks at: the answer may stand in the second or third."""


def recall(question: str, options: RecallOptions, sources: Sources) -> Answer:
    """Answer a question from the vault.

    Raises QuestionRefused for a question or option that cannot be used, ServingUnreadable when the
    facts file fails while it is read.
    """
    asked = understand(question, options)
    corrections = _corrections(asked, sources)
    asked = replace(asked, topic=" ".join((asked.topic, *(each.meant for each in corrections))))
    terms = dict(sources.lexical.question_terms(asked.topic)) if asked.topic else {}
    for each in corrections:
        # Half of its weight: it may as well be another word, which the vault does not hold.
        half = terms.get(each.unknown, 0.0) / 2
        terms |= {each.unknown: half, each.term: max(half, terms.get(each.term, 0.0))}
    with sources.facts.snapshot():
        pool = gather(asked, options, sources)
        context = PenaltyContext(
            rules=sources.rules,
            wants_artifacts=asked.wants_artifacts,
            altitude_share=sources.facts.altitude_share,
            decay_applies=sources.rules.decay.enabled and not asked.about_time,
        )
        # The confidence looks at the same hits however few are asked for.
        wanted = max(options.k, _JUDGED_HITS)
        by_note = options.per == "note"
        limit = max(LOOKED_AT, wanted * READ_AHEAD if by_note else wanted)
        sources = replace(sources, read_note=cache(sources.read_note))  # notes are read twice
        reranking, trace = sources.reranking, None
        if reranking is not None:
            limit = max(limit, reranking.looks_at)
        ranked = look_again(rank(pool, asked, context, limit), pool, asked, terms, sources)
        if reranking is not None:
            ranked, trace = reranking.order(asked.text, ranked, terms, sources, options.rerank)
        shown = show(
            ranked,
            wanted,
            terms,
            sources,
            compounds=compounds(normal(asked.topic)),
            fold=by_note,
        )
        hits = shown.hits[: options.k]
        linked = linking(hits, asked, options, sources) if options.linked else ()
        found = _grounds(asked, terms, corrections, pool, shown, sources)
    untimely = asked.phrase is not None and asked.phrase.relative and not pool.has_asked_time
    confidence, verdict = judge(found, untimely=untimely)
    return Answer(
        verdict=verdict,
        confidence=confidence,
        mode="hybrid" if pool.hybrid else "lexical",
        why="; ".join(_remarks(asked, corrections, pool, shown, trace, sources)) or None,
        hits=hits,
        grounds=found,
        trace=Trace(rerank=trace),
        linked=linked,
    )


def _corrections(asked: Asked, sources: Sources) -> list[Correction]:
    """For words that the vault lacks. A common word of the language is meant as it is, where the
    model can tell: "gigs" is no typo in a vault of "gifs"."""
    if not asked.topic:
        return []
    knows = sources.embedder.knows_word if sources.embedder is not None else None
    return [
        each
        for each in sources.lexical.corrections(asked.topic)
        if knows is None or not knows(each.word.lower())
    ]


def _grounds(
    asked: Asked,
    terms: Mapping[str, float],
    corrections: Sequence[Correction],
    pool: Pool,
    shown: Shown,
    sources: Sources,
) -> Grounds | None:
    if not shown.evidence:
        return None
    weights = telling(terms, sources.lexical.analyse)
    spans = asked.phrase.spans if asked.phrase else ()
    corrected = sum(weights.get(each.unknown, 0.0) for each in corrections)
    doubted = corrected / (sum(weights.values()) or 1.0)
    judged = shown.evidence[:_JUDGED_HITS]
    known = frozenset[str]().union(*(each.spelled_otherwise for each in judged))
    return grounds(
        judged,
        sections=sources.lexical.count,
        unseen=min(1.0, unseen_share(weights, sources.lexical, known) + doubted),
        unknown_name=bool(unknown_names(asked.text, spans, sources.lexical, known)),
        unknown_thing=pool.names_unknown_thing,
        speaker=speaker_margin(pool, asked.names, weights, sources),
    )


def _remarks(
    asked: Asked,
    corrections: Sequence[Correction],
    pool: Pool,
    shown: Shown,
    reranked: RerankTrace | None,
    sources: Sources,
) -> list[str]:
    found = [*sources.remarks, *([pool.remark] if pool.remark else [])]
    if reranked is not None and reranked.trouble and reranked.why:
        found.append(reranked.why)
    found += [f"searched for {each.meant} instead of {each.word}" for each in corrections]
    if asked.phrase is not None:
        found += asked.phrase.assumed
        if not pool.has_asked_time:
            times = ", ".join(str(period) for period in asked.phrase.periods)
            found.append(f"nothing was captured in that time ({times})")
    if pool.undated:
        notes = "note was" if pool.undated == 1 else "notes were"
        found.append(f"{pool.undated} undated {notes} left out")
    if asked.shortened:
        found.append(f"only the first {LONGEST_QUESTION} characters of the question were used")
    if shown.unreadable:
        found.append(f"{shown.unreadable} of the hits could not be read: mend their permissions")
    return found
