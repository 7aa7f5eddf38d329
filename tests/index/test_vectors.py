import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vector_files import VectorRows
from agentm_assets.index.vectors import MAX_DELTAS, MIN_SPENT, VectorPublisher, VectorReader

DIM = 8
NONE = np.empty(0, dtype=np.int64)


def vectors_of(seed: int, count: int, dim: int = DIM) -> np.ndarray:
    matrix = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def rows(ids: list[int], seed: int, dim: int = DIM) -> tuple[np.ndarray, np.ndarray]:
    return np.array(ids, dtype=np.int64), vectors_of(seed, len(ids), dim)


def dead(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int64)


def full(folder: Path, ids: list[int], seed: int = 1, **other: object) -> VectorPublisher:
    publisher = VectorPublisher(folder)
    publisher.publish("idx", "model", 1, rows(ids, seed), NONE, full=True, **other)
    return publisher


def expected(content: dict[int, np.ndarray], question: np.ndarray, k: int) -> list[int]:
    scored = [
        (-float((vector.astype(np.float64) * question.astype(np.float64)).sum()), key)
        for key, vector in content.items()
    ]
    return [key for _, key in sorted(scored)[:k]]


def found(reader: VectorReader, question: np.ndarray, k: int = 1000) -> list[int]:
    return [key for key, _ in reader.search(question, k)]


def test_the_nearest_come_first_with_their_cosine(tmp_path: Path):
    ids, matrix = rows([7, 3, 9, 1], seed=2)
    VectorPublisher(tmp_path).publish("idx", "model", 5, (ids, matrix), NONE, full=True)
    reader = VectorReader.open(tmp_path)
    assert (reader.index_id, reader.model_id, reader.rev, reader.count) == ("idx", "model", 5, 4)
    hits = reader.search(matrix[2], 2)
    assert hits[0][0] == 9
    assert hits[0][1] == pytest.approx(1.0, abs=1e-6)
    assert hits[1][1] == pytest.approx(sorted(matrix @ matrix[2])[-2], abs=1e-6)
    assert reader.search(3.0 * matrix[2], 1)[0][1] == pytest.approx(1.0, abs=1e-6)
    assert reader.search(matrix[2], 0) == []
    assert len(reader.search(matrix[2], 99)) == 4


UPSERT = st.tuples(st.lists(st.integers(0, 30), unique=True, max_size=8), st.integers(0, 99))
STEP = st.tuples(
    UPSERT,
    st.lists(st.integers(0, 30), max_size=6),
    st.sampled_from(["delta"] * 18 + ["full", "compact"]),
)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEP, max_size=30), k=st.integers(1, 40))
def test_any_sequence_of_publishings_finds_what_a_dictionary_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple], k: int
):
    folder = tmp_path_factory.mktemp("vectors")
    publisher = full(folder, [5, 6])
    content = dict(zip([5, 6], vectors_of(1, 2), strict=True))
    reader = VectorReader.open(folder)
    for rev, ((ids, seed), buried, what) in enumerate(steps, 2):
        if what == "compact":
            publisher.compact()
        else:
            upserts = rows(ids, seed)
            done = publisher.publish(
                "idx", "model", rev, upserts, dead(*buried), full=what == "full"
            )
            assert done.bytes_written > 0
            content = {} if what == "full" else content
            content = {key: v for key, v in content.items() if key not in buried}
            content |= zip(ids, upserts[1], strict=True)
        reader.refresh()
        question = vectors_of(1000 + rev, 1)[0]
        if content:
            assert found(reader, question, k) == expected(content, question, k)
        assert found(VectorReader.open(folder), question) == found(reader, question)
        assert reader.count == len(content)


def test_the_answer_does_not_depend_on_how_rows_are_spread(tmp_path: Path):
    """Also among equal vectors: copies of one text are ordered by id, cut or not."""
    ids = list(range(600))
    matrix = np.repeat(vectors_of(3, 60, 384), 10, axis=0)
    order = np.random.default_rng(4).permutation(600)
    one = VectorPublisher(tmp_path / "one")
    one.publish("i", "m", 1, (np.array(ids)[order], matrix[order]), NONE, full=True)
    many = VectorPublisher(tmp_path / "many")
    many.publish("i", "m", 1, (np.array(ids[:1]), matrix[:1]), NONE, full=True)
    for start in range(1, 600, 37):
        part = order[(order >= start) & (order < start + 37)]
        many.publish("i", "m", start, (np.array(ids)[part], matrix[part]), NONE, full=False)
    readers = [VectorReader.open(tmp_path / name) for name in ("one", "many")]
    assert len(readers[0].state.segments) == 1 < len(readers[1].state.segments)
    for seed in range(5, 15):
        question = vectors_of(seed, 1, 384)[0]
        for k in (1, 5, 13, 600):
            results = [reader.search(question, k) for reader in readers]
            assert results[0] == results[1]
        assert [key for key, _ in results[0]] == sorted(
            (key for key, _ in results[0]), key=lambda key: (-dict(results[0])[key], key)
        )


