"""The dense arm: what it adds, and every way in which it can be missing, said in the answer."""

import dataclasses
import json
import shutil
from datetime import UTC, datetime
from typing import Any

import pytest

from agentm_assets.models.embedder import Embedder, EmbeddingFailed
from agentm_assets.recall import pool
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.opening import WarmSources
from agentm_assets.recall.penalties import PenaltyContext
from agentm_assets.recall.question import RecallOptions, understand
from agentm_assets.recall.rank import rank

Asker = Any  # the class in conftest.py, which cannot be imported from here

NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle boils two litres of water in four minutes.\n",
    "lazy.md": "# Lazy loading\n\nAdd loading=lazy so that images load when scrolled to.\n",
    "sour.md": "# Pisco sour\n\nLemon juice, an egg white and pisco, shaken.\n",
    "bread.md": "# Bread\n\n## Oven\n\nThe oven must be hot.\n",
}
PARAPHRASE = "Only fetch the pictures of a page once the reader reaches them"


@pytest.fixture
def hybrid(asker: Asker, embedder: Embedder) -> Asker:
    asker.write(NOTES)
    asker.index(embedder)
    return asker


def test_a_paraphrase_is_found_by_meaning(hybrid: Asker) -> None:
    answer = hybrid.ask(PARAPHRASE)
    assert (answer.mode, answer.why) == ("hybrid", None)
    hit = answer.hits[0]
    assert hit.path == "lazy.md"
    assert hit.parts.dense_rank == 1
    assert hit.parts.dense_score is not None
    assert 0.2 < hit.parts.dense_score <= 1.0


def test_a_typo_is_taken_for_a_word_and_a_word_is_not(hybrid: Asker) -> None:
    assert "searched for kettle instead of ketle" in (hybrid.ask("the ketle").why or "")
    assert hybrid.ask("the settle").why is None  # a word, if none of the vault


def test_stop_words_alone_are_answered_by_meaning(hybrid: Asker) -> None:
    answer = hybrid.ask("what is it about")
    assert answer.hits
    assert answer.verdict == "none"


def test_a_hit_that_the_dense_arm_missed_is_far_and_not_of_unknown_meaning(
    hybrid: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "OVER_FETCH", 1)  # one chunk an arm
    sources = hybrid.sources()
    options = RecallOptions(now=datetime(2026, 8, 19, tzinfo=UTC))
    asked = understand(f"{PARAPHRASE}, pisco pisco", options)
    context = PenaltyContext(sources.rules, False, 0.0, False)
    for opened, cosine in (
        (sources, 0.0),
        (dataclasses.replace(sources, vectors=None, embedder=None), None),
    ):
        ranked = rank(pool.gather(asked, options, opened), asked, context, 5)
        assert {each.path: each.cosine for each in ranked}["sour.md"] == cosine


def test_without_vectors_it_says_so(asker: Asker, embedder: Embedder) -> None:
    asker.write(NOTES)
    asker.index()
    answer = asker.ask("kettle")
    assert answer.mode == "lexical"
    assert "searched by words alone: there are no vectors" in (answer.why or "")
    assert answer.hits[0].path == "kettle.md"
    assert answer.hits[0].parts.dense_rank is None


def test_vectors_of_another_model_are_never_compared(hybrid: Asker) -> None:
    hybrid.env["AGENTM_EMBEDDER_MODEL"] = "another/model"
    answer = hybrid.ask("kettle")
    assert answer.mode == "lexical"
    assert "another/model is configured" in (answer.why or "")
    assert answer.hits[0].parts.dense_score is None


def test_vectors_of_an_earlier_index_are_not_used(hybrid: Asker) -> None:
    manifest = hybrid.settings.location.vectors_dir / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "index_id": "another"}))
    answer = hybrid.ask("kettle")
    assert answer.mode == "lexical"
    assert "earlier index" in (answer.why or "")


