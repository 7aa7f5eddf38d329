import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.models.embedder import Embedder, _heads
from agentm_assets.models.manifest import MODEL_FILE, ModelFolderUnusable


@pytest.fixture(scope="module")
def embedder(minilm_folder: Path) -> Embedder:
    return Embedder.open(minilm_folder)


SENTENCES = [
    "The dough rests overnight in the fridge and is baked at 230 degrees.",
    "Sourdough starter is fed with rye flour every morning.",
    "Yeast dies above sixty degrees, so let the milk cool first.",
    "The backup job failed because the archive disk was full.",
    "Old snapshots are pruned after thirty days to free space.",
    "Restore drills happen on the first Monday of each quarter.",
    "The signing key is rotated every ninety days by the release engineer.",
    "Passwords are stored as argon2 hashes with a pepper from the vault.",
    "Two-factor login is mandatory for everyone with production access.",
    "The invoice for the hosting provider is paid by direct debit.",
    "Travel costs are refunded within two weeks of handing in receipts.",
    "The tax adviser needs the yearly statement before the end of May.",
    "Tomatoes grow along the south wall and need water in the morning.",
    "Slugs eat the lettuce unless a copper band surrounds the bed.",
    "Prune the apple tree in late winter, before the buds open.",
    "The train to Basel leaves from platform seven at half past six.",
    "Bicycles need a reservation on long-distance trains in summer.",
    "The ferry is cancelled when the wind exceeds eight Beaufort.",
    "The boiler loses pressure and must be topped up to 1.5 bar.",
    "The washing machine's filter is behind the lower right panel.",
    "The chimney sweep comes in October and needs access to the attic.",
    "Unit tests run before every push, integration tests every night.",
    "Flaky tests are quarantined and fixed within a week.",
    "A pull request needs one review from somebody of another team.",
    "The queue is drained by a single worker to keep the order of events.",
    "Messages that fail five times go to the dead letter queue.",
    "The cache expires after ten minutes and is warmed at deployment.",
    "Postgres needs more shared memory for the nightly aggregation.",
    "An index on the foreign key made the join forty times faster.",
    "Long transactions block the vacuum and bloat the tables.",
    "The customer prefers short mails without attachments.",
    "Anna moved from the sales team to support in March.",
    "The landlord wants the heating meters read in January.",
    "Choir rehearsal is on Wednesdays, in the hall behind the church.",
    "The violin's bow was rehaired and the bridge replaced.",
    "Learn twenty words of Italian a day before the journey to Siena.",
    "The cat gets her thyroid tablet twice a day with food.",
    "The dentist recommends a night guard against grinding teeth.",
    "Running three times a week lowered the resting pulse to fifty.",
    "The telescope's mirror must be collimated after each transport.",
]
QUESTIONS = {
    "how hot should the oven be for bread": 0,
    "why did we lose last night's copy of the data": 3,
    "how often do the cryptographic secrets change": 6,
    "what protects the salad from snails": 13,
    "can I take my bike on the intercity": 16,
    "heating system pressure too low": 18,
    "what happens to events that can't be processed": 25,
    "why are the database tables growing so large": 29,
    "medicine for the pet": 36,
    "how do I align the optics for stargazing": 39,
    "when do we sing": 33,
    "speeding up a slow SQL query": 28,
}


def test_questions_find_the_sentence_that_answers_them(embedder: Embedder):
    passages = embedder.embed(SENTENCES)
    ranks = []
    for question, expected in QUESTIONS.items():
        scores = passages @ embedder.embed_one(question)
        ranks.append(int((scores > scores[expected]).sum()) + 1)
    assert sum(rank == 1 for rank in ranks) >= 10
    assert max(ranks) <= 5


def test_a_vector_depends_on_its_text_alone(embedder: Embedder, minilm_folder: Path):
    texts = [*SENTENCES, " ".join(SENTENCES), "", "one", SENTENCES[0]]
    together = embedder.embed(texts)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    assert (together == alone).all()
    order = list(range(len(texts)))
    random.Random(5).shuffle(order)
    assert (embedder.embed([texts[i] for i in order]) == together[order]).all()
    assert (Embedder.open(minilm_folder, threads=1).embed(texts) == together).all()
    assert (Embedder.open(minilm_folder, threads=5).embed(texts) == together).all()
    assert (together[0] == together[-1]).all()
    assert (embedder.embed_one(SENTENCES[0]) == together[0]).all()  # this model has no prompts


