"""The graph over a large base. The bar is lowered: what is tested does not depend on the size."""

import sys
from pathlib import Path

import numpy as np
import pytest

from agentm_assets.index import vector_graph
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vectors import VectorPublisher, VectorReader

pytest.importorskip("usearch")

COUNT, DIM = 3_000, 32
NONE = np.empty(0, dtype=np.int64)


def vectors_of(seed: int, count: int) -> np.ndarray:
    """Around forty centres, as texts about forty things lie."""
    rnd = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((40, DIM))
    matrix = centres[rnd.integers(0, 40, count)] + 0.5 * rnd.standard_normal((count, DIM))
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(autouse=True)
def low_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_graph, "MIN_ROWS", 1_000)


def published(folder: Path, count: int = COUNT) -> VectorPublisher:
    publisher = VectorPublisher(folder)
    rows = (np.arange(count) * 3, vectors_of(1, count))
    publisher.publish("i", "m", 1, rows, NONE, full=True)
    return publisher


def test_a_graph_is_built_by_compacting_alone_and_only_over_a_large_base(tmp_path: Path):
    publisher = published(tmp_path / "large")
    assert not VectorReader.open(tmp_path / "large").state.segments[0].graph
    assert publisher.compact()
    assert VectorReader.open(tmp_path / "large").state.segments[0].graph
    assert not publisher.compact()
    assert not published(tmp_path / "small", 900).compact()


def test_nearly_all_true_neighbours_are_found_with_their_exact_cosines(tmp_path: Path):
    publisher = published(tmp_path)
    exact = VectorReader.open(tmp_path)
    publisher.compact()
    reader = VectorReader.open(tmp_path)
    for k, least in ((10, 0.98), (100, 0.95)):
        shared = 0
        for question in vectors_of(2, 50):
            truth, found = dict(exact.search(question, k)), dict(reader.search(question, k))
            assert len(found) == k
            assert list(found.values()) == sorted(found.values(), reverse=True)
            both = truth.keys() & found.keys()
            assert all(found[key] == truth[key] for key in both)
            shared += len(both)
        assert shared / (50 * k) > least


def test_deltas_over_the_graph_are_exact(tmp_path: Path):
    publisher = published(tmp_path)
    publisher.compact()
    question = vectors_of(3, 1)[0]
    nearest = [key for key, _ in VectorReader.open(tmp_path).search(question, 20)]
    replaced = (np.array([nearest[1]]), -question[np.newaxis])
    publisher.publish("i", "m", 2, replaced, np.array([nearest[0]]), full=False)
    publisher.publish("i", "m", 3, (np.array([1]), question[np.newaxis]), NONE, full=False)
    reader = VectorReader.open(tmp_path)
    assert reader.state.segments[0].graph
    assert [key for key, _ in reader.search(question, 19)] == [1, *nearest[2:]]


def test_where_the_graph_can_not_answer_the_search_is_exact(tmp_path: Path):
    publisher = published(tmp_path)
    question = vectors_of(3, 1)[0]
    truth = VectorReader.open(tmp_path).search(question, COUNT)
    publisher.compact()
    reader = VectorReader.open(tmp_path)
    assert reader.search(question, COUNT) == truth
    allowed = np.array([key for key, _ in truth[500:510]])
    assert reader.search(question, 5, allowed) == truth[500:505]
    nearest = np.array([key for key, _ in truth[:900]])
    publisher.publish(
        "i", "m", 2, (NONE, np.empty((0, DIM), np.float32)), nearest[:500], full=False
    )
    assert VectorReader.open(tmp_path).search(question, 5) == truth[500:505]


def test_without_usearch_the_search_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    publisher = published(tmp_path)
    question = vectors_of(3, 1)[0]
    truth = VectorReader.open(tmp_path).search(question, 50)
    publisher.compact()
    monkeypatch.setattr(vector_graph, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    assert VectorReader.open(tmp_path).search(question, 50) == truth
    assert not publisher.compact()


@pytest.mark.parametrize("how", ["gone", "cut", "garbled", "other"])
def test_a_damaged_graph_is_named_and_made_up_for(tmp_path: Path, how: str):
    publisher = published(tmp_path)
    publisher.compact()
    path = next(tmp_path.glob("*.graph"))
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "garbled":
        path.write_bytes(b"?" * len(content))
    else:
        vector_graph.build_graph(path, [vectors_of(1, 5)], DIM)
    with pytest.raises(ServingUnreadable, match=str(tmp_path)):
        VectorReader.open(tmp_path)
    assert publisher.state() is None
    published(tmp_path).compact()
    assert VectorReader.open(tmp_path).count == COUNT
    assert len(list(tmp_path.glob("*.graph"))) == 1