@pytest.mark.parametrize("copies", [3, 7, 13])
def test_of_equal_vectors_the_lowest_id_wins_the_last_place(tmp_path: Path, copies: int):
    """A product may differ in its last bit between rows of one and the same vector."""
    matrix = np.repeat(vectors_of(3, 1, 384), copies, axis=0)
    publisher = VectorPublisher(tmp_path)
    publisher.publish("i", "m", 1, (np.arange(copies), matrix), NONE, full=True)
    reader = VectorReader.open(tmp_path)
    for seed in range(40):
        assert found(reader, vectors_of(seed, 1, 384)[0], 2) == [0, 1]


@pytest.mark.parametrize("allowed", [[], [3], [3, 3, 77], list(range(0, 400, 7)), list(range(390))])
def test_only_allowed_ids_are_found(tmp_path: Path, allowed: list[int]):
    publisher = full(tmp_path, list(range(300)))
    publisher.publish("idx", "model", 2, rows([5, 301, 302], 9), dead(3, 4), full=False)
    reader = VectorReader.open(tmp_path)
    question = vectors_of(11, 1)[0]
    everything = reader.search(question, 1000)
    assert (
        reader.search(question, 20, np.array(allowed, dtype=np.int64))
        == [hit for hit in everything if hit[0] in allowed][:20]
    )


