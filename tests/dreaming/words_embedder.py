"""An embedder of words: texts with the same words are near, whatever they mean. Deterministic."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from estate import Estate
from numpy.typing import NDArray

from agentm_assets.index.embed import embed_pending

SIZE = 256


class WordsEmbedder:
    model_id = "words-256"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.zeros((len(texts), SIZE), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                found[row, int(hashlib.sha256(word.encode()).hexdigest(), 16) % SIZE] += 1
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return (found / np.maximum(lengths, 1e-9)).astype(np.float32)


def embed(estate: Estate) -> None:
    """Index the vault and give each section its vector."""
    estate.index()
    embed_pending(estate.store, WordsEmbedder(), lock_file=estate.location.index_dir / "embed.lock")