def test_vectors_are_unit_vectors_of_the_declared_shape(embedder: Embedder):
    vectors = embedder.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), embedder.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dim)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\ud800", "a\udcff", "🙂" * 9, "\u200b"])
def test_odd_texts_have_vectors_too(embedder: Embedder, text: str):
    assert np.isfinite(embedder.embed([text])).all()
    assert np.isfinite(embedder.embed_one(text)).all()


def test_a_surrogate_reads_as_the_replacement_character(embedder: Embedder):
    assert (embedder.embed_one("caf\udce9 bar") == embedder.embed_one("caf\ufffd bar")).all()


PIECES = st.sampled_from(
    [
        "word ",
        "a",
        " ",
        "\n",
        "é",
        "e\u0301",
        "東",
        "-",
        "x" * 300,
        " " * 3000,
        "long-ish_name ",
        ".",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PIECES, st.integers(1, 400)), max_size=6))
def test_the_window_of_a_long_text_is_what_the_whole_text_has(
    embedder: Embedder, parts: list[tuple[str, int]]
):
    text = "".join(piece * times for piece, times in parts)
    whole = embedder._tokenizer.encode(text).ids
    assert embedder._token_ids(text)[0].tolist() == whole


def test_a_word_at_the_edge_of_the_part_that_is_read_is_not_cut(embedder: Embedder):
    head = len(next(_heads("x" * 1_000_000, embedder.max_tokens)))
    words = "a " * (embedder.max_tokens - 3)
    text = words + " " * (head - len(words) - 4) + "internationally known " * 1000
    assert text[:head].endswith(" inte")
    assert embedder._token_ids(text)[0].tolist() == embedder._tokenizer.encode(text).ids


def test_words_behind_a_megabyte_of_blanks_are_read(embedder: Embedder):
    behind = embedder.embed_one(" " * 1_000_000 + SENTENCES[0])
    assert (behind == embedder.embed_one(SENTENCES[0])).all()


def test_a_megabyte_costs_no_more_than_its_window(embedder: Embedder):
    page = " ".join(SENTENCES)
    window, megabyte = page * 2, page * 500
    assert (embedder.embed_one(megabyte) == embedder.embed_one(window)).all()

    def seconds(text: str) -> float:
        best = float("inf")
        for _ in range(5):
            start = time.process_time()
            embedder.embed_one(text)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(megabyte) < 3 * seconds(window) + 0.01


def test_progress_reaches_the_total_and_never_falls(embedder: Embedder):
    seen: list[tuple[int, int]] = []
    embedder.embed(["word"] * 1200, on_progress=lambda done, total: seen.append((done, total)))
    assert [total for _, total in seen] == [1200] * len(seen)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1] == (1200, 1200)
    assert len(seen) > 1


def test_an_error_while_reporting_progress_stops_the_work(embedder: Embedder):
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedder.embed(["word"] * 1200, on_progress=stop)


def test_an_altered_export_is_refused_with_the_cure(minilm_folder: Path, tmp_path: Path):
    folder = tmp_path / "altered"
    shutil.copytree(minilm_folder, folder)
    model = bytearray((folder / MODEL_FILE).read_bytes())
    model[len(model) // 2] ^= 1
    (folder / MODEL_FILE).write_bytes(model)
    with pytest.raises(ModelFolderUnusable, match=r"altered.*Delete that folder"):
        Embedder.open(folder)


def test_the_id_names_model_weights_and_precision(embedder: Embedder):
    assert embedder.model_id.startswith("all-MiniLM-L6-v2@53aa51172d14")
    assert "int8" in embedder.model_id


def test_embedding_imports_neither_torch_nor_pydantic(minilm_folder: Path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from agentm_assets.models.embedder import Embedder\n"
        "Embedder.open(Path(sys.argv[1])).embed_one('a question')\n"
        "heavy = ('torch', 'transformers', 'sentence_transformers', 'onnx', 'pydantic')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(minilm_folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_opening_a_model_leaves_no_usage_records_and_asks_for_none(
    minilm_folder: Path, tmp_path: Path
) -> None:
    program = (
        "import sys; from pathlib import Path; from agentm_assets.models.embedder import Embedder; "
        "Embedder.open(Path(sys.argv[1])).embed_one('x')"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(minilm_folder)],
        check=True,
        cwd=Path(__file__).resolve().parents[2],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )
    assert list(tmp_path.rglob("*onnxruntime*")) == []
