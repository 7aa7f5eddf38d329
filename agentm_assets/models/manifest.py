"""The manifest of an exported model: what the files are, where they came from, how to read them.

Plain dataclasses and json: the query path reads this in a cold process, where pydantic would cost
more than the check.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from agentm_assets.models.weights import sha256_file

Precision = Literal["int8", "float32"]

# Hashing 64 MB costs 40 ms where the processor has sha instructions; bigger files are compared by
# size alone, which still finds a cut file.
_HASH_BELOW = 64_000_000

FORMAT = 1  # layout of the folder and of this file
RECIPE = 1  # how the vectors come about; raise it when an export would give other vectors

MANIFEST_FILE = "manifest.json"
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


class ModelFolderUnusable(Exception):
    """An exported model can't be used: absent, incomplete, altered or of another version."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"the exported model in {folder} can't be used: {reason}. "
            "Delete that folder; the next `agentm index` exports it anew"
        )
        self.folder = folder
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """Size in bytes and sha256 (hex) of one file of the export."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Parity:
    """Cosines between the export and sentence-transformers, over the probe texts of the export.

    `graph_min`: the float32 graph, lowest. `mean`, `min`: the shipped precision.
    """

    graph_min: float
    mean: float
    min: float


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """`max_tokens` counts special tokens. The prompts are prepended to queries and documents."""

    model_id: str
    name: str
    weights_sha256: str
    config_sha256: str
    precision: Precision
    recipe: int
    dim: int
    max_tokens: int
    query_prompt: str
    document_prompt: str
    inputs: tuple[str, ...]  # names of the graph's inputs
    output: str
    quantization: str | None  # how the weights and activations were made int8
    versions: dict[str, str]  # of the packages that exported it
    parity: Parity
    files: dict[str, ExportedFile]


def model_id(name: str, weights_sha256: str, config_sha256: str, precision: Precision) -> str:
    """Names the vectors: vectors with different ids are never compared. Safe as a folder name."""
    return f"{name}@{weights_sha256[:12]}.{config_sha256[:6]}-{precision}-r{RECIPE}"


def dump_manifest(manifest: ModelManifest) -> str:
    """The manifest as JSON text, ending in a newline."""
    return json.dumps({"format": FORMAT, **asdict(manifest)}, indent=2, ensure_ascii=False) + "\n"


def load_manifest(folder: Path) -> ModelManifest:
    """Read the manifest and compare the files with it: sizes, and hashes below 64 MB.

    Raises ModelFolderUnusable when something is absent, unreadable, altered or of another
    version.
    """
    path = folder / MANIFEST_FILE
    try:
        raw: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ModelFolderUnusable(folder, f"{MANIFEST_FILE} is missing") from None
    except OSError as error:
        raise ModelFolderUnusable(
            folder, f"{MANIFEST_FILE} can't be read ({error.strerror})"
        ) from error
    except ValueError as error:
        raise ModelFolderUnusable(folder, f"{MANIFEST_FILE} is not JSON ({error})") from error
    try:
        if raw["format"] != FORMAT or raw["recipe"] != RECIPE:
            raise ModelFolderUnusable(
                folder,
                f"it has format {raw['format']} and recipe {raw['recipe']}, "
                f"this version of agentm reads {FORMAT} and {RECIPE}",
            )
        manifest = _parse(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFolderUnusable(
            folder, f"{MANIFEST_FILE} is not as expected ({type(error).__name__}: {error})"
        ) from error
    for name, expected in manifest.files.items():
        try:
            size = (folder / name).stat().st_size
        except OSError as error:
            raise ModelFolderUnusable(folder, f"{name} is missing") from error
        if size != expected.size:
            raise ModelFolderUnusable(folder, f"{name} has {size} bytes, not {expected.size}")
        if size < _HASH_BELOW and sha256_file(folder / name) != expected.sha256:
            raise ModelFolderUnusable(folder, f"{name} was altered (its sha256 differs)")
    return manifest


def _parse(raw: dict[str, Any]) -> ModelManifest:
    if raw["precision"] not in get_args(Precision):
        raise ValueError(f"unknown precision {raw['precision']!r}")
    for field in ("dim", "max_tokens"):
        if not isinstance(raw[field], int) or raw[field] < 1:
            raise ValueError(f"{field} is {raw[field]!r}")
    files = {name: ExportedFile(**entry) for name, entry in raw["files"].items()}
    if not {MODEL_FILE, TOKENIZER_FILE} <= files.keys():
        raise ValueError("it does not list the model's files")
    fields = {key: value for key, value in raw.items() if key != "format"}
    return ModelManifest(
        **{
            **fields,
            "inputs": tuple(raw["inputs"]),
            "parity": Parity(**raw["parity"]),
            "files": files,
        }
    )
