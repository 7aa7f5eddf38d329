"""Pages of entities over a vault: made, kept in line, and left alone."""

from declared import declare_person
from estate import Estate

from agentm_assets.dreaming.entities.pages import GONE_QUIET
from agentm_assets.dreaming.entities.stage import NAME, PROSE, EntityRollups
from agentm_assets.dreaming.run import run_stage
from agentm_assets.dreaming.stage import StageReport
from agentm_assets.ledger import processed, queue

THIRD = "A third one about https://github.com/acme/kettle and its lid.\n"
PAGE = "Agent/memory/entities/acme-kettle.md"


def dream(estate: Estate) -> StageReport:
    return run_stage(estate.night(), EntityRollups())


def pages(estate: Estate) -> dict[str, bytes]:
    return {
        path: data for path, data in estate.files().items() if path.startswith("Agent/memory/ent")
    }


def notes(estate: Estate) -> None:
    estate.memory(
        "lid-sticks",
        "The lid of acme/kettle#12 sticks in the cold. It does not in summer.\n",
        captured="2026-06-02T08:00:00Z",
    )
    estate.memory(
        "valve-order",
        "# Valves\n\nOlga ordered valves for https://github.com/acme/kettle "
        "from [the shop](x.md).\n",
        captured="2026-07-04T08:00:00Z",
    )


def test_a_page_of_dated_facts_with_links_needs_no_model(estate: Estate) -> None:
    notes(estate)
    report = dream(estate)
    assert report.applied == 1 and report.waiting_for_model == 0
    page = estate.text(PAGE)
    assert "status: active\n" in page and "title: acme/kettle\n" in page
    assert "captured: 2026-06-02\nupdated: 2026-07-04\n" in page
    assert 'entity: ["repo:acme/kettle"]' in page
    assert "derived_from: [lid-sticks, valve-order]" in page
    facts = [line for line in page.splitlines() if line.startswith("- ")]
    assert facts == [
        "- 2026-07-04 [[Agent/memory/semantic/2026/07/valve-order|Valve order]]: "
        "Olga ordered valves for https://github.com/acme/kettle from the shop.",
        "- 2026-06-02 [[Agent/memory/semantic/2026/06/lid-sticks|Lid sticks]]: "
        "The lid of acme/kettle#12 sticks in the cold.",
    ]
    assert estate.git("log", "-1", "--format=%an").strip() == f"agentm-dream-{NAME}"


