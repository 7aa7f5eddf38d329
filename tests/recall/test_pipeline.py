"""Recall over a real index: what is found, how it is placed, and what is said about it."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter

from agentm_assets.recall.answer import Answer
from agentm_assets.recall.errors import IndexMissing, QuestionRefused
from agentm_assets.recall.second_look import LOOKED_AT
from agentm_assets.recall.shape import json_of

Asker = Any  # the class in conftest.py, which cannot be imported from here
VaultOf = Callable[[Mapping[str, str | bytes]], Asker]

KETTLES = {
    "kettle.md": "# Kettle\n\nThe kettle boils two litres in four minutes.\n",
    "lamp.md": "# Lamp\n\nThe lamp on the desk takes a small bulb.\n",
    "bread.md": "# Bread\n\n## Dough\n\nFlour and water.\n\n## Oven\n\nThe oven must be hot.\n",
}


def memory(body: str, **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\n{lines}---\n{body}\n"


def test_a_fact_is_found_with_its_section_and_exact_bytes(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    answer = asker.ask("How hot must the oven be?")
    hit = answer.hits[0]
    assert (hit.path, hit.title, hit.header_path) == ("bread.md", "Bread", "Bread > Oven")
    data = (asker.root / "bread.md").read_bytes()
    assert data[hit.start : hit.end] == b"## Oven\n\nThe oven must be hot.\n"
    assert hit.snippet == "## Oven The oven must be hot."
    assert {hit.snippet[a:b].lower() for a, b in hit.matches} == {"oven", "hot", "must"} or {
        hit.snippet[a:b].lower() for a, b in hit.matches
    } == {"oven", "hot"}
    assert not hit.stale
    assert answer.verdict == "answer"
    assert answer.mode == "lexical"


def test_a_note_is_one_hit_however_many_of_its_sections_match(vault_of: VaultOf) -> None:
    sections = "".join(f"## Part {n}\n\nThe kettle again, number {n}.\n\n" for n in range(30))
    asker = vault_of({**KETTLES, "many.md": sections})
    paths = asker.paths("kettle", k=10)
    assert len(paths) == len(set(paths))
    assert set(paths) == {"kettle.md", "many.md"}


def test_k_bounds_the_hits_and_the_files_that_are_read(vault_of: VaultOf) -> None:
    asker = vault_of(
        {f"n{n}.md": f"# N{n}\n\nThe kettle number {n} of {n * 7}.\n" for n in range(60)}
    )
    read: list[str] = []
    opened = asker.sources()

    def counting(path: str) -> bytes:
        read.append(path)
        return opened.read_note(path)

    answer = asker.ask("kettle", asker.sources(read_note=counting), k=5)
    assert len(answer.hits) == 5
    assert len(read) == len(set(read)) <= LOOKED_AT


def test_confidence_does_not_depend_on_how_many_hits_are_asked_for(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "a.md": "# Boils and boils\n\nboils boils boils boils boils\n",
            "b.md": "# Kettle\n\n" + "words " * 80 + "the kettle boils two litres\n",
            "c.md": "# Lamp\n\nThe lamp takes a bulb.\n",
        }
    )
    answers = [asker.ask("kettle boils litres", k=k) for k in (1, 2, 5)]
    assert [len(answer.hits) for answer in answers] == [1, 2, 2]
    assert len({(answer.verdict, answer.confidence) for answer in answers}) == 1


QUESTIONS = [
    "kettle " * 1_400,
    "the of and to is",
    '"kettle boils"',
    "kettle AND (lamp OR -bread)",
    "title:kettle^4 body:[a TO z] ~2 *",
    "kettle\\",
    "東京のやかん",
    "やかん",
    "🫖",
    "غلاية الماء",
    "\u202ekettle\u202c",
    "a\x00b\x1b[31m",
    "k\u0301ettle\ud83e",
    "'; DROP TABLE notes; --",
    "%s {0} $HOME `ls`",
    "kettle\n\n\nlamp\ttable",
    ".",
    "?" * 10_000,
    "x" * 10_000,
    "ﬁre İstanbul ß",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_any_question_gets_an_answer(vault_of: VaultOf, question: str) -> None:
    asker = vault_of(KETTLES)
    answer = asker.ask(question)
    assert 0.0 <= answer.confidence <= 1.0
    shape = json.loads(json.dumps(json_of(answer)))
    assert TypeAdapter(Answer).validate_python(shape) == answer


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("東京の天気予報", "天気.md"),
        ("天気はどう", "天気.md"),
        ("🫖 kettle", "kettle.md"),
        ("متى تغلي الغلاية", "arabic.md"),
        ("พยากรณ์อากาศ", "thai.md"),
        ("날씨 예보", "korean.md"),
    ],
)
def test_scripts_are_found(vault_of: VaultOf, question: str, path: str) -> None:
    asker = vault_of(
        {
            **KETTLES,
            "天気.md": "# 天気\n\n明日の東京の天気は晴れです。\n",
            "寿司.md": "# 寿司\n\n昨日は大阪で寿司を食べました。\n",
            "arabic.md": "# الغلاية\n\nتغلي الغلاية في أربع دقائق.\n",
            "thai.md": "# อากาศ\n\nพยากรณ์อากาศวันนี้ฝนตก\n",
            "korean.md": "# 날씨\n\n오늘의 날씨 예보는 비입니다.\n",
        }
    )
    assert asker.paths(question)[0] == path


def test_an_empty_question_is_refused_and_a_missing_index_names_the_cure(
    asker: Asker,
) -> None:
    with pytest.raises(IndexMissing, match="Run `agentm index`"):
        asker.ask("kettle")
    asker.write(KETTLES)
    asker.index()
    with pytest.raises(QuestionRefused):
        asker.ask(" ")


def test_an_empty_vault_has_no_answer(vault_of: VaultOf) -> None:
    answer = vault_of({}).ask("kettle")
    assert (answer.verdict, answer.hits, answer.confidence) == ("none", (), 0.0)


def test_answers_do_not_vary(vault_of: VaultOf) -> None:
    asker = vault_of({f"n{n}.md": f"# N\n\nThe kettle number {n}.\n" for n in range(30)})
    assert asker.ask("the kettle number") == asker.ask("the kettle number")


@pytest.mark.parametrize("status", ["unfiled", "superseded", "expired"])
def test_status_lowers_and_does_not_hide(vault_of: VaultOf, status: str) -> None:
    text = "# Kettle\n\nThe kettle boils in {} minutes.\n"
    asker = vault_of(
        {
            "Agent/memory/semantic/a.md": memory(text.format("four"), status=status),
            "Agent/memory/semantic/b.md": memory(text.format("five"), status="active"),
        }
    )
    answer = asker.ask("How fast does the kettle boil?")
    assert [hit.path[-4:] for hit in answer.hits] == ["b.md", "a.md"]
    assert answer.hits[1].parts.penalties == (f"status:{status}",)
    assert answer.hits[1].status == status


def test_personal_notes_are_lowered_and_still_found(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "personal/a.md": "# Kettle\n\nThe kettle boils fast. My gasket is blue.\n",
            "b.md": "# Kettle\n\nThe kettle boils fast. The gasket is green.\n",
        }
    )
    assert asker.paths("How fast does the kettle boil?") == ["b.md", "personal/a.md"]
    assert asker.paths("my blue gasket")[0] == "personal/a.md"


RULES = "standards/storage-rules.md"


def rules_with(old: str, new: str) -> bytes:
    from agentm_assets.contract.rules import default_rules_text

    changed = default_rules_text().decode().replace(old, new)
    assert changed != default_rules_text().decode()
    return changed.encode()


def test_only_excludes_hide(vault_of: VaultOf) -> None:
    rules = rules_with("excludes: []", "excludes: [drafts]")
    notes = {**KETTLES, "drafts/kettle.md": "# Kettle draft\n\nThe kettle boils.\n", RULES: rules}
    asker = vault_of(notes)
    assert "drafts/kettle.md" not in asker.paths("kettle", k=20)
    asker.write({RULES: rules_with("excludes: []", "excludes: [lamps]")})
    assert "drafts/kettle.md" in asker.paths("kettle", k=20)


def test_broken_rules_leave_recall_going_and_are_said(vault_of: VaultOf) -> None:
    asker = vault_of({**KETTLES, RULES: "# Rules\n\n```storage-rules\nclasses: [\n```\n"})
    answer = asker.ask("kettle")
    assert answer.hits[0].path == "kettle.md"
    assert answer.why is not None
    assert RULES in answer.why
    assert "rules file" in answer.why
    asker.write({RULES: rules_with("excludes: []", "excludes: [lamps]")})
    assert "rules file" not in (asker.ask("kettle").why or "")  # mended: no restart


def test_an_entity_is_found_by_another_spelling(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            **KETTLES,
            "fix.md": "# Gasket\n\nSee https://github.com/Acme/Kettle/pull/12/files#r3.\n",
            "noise.md": "# Acme kettle\n\nAcme kettle, kettle of Acme, number 12 of kettles.\n",
        }
    )
    answer = asker.ask("What came out of acme/kettle#12?")
    assert answer.hits[0].path == "fix.md"
    assert answer.hits[0].parts.entity
    assert "issue:acme/kettle#12" in answer.hits[0].entities
    assert answer.verdict == "answer"


def test_a_named_thing_is_shown_where_it_stands(vault_of: VaultOf) -> None:
    parts = "".join(f"## Part {n}\n\nWords {n}.\n\n" for n in range(5))
    asker = vault_of({"long.md": f"# Long\n\n{parts}## Links\n\nhttps://x.example/kettle?a=1\n"})
    hit = asker.ask("https://x.example/kettle?a=1").hits[0]
    assert hit.header_path == "Long > Links"
    asker = vault_of({"long.md": f"# Long\n\n{parts}## Links\n\nAcme/Teapot#12 here\n"})
    hit = asker.ask("github.com/acme/teapot/pull/12").hits[0]
    assert hit.header_path == "Long > Links"


def test_a_guessed_reference_does_not_cost_confidence(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    plain = asker.ask("How fast does the kettle boil?").confidence
    assert asker.ask("How fast does the #1 kettle boil?").confidence > 0.5 * plain


def test_excludes_do_not_crowd_out_what_may_be_shown(vault_of: VaultOf) -> None:
    rules = rules_with("excludes: []", "excludes: [drafts]")
    hidden = {f"drafts/{n}.md": f"# Kettle\n\nThe kettle, kettle {n}.\n" for n in range(250)}
    asker = vault_of({**hidden, "b.md": "# Pot\n\nBeside many words, one kettle.\n", RULES: rules})
    assert asker.paths("kettle") == ["b.md"]


def test_an_issue_that_no_note_mentions_is_no_answer(vault_of: VaultOf) -> None:
    asker = vault_of({**KETTLES, "noise.md": "# Acme kettle\n\nThe acme kettle boils.\n"})
    assert asker.ask("acme/kettle#99").verdict != "answer"


def test_a_name_of_two_words_finds_its_note(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "a.md": memory("# Boiler\n\nNothing else.", aliases="[big red]"),
            **{f"{n}.md": f"# N{n}\n\nOf {n}.\n" for n in range(9)},
            "b.md": "# Bus\n\nBig, red. Red, big.\n",
        }
    )
    assert asker.paths("where is the big red?")[0] == "a.md"


DIARY = {
    f"calendar/2026/{day}_kettle.md": f"# Kettle\n\nTried the kettle, take {n}.\n"
    for n, day in enumerate(["2026-08-18", "2026-08-12", "2026-07-04", "2019-03-05"])
}


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What did I try with the kettle yesterday?", "2026-08-18"),
        ("What did I try with the kettle last week?", "2026-08-12"),
        ("What did I try with the kettle last month?", "2026-07-04"),
        ("What did I try with the kettle in March 2019?", "2019-03-05"),
        ("kettle before 2020", "2019-03-05"),
        ("what happened yesterday?", "2026-08-18"),
    ],
)
def test_time_phrases_place_what_was_captured_then_first(
    vault_of: VaultOf, question: str, day: str
) -> None:
    answer = vault_of({**KETTLES, **DIARY}).ask(question, k=10)
    assert answer.hits[0].captured == day
    assert answer.hits[0].captured_origin == "file name"


def test_phrases_lower_and_options_exclude(vault_of: VaultOf) -> None:
    asker = vault_of({**KETTLES, **DIARY})
    assert len(asker.paths("the kettle yesterday", k=20)) == 5
    assert asker.paths("kettle", after="2026-08-12", k=20) == asker.paths(
        "kettle", after="2026-08-12", before="2026-08-19", k=20
    )
    bounded = asker.ask("kettle", after="2026-08-12", k=20).hits
    assert {hit.captured for hit in bounded} == {"2026-08-12", "2026-08-18"}
    assert {hit.captured for hit in asker.ask("kettle", before="2026-08-12", k=20).hits} == {
        "2026-07-04",
        "2019-03-05",
    }


def test_a_date_that_is_a_word_of_the_note_does_not_sink_undated_notes(vault_of: VaultOf) -> None:
    asker = vault_of({**DIARY, "pool.md": "# Pool\n\nThe radio pool runs from March 2019.\n"})
    assert asker.paths("Which radio pool runs from March 2019?")[0] == "pool.md"


def test_near_duplicates_fold_and_are_listed(vault_of: VaultOf) -> None:
    body = "# Kettle\n\nThe kettle in the kitchen boils two litres in four minutes on gas.\n"
    asker = vault_of(
        {
            "a.md": body,
            "b.md": body,
            "c.md": body.replace("boils two", "boils  **two**"),
            "d.md": body.replace("four", "nine"),
        }
    )
    answer = asker.ask("How fast does the kettle in the kitchen boil two litres?")
    assert sorted(hit.path for hit in answer.hits) == ["a.md", "d.md"]
    (first,) = (hit for hit in answer.hits if hit.path == "a.md")
    assert sorted(first.duplicates) == ["b.md", "c.md"]


def test_notes_that_share_one_section_do_not_fold(vault_of: VaultOf) -> None:
    shared = "## How to use\n\nFill the kettle with water and wait until it boils.\n"
    asker = vault_of(
        {f"{n}.md": f"# Kettle {n}\n\nColour {n * 11}.\n\n{shared}" for n in ("1", "2", "3")}
    )
    assert len(asker.paths("wait until the kettle boils")) == 3


def test_a_changed_file_is_stale_and_its_section_is_found_again(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    asker.write({"bread.md": "# Bread\n\nNew words.\n\n## Oven\n\nThe oven is hot, 240 degrees.\n"})
    hit = asker.ask("How hot must the oven be?").hits[0]
    assert hit.stale
    assert hit.header_path == "Bread > Oven"
    assert "240 degrees" in hit.snippet
    data = (asker.root / "bread.md").read_bytes()
    assert data[hit.start : hit.end] == b"## Oven\n\nThe oven is hot, 240 degrees.\n"


def test_a_changed_file_without_that_heading_gives_its_nearest_section(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    asker.write({"bread.md": "# Loaf\n\nNothing.\n\n## Heat\n\nThe oven is at 240.\n"})
    hit = asker.ask("How hot must the oven be?").hits[0]
    assert (hit.stale, hit.header_path) == (True, "Loaf > Heat")
    asker.write({"bread.md": ""})
    hit = asker.ask("How hot must the oven be?").hits[0]
    assert (hit.path, hit.stale, hit.snippet) == ("bread.md", True, "")


def test_a_deleted_note_is_not_shown(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    (asker.root / "bread.md").unlink()
    assert "bread.md" not in asker.paths("oven")


def test_a_note_that_became_a_link_is_not_followed(vault_of: VaultOf) -> None:
    asker = vault_of(KETTLES)
    secret = asker.root.parent / "secret.md"
    secret.write_text("# Oven\n\nThe oven password.\n")
    (asker.root / "bread.md").unlink()
    (asker.root / "bread.md").symlink_to(secret)
    answer = asker.ask("oven")
    assert "password" not in json.dumps(json_of(answer))
    assert answer.hits[0].path == "bread.md"
    assert "1 of the hits could not be read" in (answer.why or "")
    (asker.root / "deep").mkdir()
    os.rename(asker.root / "lamp.md", asker.root / "deep" / "lamp.md")
    assert "lamp.md" not in asker.paths("lamp")


def test_comments_and_block_ids_stay_out_of_snippets(vault_of: VaultOf) -> None:
    asker = vault_of(
        {"a.md": "# A\n\nThe oven %%secret one%% is <!-- secret two --> hot. ^abc123\n"}
    )
    snippet = asker.ask("oven hot").hits[0].snippet
    assert "secret" not in snippet
    assert "abc123" not in snippet
    assert "hot" in snippet


def test_what_the_vault_does_not_hold_is_said_and_the_nearest_are_listed(
    vault_of: VaultOf,
) -> None:
    answer = vault_of(KETTLES).ask(
        "Which hydration did the sourdough starter in Lisbon have, kettle?"
    )
    assert answer.verdict == "none"
    assert answer.hits


OLD = {
    "Agent/memory/semantic/old.md": memory("# Kettle\n\nThe kettle boils.", captured="2019-01-01"),
    "Agent/memory/semantic/new.md": memory("# Kettle\n\nThe kettle cools.", captured="2026-08-01"),
}


def decay_rules(**thresholds: str) -> bytes:
    text = rules_with("decay_enabled: false", "decay_enabled: true").decode()
    for key, value in thresholds.items():
        lines = [f"  {key}: {value}" if f"  {key}:" in line else line for line in text.split("\n")]
        text = "\n".join(lines)
    return text.encode()


def test_decay_is_off_until_the_rules_switch_it_on(vault_of: VaultOf) -> None:
    asker = vault_of(OLD)
    assert not any(hit.parts.penalties for hit in asker.ask("kettle").hits)
    asker.write({RULES: decay_rules(archive_after_days="36000")})
    old = next(hit for hit in asker.ask("kettle").hits if hit.path.endswith("old.md"))
    assert old.parts.penalties == ("decay:cold",)
    assert old.parts.penalty == 0.0625


def test_a_question_about_time_suppresses_decay(vault_of: VaultOf) -> None:
    asker = vault_of({**OLD, RULES: decay_rules(archive_after_days="36000")})
    answer = asker.ask("When did I first note that the kettle boils?")
    assert answer.hits[0].path.endswith("old.md")
    assert not any("decay" in name for hit in answer.hits for name in hit.parts.penalties)


def test_a_genuine_recall_makes_a_note_young(vault_of: VaultOf) -> None:
    asker = vault_of({**OLD, RULES: decay_rules(archive_after_days="36000")})
    recalled = {"Agent/memory/semantic/old.md": date(2026, 8, 1)}
    answer = asker.ask("kettle", asker.sources(last_recalled=recalled))
    assert not any(hit.parts.penalties for hit in answer.hits)


def test_archived_notes_answer_only_an_archive_query(vault_of: VaultOf) -> None:
    asker = vault_of({**OLD, RULES: decay_rules()})
    assert asker.paths("kettle") == ["Agent/memory/semantic/new.md"]
    old = "Agent/memory/semantic/old.md"
    assert old in asker.paths("kettle", include_archived=True)
    assert old in asker.paths("what is in the archive about the kettle")


def test_artifacts_are_lowered_once_nearly_all_notes_are_labelled(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "Agent/memory/semantic/a.md": memory("# Kettle\n\nIt boils.", altitude="artifact"),
            "Agent/memory/semantic/b.md": memory("# Pot\n\nIt boils too."),
        }
    )
    assert not any(hit.parts.penalties for hit in asker.ask("what boils").hits)
    asker.write({"Agent/memory/semantic/b.md": memory("# Pot\n\nBoils.", altitude="canonical")})
    asker.index()
    lowered = asker.ask("what boils").hits
    assert [h.parts.penalties for h in lowered if h.path.endswith("a.md")] == [
        ("altitude:artifact",)
    ]
    meeting = asker.ask("what boils, from the meeting").hits
    assert not any(hit.parts.penalties for hit in meeting)


def test_type_and_space_narrow(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "Agent/memory/semantic/a.md": memory("# Kettle", type="reference"),
            "Agent/memory/procedural/b.md": memory("# Kettle", type="workflow"),
            "projects/p/c.md": "# Kettle\n",
        }
    )
    assert asker.paths("kettle", type="workflow") == ["Agent/memory/procedural/b.md"]
    assert asker.paths("kettle", space="Projects") == ["projects/p/c.md"]


def test_backlinks_are_counted(vault_of: VaultOf) -> None:
    asker = vault_of({**KETTLES, "x.md": "[[kettle]] [[kettle]]\n", "y.md": "[k](kettle.md)\n"})
    hit = next(hit for hit in asker.ask("kettle boils litres").hits if hit.path == "kettle.md")
    assert hit.backlinks == 2


def test_notes_that_link_to_the_hits_are_listed_apart_on_demand(vault_of: VaultOf) -> None:
    notes = {
        **KETTLES,
        "trip.md": "# Trip\n\nTake [[kettle]] and [[lamp]] along. And [[kettle]] again.\n",
        "a.md": "# Camp\n\nWhere [[lamp]] hangs.\n",
        "b.md": memory("The desk of who mends [[kettle]].", type="reference"),
        "lamp.md": "# Lamp\n\nThe lamp on the desk takes a bulb; see [[kettle]] and [[lamp]].\n",
        "private.md": "# Never\n\nOf [[kettle]].\n",
    }
    asker = vault_of(notes)
    rules = replace(asker.sources().rules, excludes=("private.md",))
    asked = {
        "question": "litres in minutes, desk and bulb",
        "k": 2,
        "sources": asker.sources(rules=rules),
    }
    answer = asker.ask(**asked, linked=True)
    assert {hit.path for hit in answer.hits} == {"kettle.md", "lamp.md"}
    best = answer.hits[0].path
    first, second = answer.linked
    assert (first.path, first.title, first.links_to[0]) == ("trip.md", "Trip", best)
    assert sorted(first.links_to) == ["kettle.md", "lamp.md"]
    assert (second.path, second.links_to) == (
        ("b.md", ("kettle.md",)) if best == "kettle.md" else ("a.md", ("lamp.md",))
    )
    narrowed = asker.ask(**asked | {"k": 5}, linked=True, type="reference")
    assert narrowed.linked == ()  # b.md is a hit itself
    assert asker.ask(**asked).linked == ()


def test_what_links_to_a_hit_keeps_to_the_bounds_of_the_question(vault_of: VaultOf) -> None:
    asker = vault_of(
        {
            "kettle.md": memory("# Kettle\n\nIt boils.", captured="2026-05-02"),
            "old.md": memory("See [[kettle]].", captured="2020-01-01"),
            "new.md": memory("See [[kettle]].", captured="2026-05-03"),
        }
    )
    answer = asker.ask("what boils", k=1, after="2026-05-01", linked=True)
    assert [note.path for note in answer.linked] == ["new.md"]
