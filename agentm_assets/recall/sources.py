"""Everything a recall reads, opened once and used for many questions."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.recall.arms import DenseArm, LexicalArm, QuestionEmbedder
from agentm_assets.recall.ranking import RankingRules
from agentm_assets.recall.sections import ReadNote

if TYPE_CHECKING:
    from agentm_assets.recall.rerank import Reranking


@dataclass(frozen=True, slots=True)
class Sources:
    """What a recall reads. `vectors` and `embedder` come together or not at all.

    `last_recalled` gives the day of each note's last genuine recall: fading counts from it, so it
    has no default that would age the whole vault unseen. `remarks` say what is degraded and why;
    they go into every answer. `not_indexed` are paths of notes that were captured a moment ago and
    are searched in memory. `reranking`: None where the operator names no cross-encoder.
    """

    facts: FactsReader
    lexical: LexicalArm
    vectors: DenseArm | None
    embedder: QuestionEmbedder | None
    rules: RankingRules
    read_note: ReadNote
    last_recalled: Mapping[str, date]
    entity_context: EntityContext
    remarks: tuple[str, ...]
    not_indexed: Set[str] = frozenset()
    reranking: "Reranking | None" = None
