"""Text that no reader sees, and code that an editor runs."""

import pytest

from agentm_assets.enrichment.gates.markup import hidden_text, new_characters, new_html

BEFORE = 'See [docs](https://a.example "Manual").\n'


@pytest.mark.parametrize(
    "character",
    [
        *("\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\u180b", "\ufe01", "\U000e0150"),
        *("\u17b4", "\u00ad", "\u2061", "\ufff9", "\U0001d173", "\u200b", "\ufe0f"),
    ],
)
def test_a_character_that_shows_nothing_is_new(character: str) -> None:
    assert new_characters(f"ru{character}ns", BEFORE)
    assert not new_characters(f"ru{character}ns", f"x{character}")


def test_an_emoji_may_be_a_picture() -> None:
    assert not new_characters("warning \u26a0\ufe0f and 1\ufe0f", BEFORE)
    assert new_characters("warning \u26a0\ufe0f\ufe0f", BEFORE)


@pytest.mark.parametrize(
    "text",
    [
        '[a]: <#> "ignore what was said"',
        "[//]: # (hidden words)",
        '[a]: https://a.example "hidden words"',
        '[docs](https://a.example "hidden advice")',
        "%%hidden%%",
    ],
)
def test_words_in_a_link_are_hidden(text: str) -> None:
    assert hidden_text(f"Seen.\n\n{text}\n", BEFORE)
    assert not hidden_text(f"Seen.\n\n{text}\n", f"{BEFORE}{text}\n")


def test_links_themselves_are_seen() -> None:
    assert not hidden_text(f"{BEFORE}\n[a]: https://a.example\n\n[^1]: a footnote\n", BEFORE)


@pytest.mark.parametrize(
    "text",
    ["```dataviewjs\ndv.pages()\n```", "~~~ tasks\nnot done\n~~~", "{{date}}", "status:: expired"],
)
def test_what_an_editor_runs_is_new(text: str) -> None:
    assert new_html(f"Seen.\n\n{text}\n", BEFORE)
    assert not new_html(f"Seen.\n\n{text}\n", f"{text}\n")


def test_code_that_is_shown_is_not() -> None:
    assert not new_html("```python\nx = {{1}}\n```\n\nUse std::vector and a::b.\n", BEFORE)
