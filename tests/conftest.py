"""Fixtures shared by every package's tests."""

import math
import os
import subprocess
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.models.export import default_model_id, ensure_exported, models_folder
from agentm_assets.models.manifest import ModelFolderUnusable, load_manifest
from agentm_assets.models.weights import locate as locate_weights
from resources.workspace import WorkspaceResource


def growth(small: Callable[[], object], large: Callable[[], object], floor: float) -> float:
    """How many times as much processor time `large` takes as `small`, or as `floor` seconds.

    The least of up to five runs each counts, without the garbage collector (whose cost grows with
    all that the other tests left alive). Four times the input: linear work gives 4, quadratic 16;
    the runs end as soon as the quotient is under 8, so that only slow code is run five times.
    """
    shortest = [math.inf, math.inf]
    for _ in range(5):
        for at, work in enumerate((small, large)):
            once = timeit.Timer(work, timer=time.process_time).timeit(1)
            shortest[at] = min(shortest[at], once)
        if shortest[1] < 8 * max(shortest[0], floor):
            break
    return shortest[1] / max(shortest[0], floor)


@pytest.fixture(name="growth", scope="session")
def growth_fixture() -> Callable[[Callable[[], object], Callable[[], object], float], float]:
    """`growth(small, large, floor)` for tests that work grows with the size and not faster."""
    return growth


@pytest.fixture(scope="session")
def minilm_folder(request: pytest.FixtureRequest) -> Path:
    """The embedded default, exported as int8.

    The export of the user's own cache is read when there is a usable one; else it is exported
    (some 20 s) into pytest's cache, where the next session finds it.
    """
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentm"
    folder = models_folder(users) / default_model_id()
    try:
        load_manifest(folder)
    except ModelFolderUnusable:
        return ensure_exported(locate_weights(), request.config.cache.mkdir("agentm"))
    return folder


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty vault of the test's own, with every derived file under the test's folder."""
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("AGENTM_CONFIG", "AGENTM_PROFILE", "AGENTM_STORAGE_RULES", "MEMORY_VAULT_PATH"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "vault"
    root.mkdir()
    monkeypatch.setenv("AGENTM_VAULT", str(root))
    return root


@pytest.fixture
def workspace(vault: Path) -> WorkspaceResource:
    """What the assets and sensors get for that vault."""
    return WorkspaceResource(vault=str(vault))


@pytest.fixture
def put(vault: Path) -> Callable[[str, bytes], Path]:
    def write(path: str, data: bytes) -> Path:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    return write


@pytest.fixture
def location(vault: Path) -> VaultLocation:
    return locate(os.environ)


@pytest.fixture
def git(vault: Path) -> Callable[..., str]:
    """Run git in the vault, which becomes a repository with what is there committed."""

    def run(*arguments: str) -> str:
        identity = ["-c", "user.name=op", "-c", "user.email=op@localhost"]
        command = ["git", "-C", str(vault), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    run("init", "-q", "-b", "main")
    run("add", "-A")
    run("commit", "-q", "--allow-empty", "-m", "start")
    return run


def build_cross_encoder(
    folder: Path, synonyms: tuple[tuple[str, ...], ...], *, outputs: int = 1, first: float = 0.0
) -> Path:
    """A real ONNX cross-encoder that counts how many words of the question the section holds.

    Each group of `synonyms` is one word to it; words of no group are unknown to it. It gives
    `outputs` numbers, `first` and then the count, or the count alone.
    """
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    words = [word for group in synonyms for word in group]
    ids = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))

    table = np.zeros((len(ids), len(synonyms)), np.float32)
    for at, group in enumerate(synonyms):
        for word in group:
            table[ids[word], at] = 1.0
    constants = {
        "table": table,
        "one": np.asarray([1.0], np.float32),
        "last": np.asarray([2], np.int64),
        "words": np.asarray([1], np.int64),
        "bias": np.asarray([[first] * (outputs - 1)], np.float32).reshape(1, outputs - 1),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["x"]),
        helper.make_node("Transpose", ["x"], ["xt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "xt"], ["same"]),
        helper.make_node("Cast", ["token_type_ids"], ["of_section"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "of_section"], ["of_question"]),
        helper.make_node("Unsqueeze", ["of_section", "words"], ["columns"]),
        helper.make_node("Mul", ["same", "columns"], ["held"]),
        helper.make_node("ReduceMax", ["held", "last"], ["best"], keepdims=0),
        helper.make_node("Mul", ["best", "of_question"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "words"], ["count"], keepdims=1),
        helper.make_node("Concat", ["bias", "count"], ["logits"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


@pytest.fixture(scope="session", name="build_cross_encoder")
def build_cross_encoder_fixture() -> Callable[..., Path]:
    """`build_cross_encoder(folder, synonyms, outputs=1, first=0.0)`."""
    return build_cross_encoder
