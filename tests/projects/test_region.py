import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.projects.region import BEGIN, END, RegionDamaged, with_region

WITHOUT_MARKS = st.binary().filter(lambda data: b"<!-- agentm" not in data)
MARKED = b"above\n" + BEGIN + b"\nold\n" + END + b"\nbelow"


def test_only_what_is_between_the_marks_changes() -> None:
    assert with_region(MARKED, ["new", "é"]) == (
        b"above\n" + BEGIN + "\nnew\né\n".encode() + END + b"\nbelow"
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_page_without_marks_gets_them_at_its_end(end: bytes) -> None:
    page = b"one" + end + b"two"
    made = with_region(page, ["x"])
    assert made == page + end + end + BEGIN + end + b"x" + end + END + end
    assert with_region(made, ["x"]) == made


@pytest.mark.parametrize(
    "page",
    [
        BEGIN + b"\nno end\n",
        END + b"\n" + BEGIN + b"\n",
        MARKED + b"\n" + MARKED,
        BEGIN + b"\n" + BEGIN + b"\n" + END + b"\n",
        MARKED + b"\n" + END + b"\n",
        BEGIN,
    ],
)
def test_damaged_marks_are_not_guessed_at(page: bytes) -> None:
    with pytest.raises(RegionDamaged):
        with_region(page, ["x"])


@given(WITHOUT_MARKS, WITHOUT_MARKS, st.lists(st.text("ab é", max_size=5)))
def test_what_is_around_survives_any_bytes(before: bytes, after: bytes, lines: list[str]) -> None:
    page = before + b"\n" + BEGIN + b"\nold\n" + END + b"\n" + after
    made = with_region(page, lines)
    assert made.startswith(before + b"\n" + BEGIN) and made.endswith(END + b"\n" + after)
    assert with_region(made, lines) == made