def test_a_second_night_changes_no_byte_and_makes_no_commit(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    before, head = estate.files(), estate.head()
    report = dream(estate)
    assert (report.planned, report.applied) == (0, 0)
    assert report.measured["share"] == 1
    assert estate.files() == before and estate.head() == head


def test_deleted_pages_come_back_identical(estate: Estate) -> None:
    notes(estate)
    for number in range(3):
        estate.memory(f"more-{number}", f"Case {number} of acme/teapot#4 and acme/kettle#5.\n")
    dream(estate)
    before = pages(estate)
    assert len(before) == 4
    for path in before:
        (estate.root / path).unlink()
    estate.location.duckdb_file.unlink()
    dream(estate)
    assert pages(estate) == before


def test_a_page_is_stale_exactly_when_the_hash_of_its_inputs_differs(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    first = estate.read(PAGE)
    path = "Agent/memory/semantic/2026/06/lid-sticks.md"
    tagged = estate.text(path).replace("type: reference\n", "type: reference\ntags: [cold]\n")
    estate.write(path, tagged)
    assert dream(estate).planned == 0, "a tag is no input of the page"
    estate.memory("elsewhere", "Nothing about it.\n")
    assert dream(estate).planned == 0
    estate.write(path, tagged.replace("sticks in the cold", "sticks in the frost"))
    assert dream(estate).applied == 1
    assert b"in the frost" in estate.read(PAGE)
    estate.write(path, tagged)
    dream(estate)
    assert estate.read(PAGE) == first, "the hash follows from the inputs alone"


def test_the_ledger_rebuilt_by_looking_says_the_same(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    with estate.store.transaction() as connection:
        known = processed.rows_of(connection, NAME)
    estate.location.duckdb_file.unlink()
    assert dream(estate).planned == 0
    with estate.store.transaction() as connection:
        again = processed.rows_of(connection, NAME)
    assert {k: v.output_key for k, v in again.items()} == {
        k: v.output_key for k, v in known.items()
    }


def test_what_no_one_may_see_stands_on_no_page(estate: Estate) -> None:
    notes(estate)
    for folder in ("personal", "Personal", "PERSONAL"):
        estate.write(f"{folder}/diary-{folder}.md", "Secret talk about acme/kettle#1.\n")
    estate.memory("raw", "Unfiled about acme/kettle#1.\n", status="unfiled")
    estate.memory("old", "Replaced, about acme/kettle#1.\n", status="superseded")
    estate.memory("key", "The token for acme/kettle#2 is ghp_" + "a1B2" * 9 + " and no other.\n")
    dream(estate)
    page = estate.text(PAGE)
    for word in ("Secret", "Unfiled", "Replaced", "ghp_"):
        assert word not in page
    assert "2026/06/key" in page, "the note is linked, its sentence is not shown"


def test_markup_of_a_note_does_nothing_on_the_page(estate: Estate) -> None:
    notes(estate)
    estate.memory(
        "odd",
        "See <b>this</b> {{y}} of acme/kettle#3 [[ideas|now]] and key:: value\n",
    )
    dream(estate)
    line = next(line for line in estate.text(PAGE).splitlines() if "/odd" in line)
    assert "&lt;b>" in line and "<b" not in line
    assert "{{" not in line and "::" not in line and "now and key: value" in line
    assert line.count("[[") == 1


def test_what_the_operator_adds_stays(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    edited = estate.text(PAGE).replace("title: acme/kettle", "title: The kettle")
    edited = edited.replace("aliases: []\n", "") + "\nMine, below.\n"
    edited = edited.replace("status: active\n", "status: active\naliases: [pot]\nrating: 5\n")
    estate.write(PAGE, edited)
    assert dream(estate).planned == 0
    estate.memory("third", THIRD)
    assert dream(estate).applied == 1
    page = estate.text(PAGE)
    assert "title: The kettle" in page and "rating: 5" in page and "pot" in page
    assert page.endswith("\nMine, below.\n") and "third" in page


def test_a_page_that_the_operator_took_over_is_left_alone(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    text = estate.text(PAGE)
    head = text[: text.index("<!--")]
    estate.write(PAGE, head + "My own words.\n")
    estate.memory("third", THIRD)
    report = dream(estate)
    assert report.applied == 0 and report.skipped == {"taken-over": 1}
    assert estate.text(PAGE).endswith("My own words.\n")
    dream(estate)
    dead = dream(estate)
    assert dead.parked == (f"{NAME}: repo:acme/kettle (taken-over)",)
    assert dream(estate).parked == (), "it is told once"


def test_a_retired_page_is_not_written(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    estate.write(PAGE, estate.text(PAGE).replace("status: active", "status: expired"))
    estate.memory("third", THIRD)
    report = dream(estate)
    assert report.planned == 0 and report.skipped == {"retired": 1}


def test_a_page_that_no_note_names_any_more_expires_and_comes_back(estate: Estate) -> None:
    notes(estate)
    dream(estate)
    kept = {}
    for slug, month in (("lid-sticks", "06"), ("valve-order", "07")):
        path = f"Agent/memory/semantic/2026/{month}/{slug}.md"
        kept[path] = estate.text(path)
        estate.write(path, kept[path].replace("status: active", "status: superseded"))
    dream(estate)
    page = estate.text(PAGE)
    assert "status: expired" in page and GONE_QUIET in page and "derived_from" not in page
    assert dream(estate).planned == 0
    for path, text in kept.items():
        estate.write(path, text)
    dream(estate)
    page = estate.text(PAGE)
    assert "status: active" in page and GONE_QUIET not in page and "lid-sticks" in page


def test_a_superseded_page_sends_its_notes_to_its_successor(estate: Estate) -> None:
    notes(estate)
    estate.memory("pot-1", "First of acme/pot#1 with the old name.\n")
    estate.memory("pot-2", "Second of acme/pot#2 with the old name.\n")
    dream(estate)
    pot = "Agent/memory/entities/acme-pot.md"
    text = estate.text(pot).replace(
        "status: active\n", "status: superseded\nsuperseded_by: acme-kettle\n"
    )
    estate.write(pot, text)
    dream(estate)
    page = estate.text(PAGE)
    assert "repo:acme/pot" in page and "pot-1" in page and "lid-sticks" in page
    assert estate.text(pot) == text
    assert dream(estate).planned == 0


def test_people_get_pages_once_the_rules_declare_them(estate: Estate) -> None:
    for number in range(2):
        estate.memory(
            f"mail-{number}",
            f"From: Anna Kern <anna@example.org>\n\nMail {number} about lids.\n",
            source=f"email:{number}@example.org",
        )
    assert dream(estate).planned == 0
    declare_person(estate)
    report = dream(estate)
    assert report.applied == 1
    page = estate.text("Agent/memory/entities/anna-kern.md")
    assert page.startswith("---\ntype: person\nstatus: active\n")
    assert "title: Anna Kern\n" in page and "anna@example.org" in page
    assert page.count(": Mail ") == 2 and "From:" not in page, "a header says nothing of her"


def test_a_backlog_drains_oldest_first_within_the_budget(estate: Estate) -> None:
    for number in range(6):
        for part in "ab":
            estate.memory(
                f"n{number}{part}",
                f"Something {part} about https://github.com/acme/lib{number} here.\n",
            )
    estate.limits = estate.limits.model_copy(update={"mutations_per_stage": 4})
    first = dream(estate)
    assert first.applied == 4 and first.measured["share"] == 0
    second = dream(estate)
    assert second.applied == 2
    third = dream(estate)
    assert third.planned == 0 and third.measured["share"] == 1
    with estate.store.transaction() as connection:
        assert queue.rows(connection, NAME) == []


def test_without_a_model_no_paragraph_waits_in_the_queue(estate: Estate) -> None:
    notes(estate)
    estate.memory("third", THIRD)
    dream(estate)
    report = dream(estate)
    assert report.waiting_for_model == 1
    with estate.store.transaction() as connection:
        assert not [row for row in queue.rows(connection) if row.owner == PROSE]
