import pytest

from agentm_assets.evaluation.bars import (
    BarUnusable,
    judge,
    parse_bar,
    parse_bars,
    require_measures,
)


def test_a_bar_is_met_at_its_figure_and_missed_beyond_it() -> None:
    least, most = parse_bar("paraphrase.hit@5>=.9"), parse_bar(" latency.p95_ms <= 60 ")
    assert (least.measure, most.measure) == ("paraphrase.hit@5", "latency.p95_ms")
    assert least.met_by(0.9) and not least.met_by(0.8999)
    assert most.met_by(60.0) and not most.met_by(60.1)
    assert not least.met_by(None) and not most.met_by(None)
    verdict = judge([least, most], {"paraphrase.hit@5": 1.0, "latency.p95_ms": 61.0}, "now")
    assert not verdict.met
    assert not judge([least], {}, "now").met
    assert verdict.json() == {
        "written": "now",
        "met": False,
        "each": [
            {"bar": "paraphrase.hit@5>=.9", "measured": 1.0, "met": True},
            {"bar": "latency.p95_ms <= 60", "measured": 61.0, "met": False},
        ],
    }


def test_a_stratum_may_have_blanks_and_dots() -> None:
    assert parse_bar("a b.c.hit@5>=1").measure == "a b.c.hit@5"


def test_a_file_has_comments() -> None:
    assert [bar.text for bar in parse_bars("# mine\n\na.n>=1\r\n b.n<=2\n")] == ["a.n>=1", "b.n<=2"]


@pytest.mark.parametrize("text", ["", "a", "a>.5", "a>=x", ">=.5", "a>=-1", "a=.5"])
def test_what_is_no_bar_is_refused(text: str) -> None:
    with pytest.raises(BarUnusable, match="is no bar"):
        parse_bar(text)


def test_a_measure_that_the_run_lacks_is_refused_with_those_near_it() -> None:
    with pytest.raises(BarUnusable, match=r"'al\.hit@5', which .* Near it: all\.hit@5"):
        require_measures([parse_bar("al.hit@5>=.9")], {"all.hit@5", "other.n"})