def test_a_missing_or_damaged_model_leaves_words(hybrid: Asker) -> None:
    (link,) = hybrid.settings.location.models_dir.iterdir()
    link.unlink()
    answer = hybrid.ask("kettle")
    assert answer.mode == "lexical"
    assert "can't be used" in (answer.why or "")
    assert answer.hits[0].path == "kettle.md"


class Wedged:
    """An embedder that answers and gives nothing usable."""

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id

    def embed_one(self, text: str) -> object:
        raise EmbeddingFailed(f"{self.model_id} gave no unit vector")

    def knows_word(self, word: str) -> bool:
        return True


def test_an_embedder_that_fails_on_the_question_leaves_words(hybrid: Asker) -> None:
    sources = hybrid.sources()
    answer = hybrid.ask("kettle", dataclasses.replace(sources, embedder=Wedged("m")))
    assert (answer.mode, answer.why) == (
        "lexical",
        "searched by words alone: m gave no unit vector",
    )
    assert answer.hits[0].path == "kettle.md"
    assert answer.hits[0].parts.dense_rank is None


def test_damaged_vectors_leave_words(hybrid: Asker) -> None:
    (hybrid.settings.location.vectors_dir / "manifest.json").write_text("{")
    answer = hybrid.ask("kettle")
    assert answer.mode == "lexical"
    assert answer.hits[0].path == "kettle.md"


@pytest.mark.parametrize(("more", "said"), [(0, False), (2, True)])
def test_sections_without_a_vector_are_reported_above_a_twentieth(
    hybrid: Asker,
    more: int,
    said: bool,
) -> None:
    hybrid.write({f"new{n}.md": f"# New {n}\n\nA gasket, number {n}.\n" for n in range(more)})
    hybrid.index()  # indexed by words; not embedded yet
    answer = hybrid.ask("gasket")
    assert answer.mode == "hybrid"
    assert ("have no vector yet" in (answer.why or "")) is said
    if more:
        assert answer.hits[0].path.startswith("new")


def test_a_penalty_lowers_both_arms(asker: Asker, embedder: Embedder) -> None:
    body = "# Images\n\nAdd loading=lazy so that images load when scrolled to{}.\n"
    asker.write(
        {
            "a.md": "---\nstatus: superseded\n---\n" + body.format(""),
            "b.md": body.format("").replace("load when", "wait until"),
            **NOTES,
        }
    )
    asker.index(embedder)
    paths = [hit.path for hit in asker.ask(PARAPHRASE).hits]
    assert paths.index("b.md") < paths.index("a.md")


def test_warm_sources_see_what_is_published_later(hybrid: Asker, embedder: Embedder) -> None:
    warm = WarmSources(hybrid.settings, hybrid.env)
    assert "gasket.md" not in [hit.path for hit in hybrid.ask("gasket", warm.current()).hits]
    hybrid.write({"gasket.md": "# Gasket\n\nThe gasket of the pump.\n"})
    hybrid.index(embedder)
    answer = hybrid.ask("gasket", warm.current())
    assert answer.hits[0].path == "gasket.md"
    assert answer.hits[0].parts.dense_rank == 1
    (hybrid.root / "gasket.md").unlink()
    hybrid.write({"valve.md": "# Valve\n\nThe valve of the pump.\n"})
    shutil.rmtree(hybrid.settings.location.index_dir)
    with pytest.raises(IndexMissing):
        warm.current()
    hybrid.index()  # built anew, by words: another index, and vectors of none
    answer = hybrid.ask("valve", warm.current())
    assert (answer.hits[0].path, answer.mode) == ("valve.md", "lexical")
    hybrid.index(embedder)
    assert hybrid.ask("valve", warm.current()).mode == "hybrid"
    warm.close()


def test_sources_may_be_asked_again_and_again(hybrid: Asker) -> None:
    sources = hybrid.sources()
    first = hybrid.ask(PARAPHRASE, sources)
    assert hybrid.ask("kettle", sources).hits[0].path == "kettle.md"
    assert hybrid.ask(PARAPHRASE, sources) == first
    words_only = dataclasses.replace(sources, vectors=None, embedder=None)
    assert hybrid.ask(PARAPHRASE, words_only).mode == "lexical"
