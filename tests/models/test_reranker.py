"""A real cross-encoder, built here, and every way in which a folder can be no use."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentm_assets.models.reranker import Reranker
from agentm_assets.models.reranker_folder import (
    MOST_TOKENS,
    RerankerUnusable,
    RerankFailed,
    describe_reranker,
    files_stamp,
    reranker_trouble,
)

Build = Callable[..., Path]
SYNONYMS = (("pictures", "images"), ("kettle",), ("boil", "boils"), ("water",))


@pytest.fixture
def folder(tmp_path: Path, build_cross_encoder: Build) -> Path:
    return build_cross_encoder(tmp_path / "overlap", SYNONYMS)


def scored(model: Reranker, question: str, *texts: str) -> list[float]:
    return model.scores(model.pairs(question, texts))


def test_it_scores_what_the_model_says_of_question_and_section_together(folder: Path) -> None:
    model = Reranker.open(folder)
    question = "boil water for pictures of a kettle"
    texts = ("The kettle boils water", "images", "nothing of it", "")
    assert scored(model, question, *texts) == [3.0, 1.0, 0.0, 0.0]
    assert scored(model, "", "kettle") == [0.0]


def test_a_score_depends_on_its_pair_alone(folder: Path) -> None:
    texts = [f"{'water ' * (n % 7)}kettle {'images ' * n}" for n in range(40)]
    alone = [scored(Reranker.open(folder, threads=1), "water images", each)[0] for each in texts]
    assert scored(Reranker.open(folder, threads=3), "water images", *texts) == alone


def test_a_long_question_leaves_room_and_a_long_section_loses_its_end(folder: Path) -> None:
    model = Reranker.open(folder)
    question = "kettle " + "log line " * 40_000
    early, late = "kettle " + "word " * 200_000, "word " * 200_000 + "kettle"
    pairs = model.pairs(question, [early, late, "kettle"])
    assert [pair.tokens for pair in pairs[:2]] == [MOST_TOKENS, MOST_TOKENS]
    assert pairs[2].tokens < MOST_TOKENS / 2
    assert model.scores(pairs) == [1.0, 0.0, 1.0]


def test_the_window_of_the_model_is_kept(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 32}))
    model = Reranker.open(folder)
    (pair,) = model.pairs("kettle", ["word " * 100])
    assert (model.max_tokens, pair.tokens) == (32, 32)


def test_text_that_utf8_cannot_hold_is_scored(folder: Path) -> None:
    assert scored(Reranker.open(folder), "kettle \ud83d", "\udcff kettle") == [1.0]


def test_of_two_classes_the_difference_counts(tmp_path: Path, build_cross_encoder: Build) -> None:
    folder = build_cross_encoder(tmp_path / "two", SYNONYMS, outputs=2, first=0.5)
    assert scored(Reranker.open(folder), "kettle water", "kettle", "tea") == [0.5, -0.5]


@pytest.mark.parametrize(
    ("outputs", "first", "said"), [(3, 0.0, "3 numbers"), (2, float("nan"), "no number")]
)
def test_no_usable_score_is_said(
    tmp_path: Path, build_cross_encoder: Build, outputs: int, first: float, said: str
) -> None:
    folder = build_cross_encoder(tmp_path / "odd", SYNONYMS, outputs=outputs, first=first)
    with pytest.raises(RerankFailed, match=said):
        scored(Reranker.open(folder), "kettle", "kettle")


def test_a_run_that_fails_is_said(folder: Path, tmp_path: Path, build_cross_encoder: Build) -> None:
    larger = build_cross_encoder(tmp_path / "larger", (*SYNONYMS, ("tea", "pot", "cup")))
    (larger / "tokenizer.json").replace(folder / "tokenizer.json")  # knows words the graph doesn't
    with pytest.raises(RerankFailed, match="failed on a section"):
        scored(Reranker.open(folder), "kettle", "cup")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named_with_the_cure(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(RerankerUnusable, match=f"{missing} is missing.*reranker.folder"):
        Reranker.open(folder)


def test_the_cure_names_what_names_the_folder(folder: Path) -> None:
    error = RerankerUnusable(folder, "it does not load")
    by_key = reranker_trouble(error, by_variable=False)
    by_variable = reranker_trouble(error, by_variable=True)
    assert "config set reranker.folder" in by_key
    assert "AGENTM_RERANKER names it" in by_variable
    assert "config set" not in by_variable
    assert f"in {folder} can't be used: it does not load" in by_variable


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_does_not_load(folder: Path, damaged: str) -> None:
    (folder / damaged).write_bytes(b"{}")
    with pytest.raises(RerankerUnusable, match="does not load"):
        Reranker.open(folder)


def test_a_graph_of_another_kind_is_refused(folder: Path) -> None:
    import onnx

    model = onnx.load(str(folder / "model.onnx"))
    for node in model.graph.node:
        node.input[:] = ["pixels" if name == "token_type_ids" else name for name in node.input]
    model.graph.input[1].name = "pixels"
    onnx.save(model, str(folder / "model.onnx"))
    with pytest.raises(RerankerUnusable, match="takes input_ids, pixels"):
        Reranker.open(folder)


@pytest.mark.parametrize("config", ["{", "[1]", '{"max_position_embeddings": "many"}', "\xff"])
def test_a_config_that_says_nothing_is_refused(folder: Path, config: str) -> None:
    (folder / "config.json").write_bytes(config.encode("latin-1"))
    with pytest.raises(RerankerUnusable, match=r"config\.json"):
        describe_reranker(folder)


@pytest.mark.parametrize("changed", ["model.onnx", "tokenizer.json", "config.json"])
def test_the_hash_covers_every_file_and_a_pinned_one_is_judged(folder: Path, changed: str) -> None:
    (folder / "config.json").write_text("{}")
    before, stamp = describe_reranker(folder), files_stamp(folder)
    assert before.model_id == f"overlap@{before.sha256[:12]}"
    assert Reranker.open(folder, pinned=before.sha256.upper()).model_id == before.model_id
    with (folder / changed).open("ab") as file:
        file.write(b" ")
    assert describe_reranker(folder).sha256 != before.sha256
    assert files_stamp(folder) != stamp
    with pytest.raises(RerankerUnusable, match="have the hash"):
        Reranker.open(folder, pinned=before.sha256)


def test_the_longest_pair_is_timed(folder: Path) -> None:
    assert Reranker.open(folder).longest_pair_ms() > 0
