"""People that mail headers, commit trailers and properties name."""

from collections.abc import Callable

import pytest

from agentm_assets.extract.entities import entities_in_question, extract_entities, key_of
from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.mask import ALL, blank, find_regions
from agentm_assets.extract.model import EntityMention

NOTHING = EntityContext()


def people(text: str) -> dict[str, EntityMention]:
    start = text.index("---\n", 4) + 4 if text.startswith("---\n") else 0
    masked = text[:start] + blank(text[start:], find_regions(text[start:]), ALL)
    found = extract_entities(text, masked, NOTHING, lambda at: at, body_start=start)
    return {each.key: each for each in found if each.kind == "person"}


@pytest.mark.parametrize(
    ("line", "key", "name"),
    [
        ("From: Anna Kern <Anna.Kern@Example.org>", "person:anna.kern@example.org", "Anna Kern"),
        ('To: "Kern, Bo" <bo@example.org>', "person:bo@example.org", "Kern, Bo"),
        ("Cc: cy@example.net", "person:cy@example.net", None),
        ("> **From:** Dee O'Neil <dee@example.org>", "person:dee@example.org", "Dee O'Neil"),
        (
            "Co-authored-by: Mona <583231+Octocat@users.noreply.github.com>",
            "person:octocat",
            "Mona",
        ),
        ("Signed-off-by: Zoë Müller <zoe@example.org>", "person:zoe@example.org", "Zoë Müller"),
        ("Reviewed-by: 王小明 <ming@example.cn>", "person:ming@example.cn", "王小明"),
        ("Author: Anna <anna@example.org>", "person:anna@example.org", "Anna"),
    ],
)
def test_a_line_that_says_whose_an_address_is_names_a_person(
    line: str, key: str, name: str | None
) -> None:
    (mention,) = people(f"Before.\n{line}\nAfter.\n").values()
    assert (mention.key, mention.detail, mention.confidence) == (key, name, "high")


@pytest.mark.parametrize(
    "line",
    [
        "From: GitHub <noreply@github.com>",
        "From: notifications@example.org",
        "`From: Anna <anna@example.org>`",
        "write to anna@example.org about it",
        "From: here to there",
        "standby: anna",
    ],
)
def test_nobody_is_named_elsewhere(line: str) -> None:
    assert people(line) == {}


def test_several_people_of_one_line_and_a_login_beside_its_address() -> None:
    text = "To: A B <a@example.org>, C D <c@example.org>; e@example.org\nThanks @octocat\n"
    text += "Tested-by: Mona <octocat@users.noreply.github.com>\n"
    found = people(text)
    assert set(found) == {
        "person:a@example.org",
        "person:c@example.org",
        "person:e@example.org",
        "person:octocat",
    }
    assert found["person:octocat"].count == 2
    assert found["person:octocat"].confidence == "high"


def test_the_author_of_a_session_is_named_by_its_properties_alone() -> None:
    found = people("---\nkind: conversation\nauthor: Anna Kern\n---\nauthor: Bo Lind\n")
    assert list(found) == ["person:anna-kern"]
    assert found["person:anna-kern"].detail == "Anna Kern"


def test_a_question_may_name_a_person_by_address() -> None:
    assert entities_in_question("what did Bo@example.org say?", NOTHING) == (
        "person:bo@example.org",
    )
    assert key_of("anna@example.org", NOTHING) == "person:anna@example.org"


def test_long_headers_take_linear_time(
    growth: Callable[[Callable[[], object], Callable[[], object], float], float],
) -> None:
    def text(size: int) -> str:
        return "From: " + "a.b-c " * size + "\n" + ("To: " + "x@y" * 300 + "\n") * (size // 100)

    assert growth(lambda: people(text(2_000)), lambda: people(text(8_000)), 0.02) < 8
