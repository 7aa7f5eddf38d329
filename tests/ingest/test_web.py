"""What is read of a page."""

from collections.abc import Callable
from pathlib import Path

from agentm_assets.ingest.report import IngestReport
from agentm_assets.ingest.web import page_text, read_page

Growth = Callable[[Callable[[], object], Callable[[], object], float], float]


def test_the_article_is_read_and_what_surrounds_it_is_not(samples: Path) -> None:
    page = read_page((samples / "web/lime.html").read_bytes())
    assert page.title == "Lime plaster on straw bales"
    assert page.author == "Ida Holm"
    assert page.address == "https://build.example/lime-plaster"
    assert page.headings == ("Lime plaster on straw bales", "The first coat", "Mixing ratio")
    assert "one part of lime putty to three parts of sharp sand" in page.text
    assert "newsletter" not in page.text and "Cookies" not in page.text
    assert page.date == ""


def test_a_saved_page_knows_where_it_came_from(samples: Path) -> None:
    page = read_page((samples / "web/saved.html").read_bytes())
    assert page.address == "https://orchard.example/grafting?a=1&b=2"


def test_the_same_article_in_other_bytes_is_the_same(samples: Path) -> None:
    data = (samples / "web/lime.html").read_bytes()
    other = data.replace(b"<nav>", b'<nav data-visit="8812">').replace(b"Cookies.", b"Biscuits.")
    assert read_page(data).digest == read_page(other).digest


def test_a_page_of_hardly_a_word_gives_nothing(
    samples: Path, sweep: Callable[..., IngestReport]
) -> None:
    (one,) = sweep(samples / "web/thin.html").sources
    assert (one.did, one.made) == ("nothing", ())


def test_a_piece_of_html_becomes_text_without_its_scripts() -> None:
    text = page_text("<div>Meet at <b>noon</b>.<script>alert(1)</script></div>")
    assert "Meet at" in text and "noon" in text and "alert" not in text
    assert page_text("") == ""


def test_what_is_no_html_breaks_nothing() -> None:
    for data in (b"", b"\0\xff" * 50, b"<" * 5_000, b"<html>" * 300):
        assert read_page(data).address == ""
