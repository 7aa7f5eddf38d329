"""Exports one model, in a process of its own. The only module that imports torch.

Run by `models.export` as `python -m agentm_assets.models.export_graph SOURCE FOLDER PRECISION`;
writes model.onnx, tokenizer.json and manifest.json into FOLDER. What it prints is shown only when
it fails.
"""

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from agentm_assets.models.embedder import Embedder
from agentm_assets.models.manifest import (
    MANIFEST_FILE,
    MODEL_FILE,
    RECIPE,
    TOKENIZER_FILE,
    ExportedFile,
    ModelManifest,
    Parity,
    Precision,
    dump_manifest,
    model_id,
)
from agentm_assets.models.weights import ModelSource, sha256_file

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# The float32 graph must compute what sentence-transformers computes; int8 may stray as far as
# quantisation makes it (measured for the default over 192 passages: mean .991, lowest .977).
GRAPH_COSINE = 0.999
INT8_MEAN_COSINE = 0.97

_FEATURES = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUT = "unit_vector"
_QUANTIZATION = "dynamic, weights 7 of 8 bits per channel, activations uint8 per run"
_EXPORTERS = (
    "numpy",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)

# Short, long, beyond the window, empty, code, other scripts: the shapes that notes have.
_PROBES = (
    "",
    "sourdough",
    "How long does the dough have to rest before it goes into the oven?",
    "The nightly backup failed because the disk that holds the archive was full.",
    "Decision: the queue is drained by one worker, since two of them wrote the same row twice.",
    "def area(radius: float) -> float:\n    return math.pi * radius ** 2\n",
    "ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction",
    "# Garden\n\n- tomatoes: south wall\n- beans: behind the shed\n\n> water in the morning",
    "Die Besprechung über die Straßenbahn wurde auf Donnerstag verschoben.",
    "会議は木曜日に延期されました。",
    "Обновление сертификата каждые девяносто дней 🔒",
    "We compared three ways to keep the two stores in step. " * 12,
    "The valve on the left feeds the upper tank, the one on the right the lower. " * 60,
)


class NotExportable(Exception):
    """The model is of a kind that this export can't carry over faithfully."""


def export(source: ModelSource, folder: Path, precision: Precision) -> ModelManifest:
    """Write the export of `source` into the empty `folder`.

    Raises NotExportable, and whatever torch or onnxruntime raise.
    """
    model = _load(source)
    reference = _Reference.of(model)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        exact = Path(scratch)
        _write_tokenizer(model, exact / TOKENIZER_FILE)
        inputs = _write_graph(model, exact / MODEL_FILE)
        draft = ModelManifest(
            model_id=model_id(source.name, source.weights_sha256, source.config_sha256, precision),
            name=source.name,
            weights_sha256=source.weights_sha256,
            config_sha256=source.config_sha256,
            precision=precision,
            recipe=RECIPE,
            dim=len(reference.vectors[0]),
            max_tokens=int(model.max_seq_length),
            query_prompt=_prompt(model, "query"),
            document_prompt=_prompt(model, "document"),
            inputs=inputs,
            output=_OUTPUT,
            quantization=_QUANTIZATION if precision == "int8" else None,
            versions={package: version(package) for package in _EXPORTERS},
            parity=Parity(graph_min=0.0, mean=0.0, min=0.0),
            files={},
        )
        graph = _compare(draft, exact, reference)
        _require(graph.min >= GRAPH_COSINE, "the float32 graph", graph.min)
        (exact / TOKENIZER_FILE).replace(folder / TOKENIZER_FILE)
        if precision == "int8":
            _quantize(exact / MODEL_FILE, folder / MODEL_FILE)
        else:
            (exact / MODEL_FILE).replace(folder / MODEL_FILE)
    shipped = replace(_compare(draft, folder, reference), graph_min=graph.min)
    _require(shipped.mean >= INT8_MEAN_COSINE, f"the {precision} export", shipped.mean)
    return _write_manifest(replace(draft, parity=shipped), folder)


@dataclass(frozen=True, slots=True)
class _Reference:
    """What sentence-transformers makes of the probes: first as documents, then as questions."""

    vectors: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, model: "SentenceTransformer") -> "_Reference":
        vectors: list[tuple[float, ...]] = []
        for encode in (model.encode_document, model.encode_query):
            encoded = encode(
                list(_PROBES),
                batch_size=1,
                show_progress_bar=False,
                normalize_embeddings=True,
                convert_to_numpy=True,
            )
            vectors.extend(tuple(float(x) for x in vector) for vector in encoded)
        return cls(tuple(vectors))