def test_a_saved_note_writes_kilobytes_however_large_the_base_is(tmp_path: Path):
    count = 20_000
    publisher = VectorPublisher(tmp_path)
    base = publisher.publish(
        "i", "m", 1, (np.arange(count), vectors_of(1, count, 384)), NONE, full=True
    ).bytes_written
    assert base > count * 384 * 4
    written = []
    for save in range(300):
        start = 50 * save
        ids = np.arange(start, start + 5)
        done = publisher.publish(
            "i", "m", save + 2, (ids, vectors_of(save, 5, 384)), dead(start + 9), full=False
        )
        written.append(done.bytes_written)
        assert not done.compacted
    assert sorted(written)[len(written) // 2] < 15_000
    # Folding every delta each time would write more than twice this.
    assert sum(written) < len(written) * 45_000
    assert VectorReader.open(tmp_path).count == count - 300


def test_folded_deltas_bury_and_override_what_they_did_before(tmp_path: Path):
    publisher = full(tmp_path, list(range(200)), seed=1)
    content = dict(zip(range(200), vectors_of(1, 200), strict=True))
    sizes = [*[3] * 15, 30, *[1] * 30]  # a tiny one on top of a large one when it gets full
    for rev, size in enumerate(sizes, 2):
        ids = [(rev * 7 + i) % 260 for i in range(size)]
        upserts = rows(ids, rev)
        buried = (rev * 11) % 200
        publisher.publish("idx", "model", rev, upserts, dead(buried), full=False)
        content.pop(buried, None)
        content |= zip(ids, upserts[1], strict=True)
        reader = VectorReader.open(tmp_path)
        assert len(reader.state.segments) <= MAX_DELTAS + 1
        question = vectors_of(1000 + rev, 1)[0]
        assert found(reader, question) == expected(content, question, 1000)


def test_worn_files_are_folded_and_the_old_ones_removed(tmp_path: Path):
    publisher = full(tmp_path, list(range(50)))
    for rev in range(2, 400):
        ids = list(range(rev * 20, rev * 20 + 10))
        done = publisher.publish("idx", "model", rev, rows(ids, rev), dead(rev), full=False)
        named = {path.name.split(".")[0] for path in tmp_path.iterdir()} - {"manifest"}
        state = publisher.state()
        assert state is not None
        assert named == {segment.name for segment in state.segments}
        if done.compacted:
            assert len(state.segments) == 1
            assert rev * 11 >= MIN_SPENT
            return
    pytest.fail("it was never folded")


def test_compacting_changes_files_and_nothing_else(tmp_path: Path):
    publisher = full(tmp_path, list(range(40)))
    publisher.publish("idx", "model", 2, rows([1, 99], 5), dead(7, 8), full=False)
    before = VectorReader.open(tmp_path)
    assert publisher.compact()
    assert not publisher.compact()
    after = VectorReader.open(tmp_path)
    question = vectors_of(6, 1)[0]
    assert after.search(question, 99) == before.search(question, 99)
    assert (after.rev, after.count) == (before.rev, before.count) == (2, 39)
    assert (len(after.state.segments), len(before.state.segments)) == (1, 2)


def test_publishing_the_same_again_changes_nothing_that_is_found(tmp_path: Path):
    publisher = full(tmp_path, list(range(40)))
    question = vectors_of(6, 1)[0]
    for _ in range(3):
        publisher.publish("idx", "model", 2, rows([1, 99], 5), dead(7, 8), full=False)
        reader = VectorReader.open(tmp_path)
        assert reader.count == 39
        assert found(reader, question).count(99) == 1


def test_a_buried_id_that_comes_back_is_found_again(tmp_path: Path):
    publisher = full(tmp_path, [1, 2, 3])
    publisher.publish("idx", "model", 2, rows([], 0), dead(2), full=False)
    assert VectorReader.open(tmp_path).count == 2
    publisher.publish("idx", "model", 3, rows([2], 8), dead(2), full=False)
    reader = VectorReader.open(tmp_path)
    assert reader.search(vectors_of(8, 1)[0], 1)[0][0] == 2
    publisher.compact()
    assert VectorReader.open(tmp_path).search(vectors_of(8, 1)[0], 1)[0][0] == 2


def test_an_empty_vault_and_its_first_vectors(tmp_path: Path):
    publisher = VectorPublisher(tmp_path)
    assert publisher.state() is None
    publisher.publish("idx", "model", 1, (NONE, np.empty((0, 0), np.float32)), NONE, full=True)
    reader = VectorReader.open(tmp_path)
    assert (reader.count, reader.search(vectors_of(1, 1)[0], 5)) == (0, [])
    publisher.publish("idx", "model", 2, rows([4], 1), dead(9), full=False)
    assert reader.refresh()
    assert not reader.refresh()
    assert found(reader, vectors_of(1, 1)[0]) == [4]


def test_models_indexes_and_dimensions_are_never_mixed(tmp_path: Path):
    publisher = full(tmp_path, [1, 2])
    with pytest.raises(ServingUnreadable, match="another index or model"):
        publisher.publish("idx", "other", 2, rows([3], 1), NONE, full=False)
    with pytest.raises(ServingUnreadable, match="another index or model"):
        publisher.publish("other", "model", 2, rows([3], 1), NONE, full=False)
    with pytest.raises(ValueError, match="16 numbers do not go beside 8"):
        publisher.publish("idx", "model", 2, rows([3], 1, 16), NONE, full=False)
    reader = VectorReader.open(tmp_path)
    assert (reader.count, reader.rev) == (2, 1)
    with pytest.raises(ValueError, match="shape"):
        reader.search(vectors_of(1, 1, 16)[0], 1)
    publisher.publish("idx", "other", 2, rows([3], 1, 16), NONE, full=True)
    assert (VectorReader.open(tmp_path).model_id, VectorReader.open(tmp_path).count) == ("other", 1)


@pytest.mark.parametrize("bad", ["zero", "nan", "inf", "long", "twice", "missing", "flat"])
def test_vectors_that_are_none_are_refused(tmp_path: Path, bad: str):
    publisher = full(tmp_path, [1, 2])
    ids, matrix = rows([3, 4], 1)
    if bad == "twice":
        ids = dead(3, 3)
    elif bad == "missing":
        ids = dead(3)
    elif bad == "flat":
        matrix = matrix[:, 0]
    else:
        matrix[1] = {"zero": 0.0, "nan": np.nan, "inf": np.inf, "long": 2.0}[bad]
    for whole in (False, True):
        with pytest.raises(ValueError, match=r"."):
            publisher.publish("idx", "model", 2, (ids, matrix), NONE, full=whole)
    assert VectorReader.open(tmp_path).rev == 1
    reader = VectorReader.open(tmp_path)
    for question in (np.zeros(DIM, np.float32), np.full(DIM, np.nan, np.float32)):
        with pytest.raises(ValueError, match="zero or not finite"):
            reader.search(question, 1)


def damaged(folder: Path, how: str) -> None:
    manifest = folder / "manifest.json"
    base = next(folder.glob("base-*.vectors.npy"))
    ids = next(folder.glob("base-*.ids.npy"))
    if how == "no manifest":
        manifest.unlink()
    elif how == "cut manifest":
        manifest.write_bytes(manifest.read_bytes()[:-10])
    elif how == "no segments":
        state = manifest.read_text()
        manifest.write_text(state[: state.index("[")] + "[]}")
    elif how == "a list":
        manifest.write_text("[]")
    elif how == "newer":
        manifest.write_text(manifest.read_text().replace('"format": 2', '"format": 3'))
    elif how == "words for numbers":
        manifest.write_text(manifest.read_text().replace('"rows": 40', '"rows": "40"'))
    elif how == "no vectors":
        base.unlink()
    elif how == "cut vectors":
        base.write_bytes(base.read_bytes()[:-1])
    elif how == "empty vectors":
        base.write_bytes(b"")
    elif how == "other vectors":
        np.save(base, np.zeros((3, 3), np.float32))
    elif how == "garbled head":
        base.write_bytes(b"?" * base.stat().st_size)
    elif how == "cut ids":
        ids.write_bytes(ids.read_bytes()[:-1])
    elif how == "garbled ids":
        np.save(ids, np.arange(40)[::-1].copy())
    elif how == "pickled ids":
        np.save(ids, np.array([object()] * 40), allow_pickle=True)


@pytest.mark.parametrize(
    "how",
    [
        *("no manifest", "cut manifest", "no segments", "a list", "newer", "words for numbers"),
        *("no vectors", "cut vectors", "empty vectors", "other vectors", "garbled head"),
        *("cut ids", "garbled ids", "pickled ids"),
    ],
)
def test_damage_is_named_and_a_full_publishing_heals_it(tmp_path: Path, how: str):
    publisher = full(tmp_path, list(range(40)))
    publisher.publish("idx", "model", 2, rows([1], 5), dead(7), full=False)
    damaged(tmp_path, how)
    with pytest.raises(ServingUnreadable, match=str(tmp_path)):
        VectorReader.open(tmp_path)
    assert publisher.state() is None
    with pytest.raises(ServingUnreadable):
        publisher.publish("idx", "model", 3, rows([2], 5), NONE, full=False)
    with pytest.raises(ServingUnreadable):
        publisher.compact()
    publisher.publish("idx", "model", 3, rows([2, 9], 5), NONE, full=True)
    assert VectorReader.open(tmp_path).count == 2
    assert len(list(tmp_path.iterdir())) == 4  # nothing of the damaged files remains


def test_damaged_numbers_are_noticed_when_they_are_read_and_made_up_for(tmp_path: Path):
    publisher = full(tmp_path, list(range(40)))
    publisher.publish("idx", "model", 2, rows([50], 1), NONE, full=False)
    base = next(tmp_path.glob("base-*.vectors.npy"))
    content = bytearray(base.read_bytes())
    content[-4:] = b"\xff\xff\xff\xff"
    base.write_bytes(content)
    assert publisher.state() is not None  # opening reads no numbers
    with pytest.raises(ServingUnreadable, match="not finite"):
        VectorReader.open(tmp_path).search(vectors_of(1, 1)[0], 3)
    assert publisher.state() is None
    with pytest.raises(ServingUnreadable, match="damaged"):
        publisher.publish("idx", "model", 3, rows([51], 1), NONE, full=False)
    with pytest.raises(ServingUnreadable, match="damaged"):
        publisher.compact()
    full(tmp_path, list(range(40)))
    assert publisher.state() is not None
    assert len(VectorReader.open(tmp_path).search(vectors_of(1, 1)[0], 3)) == 3


def test_a_reader_keeps_what_it_opened_while_others_fold_and_replace(tmp_path: Path):
    publisher = full(tmp_path, list(range(40)))
    reader = VectorReader.open(tmp_path)
    question = vectors_of(6, 1)[0]
    before = reader.search(question, 99)
    publisher.publish("idx", "model", 2, rows([50], 5), dead(*range(30)), full=False)
    publisher.compact()
    assert reader.search(question, 99) == before
    publisher.publish("idx", "model", 3, rows([1], 5), NONE, full=True)
    assert reader.search(question, 99) == before
    assert reader.rev == 1
    assert reader.refresh()
    assert found(reader, question) == [1]


def test_a_reader_whose_folder_is_damaged_keeps_what_it_has(tmp_path: Path):
    full(tmp_path, list(range(40)))
    reader = VectorReader.open(tmp_path)
    before = reader.search(vectors_of(6, 1)[0], 99)
    damaged(tmp_path, "cut manifest")
    with pytest.raises(ServingUnreadable):
        reader.refresh()
    assert reader.search(vectors_of(6, 1)[0], 99) == before


PUBLISHING = """
import sys
from pathlib import Path
import numpy as np
from agentm_assets.index.vectors import VectorPublisher
publisher = VectorPublisher(Path(sys.argv[1]))
none = np.empty(0, dtype=np.int64)
print("ready", flush=True)
sys.stdin.readline()
for rev in range(2, 2 + int(sys.argv[2])):
    # Every state holds one vector under each of the ids 0 to 99, and all equal: the rev's own.
    vector = np.zeros(8, np.float32)
    vector[rev % 8] = 1.0
    publisher.publish(
        "idx", "model", rev, (np.arange(100), np.tile(vector, (100, 1))), none, full=rev % 7 == 0
    )
    if rev % 3 == 0:
        publisher.compact()
print("done", flush=True)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def test_a_reader_beside_a_folding_publisher_sees_only_whole_states(tmp_path: Path):
    first = np.zeros((100, DIM), np.float32)
    first[:, 1] = 1.0
    VectorPublisher(tmp_path).publish("idx", "model", 1, (np.arange(100), first), NONE, full=True)
    child = start(PUBLISHING, tmp_path, 150)
    assert child.stdin is not None
    assert line_of(child) == "ready"
    child.stdin.write("go\n")
    child.stdin.flush()
    kept = VectorReader.open(tmp_path)
    seen: set[int] = set()
    while True:
        for reader in (VectorReader.open(tmp_path), kept):
            reader.refresh()
            hits = reader.search(np.eye(DIM, dtype=np.float32)[reader.rev % DIM], 200)
            assert [key for key, _ in hits] == list(range(100))
            assert {score for _, score in hits} == {1.0}
            seen.add(reader.rev)
        if child.poll() is not None:
            break
    assert child.communicate()[0] == "done\n"
    assert VectorReader.open(tmp_path).rev == 151
    assert len(seen) > 5


KILLED = """
import sys
from pathlib import Path
import numpy as np
from agentm_assets.index import vectors
publisher = vectors.VectorPublisher(Path(sys.argv[1]))

def stop(*arguments):
    print("written", flush=True)
    sys.stdin.read()

setattr(vectors, sys.argv[2], stop)
ids = np.array([1, 70], dtype=np.int64)
publisher.publish(
    "idx", "model", 2, (ids, np.eye(2, 8, dtype=np.float32)), np.array([5]), full=False
)
publisher.compact()
"""


@pytest.mark.parametrize("before", ["write_manifest", "remove_unnamed"])
def test_a_publisher_killed_before_or_after_its_manifest_is_made_up_for(
    tmp_path: Path, before: str
):
    publisher = full(tmp_path, list(range(40)))
    child = start(KILLED, tmp_path, before)
    assert line_of(child) == "written"
    child.kill()
    child.communicate()
    reader = VectorReader.open(tmp_path)
    assert reader.rev == (1 if before == "write_manifest" else 2)
    ids = set(found(reader, vectors_of(1, 1)[0]))
    assert ids & {5, 70} == ({5} if before == "write_manifest" else {70})
    upserts = (np.array([1, 70]), np.eye(2, 8, dtype=np.float32))
    publisher.publish("idx", "model", 2, upserts, dead(5), full=False)
    publisher.compact()
    reader = VectorReader.open(tmp_path)
    assert (reader.rev, reader.count) == (2, 40)
    assert found(reader, np.eye(8, dtype=np.float32)[1], 1) == [70]
    assert 5 not in found(reader, vectors_of(1, 1)[0])
    assert len(list(tmp_path.iterdir())) == 4


def test_rows_that_come_in_pieces_in_any_order_are_written_to_their_places(tmp_path: Path):
    ids, vectors = rows(list(range(50)), seed=5)
    order = np.random.default_rng(1).permutation(50)
    pieces = [(order[at : at + 7], vectors[order[at : at + 7]]) for at in range(0, 50, 7)]
    publisher = VectorPublisher(tmp_path)
    publisher.publish("i", "m", 1, VectorRows(ids, DIM, pieces), dead(), full=True)
    content = dict(zip(ids.tolist(), vectors, strict=True))
    for question in vectors_of(9, 5):
        assert found(VectorReader.open(tmp_path), question, 50) == expected(content, question, 50)


def test_pieces_that_fall_short_or_are_no_unit_vectors_publish_nothing(tmp_path: Path):
    ids, vectors = rows(list(range(20)), seed=5)
    publisher = full(tmp_path, [1, 2, 3])
    for pieces in ([(np.arange(19), vectors[:19])], [(np.arange(20), vectors * 2)]):
        with pytest.raises(ValueError, match=r"20 ids came with 19|unit length"):
            publisher.publish("i", "m", 2, VectorRows(ids, DIM, pieces), dead(), full=True)
        assert VectorReader.open(tmp_path).count == 3
    full(tmp_path, [4])
    assert len(list(tmp_path.glob("*.npy"))) == 3
