"""What the text of the first candidates changes in their order."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentm_assets.models.embedder import Embedder
from agentm_assets.recall import pool, second_look
from agentm_assets.recall.second_look import Signs

Asker = Any  # the class in conftest.py, which cannot be imported from here
VaultOf = Callable[[Mapping[str, str]], Asker]


def _without_hits(dense: Any) -> Any:
    """The dense arm as it is when it ranks other notes before all that words found."""

    def arm(*arguments: Any) -> Any:
        vector, _hits, remark = dense(*arguments)
        return vector, [], remark

    return arm


def talk(*turns: tuple[str, str]) -> str:
    return "# A talk\n\n" + "\n".join(f"## {name}\n\n{text}\n" for name, text in turns)


def sections(asker: Asker, question: str, **options: Any) -> list[str]:
    return [hit.snippet for hit in asker.ask(question, per="section", **options).hits]


def test_who_answers_goes_before_who_asks(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "talk.md": talk(
                ("Ada", "Where did you leave the copper kettle?"),
                ("Ben", "It is in the shed behind the mill."),
                ("Ada", "The weather is dreadful, is it not?"),
                ("Ben", "Rain all week, they say."),
            ),
        }
    )
    first, second, *_ = sections(asker, "location of the copper kettle")
    assert "shed" in first
    assert "copper kettle?" in second


def test_a_question_for_a_time_wants_a_section_that_has_one(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "a.md": "# Kiln\n\nThe kiln was relined by hand at length.\n",
            "b.md": "# Kiln\n\nThe kiln was relined by hand on Tuesday.\n",
        }
    )
    assert asker.paths("When was the kiln relined?") == ["b.md", "a.md"]
    assert asker.paths("How was the kiln relined?")[0] == "a.md", "else the order is of the path"


def test_a_question_for_a_place_wants_a_section_that_has_a_name(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "a.md": "# Kiln\n\nThe kiln was relined in the open yard.\n",
            "b.md": "# Kiln\n\nThe kiln was relined in old Tromso yard.\n",
        }
    )
    assert asker.paths("Where was the kiln relined?") == ["b.md", "a.md"]


def alone(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    """Let one sign decide."""
    none = dict.fromkeys(Signs.__slots__, 0.0)
    monkeypatch.setattr(second_look, "WEIGHTS", Signs(**{**none, sign: 1.0}))


def test_a_section_is_helped_by_the_best_of_its_note(
    vault_of: VaultOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch, "note")
    line = "The pump is checked for rust every spring."
    fill = "\n".join(f"## Part {n}\n\nSomething else, number {n}.\n" for n in range(6))
    asker = vault_of(
        {
            "a.md": f"# Notes\n\n{fill}\n## Pump\n\n{line}\n",
            "b.md": f"# Notes\n\n## Boiler\n\nThe boiler room pump, the boiler and its rust.\n"
            f"\n{fill}\n## Pump\n\n{line}\n",
        }
    )
    hits = asker.ask("boiler pump rust spring", per="section", k=20).hits
    pumps = [hit.path for hit in hits if hit.header_path.endswith("Pump")]
    assert pumps == ["b.md", "a.md"], "else the order is of the path"


@pytest.mark.parametrize("looked_at", [2, 32])
def test_scores_fall_also_beyond_those_that_were_looked_at(
    vault_of: VaultOf, monkeypatch: pytest.MonkeyPatch, looked_at: int
) -> None:
    monkeypatch.setattr(second_look, "LOOKED_AT", looked_at)
    asker = vault_of(
        {f"n{n}.md": f"# Kettle {n}\n\n{'kettle ' * n}of number {n * 7}.\n" for n in range(12)}
    )
    hits = asker.ask("the kettle of number 35", k=12).hits
    assert len(hits) == 12
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_a_lowered_note_stays_lowered(vault_of: VaultOf) -> None:
    text = "# Kiln\n\nThe kiln is relined every {} years by Marta.\n"
    asker = vault_of({"personal/a.md": text.format("two"), "b.md": text.format("four")})
    hits = asker.ask("How often is the kiln relined by Marta?").hits
    assert [hit.path for hit in hits] == ["b.md", "personal/a.md"]
    assert hits[1].score < 0.4 * hits[0].score


def test_a_note_that_is_gone_or_shut_is_no_error(vault_of: VaultOf) -> None:
    asker = vault_of({f"{n}.md": f"# Kiln\n\nThe kiln number {n}.\n" for n in range(3)})
    sources = asker.sources()
    (asker.root / "1.md").unlink()
    assert sorted(hit.path for hit in asker.ask("kiln", sources).hits) == ["0.md", "2.md"]


def test_what_stands_around_a_section_counts(
    vault_of: VaultOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch, "around")
    asker = vault_of(
        {
            "talk.md": talk(
                ("Ada", "Thunder."),
                ("Ben", "The kettle is here."),
                ("Ada", "Nothing."),
                ("Ben", "rain " * 400),
                ("Ada", "The kettle is there."),
            )
        }
    )
    hits = asker.ask("kettle in the thunder", per="section", k=9).hits
    kettles = [hit for hit in hits if "kettle" in hit.snippet]
    assert ["is here" in hit.snippet for hit in kettles] == [True, False]
    assert kettles[0].score > kettles[1].score


def test_a_heading_that_bears_the_name_that_is_asked_for_counts(
    vault_of: VaultOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch, "about")
    asker = vault_of({"talk.md": talk(("Ada", "The kettle and Ben."), ("Ben", "The kettle."))})
    hits = asker.ask("What does Ben say of the kettle?", per="section").hits
    assert hits[0].header_path == "A talk > Ben"
    assert hits[0].score > hits[1].score


def test_what_only_words_found_is_known_by_its_meaning_too(
    asker: Asker, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both notes hold the asked word once; one of them speaks of what is asked."""
    alone(monkeypatch, "cosine")
    monkeypatch.setattr(pool, "_dense", _without_hits(pool._dense))
    asker.write(
        {
            "a.md": "# Ledger\n\nOur ledger of quarterly invoices and taxes is kept by Marta.\n",
            "b.md": "# Ledger\n\nA ledger is a horizontal beam of a scaffold on a building site.\n",
        }
    )
    asker.index(embedder)
    assert asker.paths("ledger for scaffolding while constructing a house")[0] == "b.md"


def test_the_section_before_lends_its_meaning(
    asker: Asker, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch, "before")
    asker.write(
        {
            "a.md": talk(
                ("Ada", "The tax office wrote about our invoices again."),
                ("Ben", "Lovely, I would like that too."),
                ("Ada", "My sister plays the violin in an orchestra every summer."),
                ("Ben", "Lovely, I would like that too."),
            )
        }
    )
    asker.index(embedder)
    hits = asker.ask("concerts with classical music", per="section").hits
    places = [hit.chunk for hit in hits if "Lovely" in hit.snippet]
    assert places == sorted(places, reverse=True), "the one after the violin first"
