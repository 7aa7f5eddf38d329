"""The folder of a cross-encoder that the operator names: what has to be in it, and its hash.

Nothing ships: no package that can be installed offline holds such a model. The folder is what an
ONNX export of a sequence-classification model consists of: `model.onnx` and `tokenizer.json`, and
`config.json` where it comes with one. Its hash is shown, and judged where the operator gives one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentm_assets.models.manifest import MODEL_FILE, TOKENIZER_FILE, ModelFolderUnusable
from agentm_assets.models.weights import plain_name, sha256_file, sha256_of_list

CONFIG_FILE = "config.json"

MOST_TOKENS = 256
"""Tokens of a question and a section together: what a section is cut to bounds a pair's time."""

_LEAST_TOKENS = 16


class RerankerUnusable(ModelFolderUnusable):
    """The named cross-encoder cannot be used. The message says why and the cure."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(folder, reason)
        self.args = (
            f"the reranker in {folder} can't be used: {reason}. Name the folder of another one "
            "with `agentm config set reranker.folder PATH`, or take that key out",
        )


def reranker_trouble(error: ModelFolderUnusable, *, by_variable: bool) -> str:
    """What to tell the operator. `by_variable`: AGENTM_RERANKER names the folder, and goes before
    the key that the error's own cure speaks of."""
    if not by_variable:
        return str(error)
    return (
        f"the reranker in {error.folder} can't be used: {error.reason}. AGENTM_RERANKER names it: "
        "give that variable the folder of another one, or unset it"
    )


class RerankFailed(Exception):
    """The model gave no usable score for a pair."""


@dataclass(frozen=True, slots=True)
class RerankerFolder:
    """`sha256`: of the list of the names and hashes of its files. `max_tokens`: of a pair, special
    tokens counted."""

    folder: Path
    name: str
    sha256: str
    max_tokens: int

    @property
    def model_id(self) -> str:
        """Name and hash: scores with different ids are never compared."""
        return f"{self.name}@{self.sha256[:12]}"


def describe_reranker(folder: Path, *, pinned: str | None = None) -> RerankerFolder:
    """Look at the folder and hash it (a model of 90 MB takes about 60 ms).

    `pinned`: what the hash has to be. Raises RerankerUnusable.
    """
    names = [MODEL_FILE, TOKENIZER_FILE]
    if (folder / CONFIG_FILE).is_file():
        names.append(CONFIG_FILE)
    try:
        sha256 = sha256_of_list([(name, sha256_file(folder / name)) for name in names])
    except FileNotFoundError as error:
        raise RerankerUnusable(folder, f"{error.filename} is missing") from error
    except OSError as error:
        raise RerankerUnusable(folder, f"{error.filename or folder}: {error.strerror}") from error
    if pinned is not None and sha256 != pinned.lower():
        raise RerankerUnusable(
            folder,
            f"its files have the hash {sha256}, and `reranker.sha256` or "
            f"AGENTM_RERANKER_SHA256 asks for {pinned}",
        )
    return RerankerFolder(
        folder=folder,
        name=plain_name(str(folder.resolve())),
        sha256=sha256,
        max_tokens=_window(folder) if CONFIG_FILE in names else MOST_TOKENS,
    )


def files_stamp(folder: Path) -> tuple[tuple[str, int, int] | None, ...]:
    """Changes when a file of the model does: names with size and time, None for a missing one."""
    found: list[tuple[str, int, int] | None] = []
    for name in (MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE):
        try:
            status = (folder / name).stat()
        except OSError:
            found.append(None)
        else:
            found.append((name, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _window(folder: Path) -> int:
    """The model's own window where it is smaller than MOST_TOKENS."""
    try:
        config: Any = json.loads((folder / CONFIG_FILE).read_bytes())
        positions = config.get("max_position_embeddings", MOST_TOKENS)
    except (ValueError, AttributeError) as error:
        raise RerankerUnusable(folder, f"{CONFIG_FILE} is not a JSON object") from error
    if not isinstance(positions, int) or positions < _LEAST_TOKENS:
        raise RerankerUnusable(
            folder, f"{CONFIG_FILE} has max_position_embeddings {str(positions)[:20]!r}"
        )
    return min(MOST_TOKENS, positions)
