"""Scores how well a section answers a question, with a cross-encoder that the operator names.

A cross-encoder reads the two together, so nothing can be computed beforehand: the cost is paid in
each question, by the pair. Texts go to this model on this machine alone. Imports no torch.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from agentm_assets.models.manifest import MODEL_FILE, TOKENIZER_FILE
from agentm_assets.models.reranker_folder import (
    RerankerFolder,
    RerankerUnusable,
    RerankFailed,
    describe_reranker,
)
from agentm_assets.models.session import SESSION_ERRORS, available_cores, encodable, open_session

QUESTION_SHARE = 0.25
"""Of the window, for the question at most: a pasted log must leave room for the section."""

_CHARS_PER_TOKEN = 16  # a text is cut to this much of its window before it is tokenised
_IDS, _MASK, _TYPES = "input_ids", "attention_mask", "token_type_ids"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a section, tokenised together. Arrays of shape (1, tokens)."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]

    @property
    def tokens(self) -> int:
        return len(self.types[0])


class Reranker:
    """An opened cross-encoder. Thread-safe. Open it with `Reranker.open`.

    `threads`: pairs that are scored at once. A score depends on its pair alone.
    """

    def __init__(
        self,
        described: RerankerFolder,
        session: onnxruntime.InferenceSession,
        tokenizer: Tokenizer,
        threads: int,
    ) -> None:
        self.name = described.name
        self.sha256 = described.sha256
        self.model_id = described.model_id
        self.max_tokens = described.max_tokens
        self.threads = threads
        self._session = session
        self._inputs = frozenset(each.name for each in session.get_inputs())
        self._output = session.get_outputs()[0].name
        self._tokenizer = tokenizer
        self._question_tokens = max(1, int(self.max_tokens * QUESTION_SHARE))
        self._pool = ThreadPoolExecutor(threads, "agentm-rerank")

    @classmethod
    def open(
        cls, folder: Path, *, pinned: str | None = None, threads: int | None = None
    ) -> "Reranker":
        """Open `model.onnx` and `tokenizer.json` of a folder. `pinned`: the hash it has to have.
        `threads`: None for one a core this process may use. Raises RerankerUnusable."""
        described = describe_reranker(folder, pinned=pinned)
        try:
            session = open_session(folder / MODEL_FILE)
            tokenizer = Tokenizer.from_buffer((folder / TOKENIZER_FILE).read_bytes())
        except SESSION_ERRORS as error:
            raise RerankerUnusable(folder, f"it does not load ({error})") from error
        inputs = {each.name for each in session.get_inputs()}
        if _IDS not in inputs or not inputs <= {_IDS, _MASK, _TYPES}:
            raise RerankerUnusable(
                folder, f"its graph takes {', '.join(sorted(inputs))}, not {_IDS} and {_MASK}"
            )
        tokenizer.no_padding()
        # The longer of the two loses its end: the section, since the question is cut before.
        tokenizer.enable_truncation(described.max_tokens, strategy="longest_first")
        return cls(described, session, tokenizer, threads or available_cores())

    def pairs(self, question: str, texts: Sequence[str]) -> list[Pair]:
        """The question with each of the texts, cut to the window. Cheap beside scoring them."""
        asked = self._cut(question)
        return [self._pair(asked, text) for text in texts]

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """The model's own score of each pair, the higher the better; not bounded.

        Raises RerankFailed.
        """
        return list(self._pool.map(self._score, pairs))

    def longest_pair_ms(self) -> float:
        """Milliseconds that a pair of the whole window takes, scored alone. Raises RerankFailed."""
        longest = self.pairs("word " * self.max_tokens, ["word " * self.max_tokens])
        self.scores(longest)  # the first run pays for what later ones find
        began = perf_counter()
        self.scores(longest)
        return (perf_counter() - began) * 1000

    def _cut(self, question: str) -> str:
        head = encodable(question)[: self._question_tokens * _CHARS_PER_TOKEN]
        offsets = self._tokenizer.encode(head, add_special_tokens=False).offsets
        if len(offsets) <= self._question_tokens:
            return head
        return head[: offsets[self._question_tokens - 1][1]]

    def _pair(self, question: str, text: str) -> Pair:
        head = encodable(text)[: self.max_tokens * _CHARS_PER_TOKEN]
        encoding = self._tokenizer.encode(question, head)
        return Pair(
            np.asarray([encoding.ids], dtype=np.int64),
            np.asarray([encoding.type_ids], dtype=np.int64),
        )

    def _score(self, pair: Pair) -> float:
        feeds = {_IDS: pair.ids, _MASK: np.ones_like(pair.ids), _TYPES: pair.types}
        try:
            outputs: list[Any] = self._session.run(
                [self._output], {name: feeds[name] for name in self._inputs}
            )
        except SESSION_ERRORS as error:
            raise RerankFailed(f"{self.model_id} failed on a section ({error})") from error
        values = np.asarray(outputs[0], dtype=np.float64).ravel()
        if values.size == 1:
            score = float(values[0])
        elif values.size == 2:  # two classes: how much more it is for "relevant" than against
            score = float(values[1] - values[0])
        else:
            raise RerankFailed(f"{self.model_id} gives {values.size} numbers a pair, not 1 or 2")
        if not isfinite(score):
            raise RerankFailed(f"{self.model_id} gave no number for a section")
        return score
