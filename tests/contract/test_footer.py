"""The footer: stripping it gives the exact bytes back, and nothing reads it as body."""

from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.contract.fingerprint import fingerprint
from agentm_assets.contract.footer import (
    CLOSING,
    OPENING,
    find_footer,
    strip_footer,
    with_footer,
    without_footer,
)

BODIES = st.lists(
    st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b" ", b"---\n", b"\xff", OPENING, CLOSING]),
    max_size=12,
).map(b"".join)


@given(body=BODIES.filter(lambda body: find_footer(body) is None), count=st.integers(1, 3))
def test_stripping_restores_the_exact_bytes(body: bytes, count: int) -> None:
    footed = with_footer(body, [f"- [[n{n}]]" for n in range(count)])
    assert find_footer(footed) is not None
    assert strip_footer(footed) == body
    assert with_footer(footed, ["- [[other]]"]) == with_footer(body, ["- [[other]]"])
    assert with_footer(footed, []) == body
    assert without_footer(footed) == body
    assert fingerprint(footed) == fingerprint(body)


def test_what_somebody_wrote_behind_it_stays_and_keeps_its_place() -> None:
    footed = with_footer(b"body\n", ["- [[a]]"]) + b"mine [[b]]\n"
    assert strip_footer(footed) == b"body\nmine [[b]]\n"
    masked = without_footer(footed)
    assert len(masked) == len(footed)
    assert masked.endswith(b"mine [[b]]\n")
    assert b"[[a]]" not in masked
    assert with_footer(footed, ["- [[a]]"]).endswith(CLOSING + b"\n")


def test_marks_that_are_no_footer_are_text() -> None:
    for text in (OPENING, b"x " + OPENING + b"\n" + CLOSING, OPENING + b"\nno end", CLOSING):
        assert find_footer(text) is None
