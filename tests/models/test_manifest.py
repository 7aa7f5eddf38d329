import json
from pathlib import Path

import pytest

from agentm_assets.models.manifest import (
    FORMAT,
    MANIFEST_FILE,
    MODEL_FILE,
    RECIPE,
    TOKENIZER_FILE,
    ExportedFile,
    ModelFolderUnusable,
    ModelManifest,
    Parity,
    dump_manifest,
    load_manifest,
    model_id,
)
from agentm_assets.models.weights import sha256_file


def a_manifest(folder: Path) -> ModelManifest:
    return ModelManifest(
        model_id=model_id("m", "a" * 64, "b" * 64, "int8"),
        name="m",
        weights_sha256="a" * 64,
        config_sha256="b" * 64,
        precision="int8",
        recipe=RECIPE,
        dim=4,
        max_tokens=8,
        query_prompt="query: ",
        document_prompt="",
        inputs=("input_ids", "attention_mask"),
        output="unit_vector",
        quantization="dynamic",
        versions={"torch": "1"},
        parity=Parity(graph_min=1.0, mean=0.99, min=0.98),
        files={
            name: ExportedFile((folder / name).stat().st_size, sha256_file(folder / name))
            for name in (MODEL_FILE, TOKENIZER_FILE)
        },
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / MODEL_FILE).write_bytes(b"graph")
    (tmp_path / TOKENIZER_FILE).write_bytes(b"{}")
    (tmp_path / MANIFEST_FILE).write_text(dump_manifest(a_manifest(tmp_path)), "utf-8")
    return tmp_path


def test_it_reads_back_what_was_written(folder: Path):
    assert load_manifest(folder) == a_manifest(folder)


def test_the_id_names_model_weights_configuration_and_precision():
    base = model_id("m", "a" * 64, "b" * 64, "int8")
    assert base.startswith("m@aaaaaaaaaaaa")
    others = {
        model_id("n", "a" * 64, "b" * 64, "int8"),
        model_id("m", "c" * 64, "b" * 64, "int8"),
        model_id("m", "a" * 64, "c" * 64, "int8"),
        model_id("m", "a" * 64, "b" * 64, "float32"),
    }
    assert base not in others
    assert len(others) == 4


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE])
def test_a_missing_file_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(ModelFolderUnusable, match=f"{name} is missing") as unusable:
        load_manifest(folder)
    assert "Delete that folder" in str(unusable.value)


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_a_cut_file_and_an_altered_file_are_found(folder: Path, name: str):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-1])
    with pytest.raises(ModelFolderUnusable, match=f"{name} has {len(whole) - 1} bytes"):
        load_manifest(folder)
    (folder / name).write_bytes(whole[:-1] + b"?")
    with pytest.raises(ModelFolderUnusable, match=f"{name} was altered"):
        load_manifest(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"format": FORMAT + 1},
        {"recipe": RECIPE + 1},
        {"precision": "int4"},
        {"dim": 0},
        {"dim": "384"},
        {"max_tokens": None},
        {"files": {}},
        {"parity": {"mean": 1.0}},
        {"inputs": None},
        {"surprise": 1},
    ],
)
def test_another_version_or_shape_is_refused(folder: Path, change: dict[str, object]):
    raw = json.loads((folder / MANIFEST_FILE).read_bytes())
    (folder / MANIFEST_FILE).write_text(json.dumps({**raw, **change}), "utf-8")
    with pytest.raises(ModelFolderUnusable):
        load_manifest(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"text"'])
def test_a_manifest_that_is_no_manifest_is_refused(folder: Path, content: bytes):
    (folder / MANIFEST_FILE).write_bytes(content)
    with pytest.raises(ModelFolderUnusable):
        load_manifest(folder)