def _compare(draft: ModelManifest, folder: Path, reference: _Reference) -> Parity:
    """Compare the export in `folder` with the reference, through the embedder that serves it."""
    _write_manifest(draft, folder)
    embedder = Embedder.open(folder, threads=1)
    vectors = [*embedder.embed(_PROBES), *(embedder.embed_one(probe) for probe in _PROBES)]
    cosines = [
        sum(a * b for a, b in zip(vector.tolist(), expected, strict=True))
        for vector, expected in zip(vectors, reference.vectors, strict=True)
    ]
    lowest = min(cosines)
    return Parity(graph_min=lowest, mean=sum(cosines) / len(cosines), min=lowest)


def _write_manifest(manifest: ModelManifest, folder: Path) -> ModelManifest:
    files = {
        name: ExportedFile(size=(folder / name).stat().st_size, sha256=sha256_file(folder / name))
        for name in (MODEL_FILE, TOKENIZER_FILE)
    }
    complete = replace(manifest, files=files)
    (folder / MANIFEST_FILE).write_text(dump_manifest(complete), "utf-8")
    return complete


def _load(source: ModelSource) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(source.folder), device="cpu", local_files_only=True, trust_remote_code=False
    )
    model.eval()
    if not model.max_seq_length:
        raise NotExportable("the model names no window (max_seq_length)")
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise NotExportable("the model leaves its prompt out of the pooling")
    return model


def _prompt(model: "SentenceTransformer", kind: str) -> str:
    """The prompt that sentence-transformers would prepend for this kind of text."""
    names = {"query": ("query",), "document": ("document", "passage", "corpus")}[kind]
    for name in (*names, model.default_prompt_name):
        if name is not None and name in model.prompts:
            return model.prompts[name] or ""
    return ""


def _write_tokenizer(model: "SentenceTransformer", path: Path) -> None:
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise NotExportable("the model has no fast tokenizer (tokenizer.json)")
    backend.save(str(path))


def _write_graph(model: "SentenceTransformer", path: Path) -> tuple[str, ...]:
    """The whole model, pooling and normalisation included, as one float32 graph."""
    import torch

    present = model.preprocess(["probe"])
    names = tuple(name for name in _FEATURES if name in present)

    class UnitVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *features: torch.Tensor) -> torch.Tensor:
            out = self.model(dict(zip(names, features, strict=True)))
            return torch.nn.functional.normalize(out["sentence_embedding"], p=2, dim=1)

    # Three tensors that share nothing: the exporter takes one object given twice for one input.
    example = {
        "input_ids": torch.arange(3, 35, dtype=torch.int64).reshape(2, 16),
        "attention_mask": torch.tensor([[1] * 16, [1] * 9 + [0] * 7], dtype=torch.int64),
        "token_type_ids": torch.zeros(2, 16, dtype=torch.int64),
    }
    batch = torch.export.Dim("batch", min=1, max=4096)
    sequence = torch.export.Dim("sequence", min=2, max=int(model.max_seq_length))
    program = torch.onnx.export(
        UnitVectors().eval(),
        tuple(example[name] for name in names),
        dynamo=True,
        dynamic_shapes=(({0: batch, 1: sequence},) * len(names),),
        input_names=list(names),
        output_names=[_OUTPUT],
        verbose=False,
    )
    if program is None:
        raise NotExportable("torch exported no graph")
    program.save(str(path))
    return names


def _quantize(graph: Path, quantized: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Seven bits of the weights' range: without VNNI instructions onnxruntime adds products of
    # uint8 and int8 in 16 bits, which full-range weights overflow. Retrieval is the same either
    # way (measured; see docs/performance.md).
    quantize_dynamic(
        graph, quantized, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
    )


def _require(holds: bool, what: str, cosine: float) -> None:
    if not holds:
        raise NotExportable(
            f"{what} strays from sentence-transformers (cosine {cosine:.4f}): not used"
        )


def main(arguments: list[str]) -> int:
    """`SOURCE` is a ModelSource as JSON, `FOLDER` an empty folder."""
    source, folder, precision = arguments
    if precision not in get_args(Precision):
        raise ValueError(f"unknown precision {precision!r}")
    fields: dict[str, Any] = json.loads(source)
    export(
        ModelSource(**{**fields, "folder": Path(fields["folder"])}),
        Path(folder),
        cast(Precision, precision),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
