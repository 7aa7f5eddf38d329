import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agentm_assets.models.embedder import Embedder
from agentm_assets.models.export import (
    ExportFailed,
    ensure_exported,
    models_folder,
    source_model_id,
)
from agentm_assets.models.manifest import MODEL_FILE, load_manifest
from agentm_assets.models.weights import locate

PASSAGES = [
    "The queue is drained by one worker because two wrote the same row twice.",
    "the same row: the queue, the worker. " * 30,
    "",
    "row",
]

CHILD = """
import sys
from pathlib import Path
from agentm_assets.models import export
from agentm_assets.models.weights import locate

run = export._run_exporter

def announced(*arguments):
    print("exporting", flush=True)
    run(*arguments)

export._run_exporter = announced
print(export.ensure_exported(locate(sys.argv[1]), Path(sys.argv[2])), flush=True)
"""

HALF = """
import sys
from pathlib import Path
from agentm_assets.models import export
from agentm_assets.models.weights import locate

def half(source, finished, precision, timeout):
    (finished / "model.onnx").write_bytes(b"half a mod")
    print("half", flush=True)
    sys.stdin.read()

export._run_exporter = half
export.ensure_exported(locate(sys.argv[1]), Path(sys.argv[2]))
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def leftovers(cache: Path) -> list[str]:
    return [
        path.name for path in models_folder(cache).iterdir() if path.name.startswith(".export-")
    ]


def test_the_float32_export_is_sentence_transformers(tmp_path: Path):
    from sentence_transformers import SentenceTransformer

    source = locate()
    folder = ensure_exported(source, tmp_path, precision="float32")
    texts = [
        *PASSAGES,
        "How do I rotate the signing key without logging everybody out?",
        "```sh\nfind . -name '*.log' -mtime +30 -print0 | xargs -0 gzip\n```",
        "Zürich, Œuvre, 東京, עברית, 🙂",
        "word " * 2000,
    ]
    expected = SentenceTransformer(str(source.folder), device="cpu").encode(
        texts, normalize_embeddings=True, show_progress_bar=False
    )
    embedder = Embedder.open(folder)
    cosines = (embedder.embed(texts) * expected).sum(axis=1)
    assert cosines.min() > 0.999
    assert embedder.embed_one(texts[4]) @ expected[4] > 0.999
    assert embedder.manifest.parity.graph_min > 0.999
    assert embedder.manifest.weights_sha256 == source.weights_sha256
    assert (embedder.dim, embedder.max_tokens) == (384, 256)


def test_int8_strays_little(minilm_folder: Path):
    parity = load_manifest(minilm_folder).parity
    assert parity.graph_min > 0.999
    assert 0.97 < parity.min <= parity.mean < 0.9999


def test_another_model_with_prompts_is_exported_faithfully(
    tiny_prompted_model: Path, tmp_path: Path
):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tiny_prompted_model), device="cpu")
    folder = ensure_exported(locate(str(tiny_prompted_model)), tmp_path, precision="float32")
    embedder = Embedder.open(folder, threads=1)
    assert embedder.max_tokens == 24
    documents = model.encode_document(PASSAGES, normalize_embeddings=True)
    assert (embedder.embed(PASSAGES) * documents).sum(axis=1).min() > 0.999
    queries = model.encode_query(PASSAGES, normalize_embeddings=True)
    asked = np.stack([embedder.embed_one(text) for text in PASSAGES])
    assert (asked * queries).sum(axis=1).min() > 0.999
    assert (documents * queries).sum(axis=1).min() < 0.999  # so the prompts were told apart


def test_two_processes_export_once_and_print_nothing_else(tiny_model: Path, tmp_path: Path):
    children = [start(CHILD, tiny_model, tmp_path) for _ in range(2)]
    printed = [child.communicate()[0].split("\n") for child in children]
    folder = str(models_folder(tmp_path) / source_model_id(locate(str(tiny_model))))
    assert sorted(len(lines) for lines in printed) == [2, 3]
    assert sorted(line for lines in printed for line in lines if line) == sorted(
        ["exporting", folder, folder]
    )
    assert [child.returncode for child in children] == [0, 0]
    assert leftovers(tmp_path) == []


def test_a_killed_export_leaves_nothing_that_counts_and_a_damaged_one_is_replaced(
    tiny_model: Path, tmp_path: Path
):
    child = start(HALF, tiny_model, tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == "half\n"
    child.kill()
    child.communicate()
    source = locate(str(tiny_model))
    target = models_folder(tmp_path) / source_model_id(source)
    assert not target.exists()
    assert len(leftovers(tmp_path)) == 1

    target.mkdir()
    (target / MODEL_FILE).write_bytes(b"damaged")
    folder = ensure_exported(source, tmp_path)  # the dead one's lock does not block
    assert folder == target
    assert leftovers(tmp_path) == []
    assert Embedder.open(folder).embed(PASSAGES).shape == (len(PASSAGES), 32)

    stamp = (folder / MODEL_FILE).stat().st_mtime_ns
    assert ensure_exported(source, tmp_path) == folder
    assert (folder / MODEL_FILE).stat().st_mtime_ns == stamp


def test_a_model_that_does_not_load_fails_with_the_reason(tmp_path: Path):
    model = tmp_path / "broken"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"no weights at all")
    (model / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(ExportFailed, match="can't be exported") as failure:
        ensure_exported(locate(str(model)), tmp_path / "cache")
    assert str(model) in str(failure.value)
    assert leftovers(tmp_path / "cache") == []


def test_an_export_that_computes_something_else_is_refused(tiny_model: Path, tmp_path: Path):
    """The exporter's own guard: one and the same tensor given for two inputs exports wrongly."""
    code = (
        "import sys, torch\n"
        "from pathlib import Path\n"
        "from agentm_assets.models import export_graph\n"
        "from agentm_assets.models.weights import locate\n"
        "export = torch.onnx.export\n"
        "def wrong(module, inputs, **rest):\n"
        "    return export(module, (inputs[0], inputs[0], *inputs[2:]), **rest)\n"
        "torch.onnx.export = wrong\n"
        "export_graph.export(locate(sys.argv[1]), Path(sys.argv[2]), 'float32')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny_model), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "NotExportable: the float32 graph strays from sentence-transformers" in done.stderr
