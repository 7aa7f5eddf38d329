"""Turns texts into unit vectors with onnxruntime and tokenizers. Imports no torch.

Every text is a run of its own, and several runs go in parallel: one thread a run, one run a core.
Dynamic int8 quantisation takes its scale from the whole batch, so that in a padded batch a text's
vector would depend on its neighbours (measured: cosine down to .972 between alone and in a batch
of 32). Alone, it is bit for bit the same however many texts and threads there are, nothing is
padded, and it is faster (measured on 2 cores, passages of 120 to 180 tokens: 91 a second against
49 to 70 in batches; see docs/performance.md). Memory is bounded by one window a thread.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from agentm_assets.models.manifest import (
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolderUnusable,
    ModelManifest,
    load_manifest,
)
from agentm_assets.models.session import SESSION_ERRORS, available_cores, encodable, open_session

Vectors = NDArray[np.float32]

_SLICE = 512  # texts between two progress reports
_CHARS_PER_TOKEN = 8  # first guess at how much of a text fills the window
# A token's end is certain when the text goes on at least this far behind it.
_MARGIN = 512


class EmbeddingFailed(Exception):
    """The model gave no usable vector for a text."""


class Embedder:
    """An exported model, ready to embed. Thread-safe; keeps one session (23 MB for the default).

    Open it with `Embedder.open`. `dim`: length of a vector. `max_tokens`: the window, special
    tokens included; what a text has beyond it is not read.
    """

    def __init__(
        self,
        manifest: ModelManifest,
        session: onnxruntime.InferenceSession,
        tokenizer: Tokenizer,
        threads: int,
    ) -> None:
        self.manifest = manifest
        self.model_id = manifest.model_id
        self.dim = manifest.dim
        self.max_tokens = manifest.max_tokens
        self.threads = threads
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, folder: Path, *, threads: int | None = None) -> "Embedder":
        """Open an export made by `models.export`. `threads`: texts embedded at once, None for
        one a core this process may use.

        Raises ModelFolderUnusable when a file is missing, altered or of another version.
        """
        manifest = load_manifest(folder)
        try:
            session = open_session(folder / MODEL_FILE)
            tokenizer = Tokenizer.from_buffer((folder / TOKENIZER_FILE).read_bytes())
        except SESSION_ERRORS as error:
            raise ModelFolderUnusable(folder, f"it does not load ({error})") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(manifest.max_tokens)
        return cls(manifest, session, tokenizer, threads or available_cores())

    def embed(
        self, texts: Sequence[str], *, on_progress: Callable[[int, int], None] | None = None
    ) -> Vectors:
        """Unit vectors of passages, shape `(len(texts), dim)`, in the order of the texts.

        `on_progress(done, total)` is called in this thread, at least every 512 texts. A vector
        depends on its text alone. Raises EmbeddingFailed.
        """
        vectors = np.empty((len(texts), self.dim), np.float32)
        if not texts:
            return vectors
        prompt = self.manifest.document_prompt
        with ThreadPoolExecutor(min(self.threads, len(texts))) as pool:
            for start in range(0, len(texts), _SLICE):
                part = texts[start : start + _SLICE]
                # Long texts first: the last ones to finish are then short, and no core waits.
                order = sorted(range(len(part)), key=lambda i: (-len(part[i]), i))
                results = pool.map(self._vector, (prompt + part[i] for i in order))
                for i, vector in zip(order, results, strict=True):
                    vectors[start + i] = vector
                if on_progress is not None:
                    on_progress(start + len(part), len(texts))
        return vectors

    def knows_word(self, word: str) -> bool:
        """Whether the model's vocabulary has the word as a whole: a common word of its language."""
        return self._tokenizer.token_to_id(word) is not None

    def embed_one(self, text: str) -> Vectors:
        """Unit vector of a question, shape `(dim,)`, in this thread. Raises EmbeddingFailed."""
        return self._vector(self.manifest.query_prompt + text)

    def _vector(self, text: str) -> Vectors:
        ids = self._token_ids(text)
        feeds: dict[str, NDArray[np.int64]] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        outputs: list[Any] = self._session.run(
            [self.manifest.output], {name: feeds[name] for name in self.manifest.inputs}
        )
        vector: Vectors = np.asarray(outputs[0][0], dtype=np.float32)
        if vector.shape != (self.dim,) or not abs(float(vector @ vector) - 1.0) < 1e-3:
            raise EmbeddingFailed(
                f"{self.model_id} gave no unit vector of {self.dim} numbers for a text of "
                f"{len(text)} characters"
            )
        return vector

    def _token_ids(self, text: str) -> NDArray[np.int64]:
        text = encodable(text)
        for head in _heads(text, self.max_tokens):
            encoding = self._tokenizer.encode(head)
            # All of a short text, or a window whose last token a longer head would not change.
            if len(head) == len(text) or (
                len(encoding.ids) >= self.max_tokens
                and max(end for _, end in encoding.offsets) + _MARGIN <= len(head)
            ):
                break
        ids = encoding.ids or [0]  # a model without special tokens has none for an empty text
        return np.asarray([ids], dtype=np.int64)


def _heads(text: str, max_tokens: int) -> Iterator[str]:
    """Growing beginnings of a text, the whole of it last: 1 MB is not tokenised for 256 tokens."""
    length = max_tokens * _CHARS_PER_TOKEN + _MARGIN
    while length < len(text):
        yield text[:length]
        length *= 4
    yield text
