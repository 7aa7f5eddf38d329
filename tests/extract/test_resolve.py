"""Resolution against a slow reference, and what incremental indexing rests on."""

import unicodedata
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.extract.model import Link, LinkKind
from agentm_assets.extract.resolve import CANDIDATE_LIMIT, LinkIndex, match_keys, note_keys

NAMES = ("K", "k", "K.v2", "L", "Caf\u00e9", "cafe\u0301", "a b", "a\u00a0b", "C#", "p.png", "K.md")
FOLDERS = ("", "x", "X", "x/y", "x/z", "y", "y/x", "x/y/x")
ALIASES = ("K", "oil", "Oil", "L", "x/K", "C#", "k.md", "  oil  ")


def under(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


PATHS = st.builds(under, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
NOTES = st.dictionaries(
    PATHS.map(lambda path: path + ".md"), st.lists(st.sampled_from(ALIASES), max_size=2), max_size=9
)
FILES = st.lists(
    st.builds(under, st.sampled_from(FOLDERS), st.sampled_from(("p.png", "P.PNG", "q.qqq", "K"))),
    unique=True,
    max_size=5,
)
TARGETS = st.one_of(
    PATHS,
    PATHS.map(lambda path: path + ".md"),
    PATHS.map(lambda path: "./" + path),
    PATHS.map(lambda path: "../" + path),
    PATHS.map(lambda path: "/" + path),
    PATHS.map(lambda path: path.replace(" ", "%20").replace("#", "%23")),
    st.sampled_from(
        (
            "",
            "oil",
            "OIL",
            "K^b",
            "q.qqq",
            "K?a",
            "x/",
            "..",
            "Nowhere",
            "./",
            "//",
            "x",
            "y/x",
            "../y",
        )
    ),
)
KINDS: tuple[LinkKind, ...] = ("wikilink", "embed", "markdown", "image", "html")
LINKS = st.builds(
    lambda kind, target, anchor: Link(0, kind, target, anchor, None, 0, 1, "body"),
    st.sampled_from(KINDS),
    TARGETS,
    st.sampled_from((None, "", "h", "^b")),
)
SOURCES = st.builds(under, st.sampled_from(FOLDERS), st.sampled_from(("K.md", "n.md")))


@given(NOTES, FILES, LINKS, SOURCES)
@settings(max_examples=1000, deadline=None)
def test_only_files_that_share_a_key_matter(
    notes: dict[str, list[str]], files: list[str], link: Link, source: str
) -> None:
    keys = set(match_keys(link))
    near_notes = {p: a for p, a in notes.items() if keys & set(note_keys(p, a))}
    near_files = [path for path in files if keys & set(note_keys(path, ()))]
    whole = LinkIndex(notes.items(), files).resolve(source, link)
    assert LinkIndex(near_notes.items(), near_files).resolve(source, link) == whole
    if whole.path is not None and whole.path != source:
        assert whole.path in near_notes or whole.path in near_files
        assert set(whole.candidates) <= {*near_notes, *near_files}


@given(NOTES, FILES, LINKS, SOURCES, st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_order_of_the_vault_does_not_matter(
    notes: dict[str, list[str]], files: list[str], link: Link, source: str, random: object
) -> None:
    shuffled, shuffled_files = list(notes.items()), list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(shuffled_files)  # type: ignore[attr-defined]
    assert LinkIndex(shuffled, shuffled_files).resolve(source, link) == LinkIndex(
        notes.items(), files
    ).resolve(source, link)


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\u00a0", " ").casefold()


def spell(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\u00a0", " ")


def steps(source: str, path: str) -> int:
    """Folders to climb and descend from one note's folder to the other's, counted one by one."""
    here, there = source.split("/")[:-1], path.split("/")[:-1]
    while here and there and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return len(here) + len(there)


NAMESAKES = st.builds(under, st.sampled_from(FOLDERS), st.sampled_from(("K", "k", "p.png", "K.md")))


@given(
    st.dictionaries(NAMESAKES.map(lambda path: path + ".md"), st.just([]), max_size=9),
    NAMESAKES,
    SOURCES,
)
@settings(max_examples=600, deadline=None)
def test_wikilinks_resolve_as_by_search(
    notes: dict[str, list[str]], target: str, source: str
) -> None:
    """The order of the rules, written as a search over all paths."""
    link = Link(0, "wikilink", target, None, None, 0, 1, "body")
    found = LinkIndex([(path, []) for path in notes]).resolve(source, link)
    endings = ["", ".md"] if fold(target).endswith((".md", ".png")) else [".md", ""]
    expected: str | None = None
    others: set[str] = set()
    for ending in endings:
        wanted = target + ending
        exact = [path for path in notes if fold(path) == fold(wanted)]
        ends = [path for path in notes if fold("/" + path).endswith(fold("/" + wanted))]
        matches = exact or ends
        if matches:
            expected = min(
                matches,
                key=lambda path: (
                    not spell("/" + path).endswith(spell("/" + wanted)),
                    steps(source, path),
                    len(path),
                    path,
                ),
            )
            others = set(matches) - {expected}
            break
    assert found.path == expected
    assert set(found.candidates) == others
    assert list(found.candidates) == sorted(others, key=lambda path: (len(path), path))


def wikilink(target: str, kind: Literal["wikilink", "embed"] = "wikilink") -> Link:
    return Link(0, kind, target, None, None, 0, 1, "body")


def test_keys_of_links_and_files() -> None:
    assert match_keys(wikilink("Rooms/Oil Lamp.md")) == (
        "=rooms/oil lamp.md",
        "oil lamp",
        "oil lamp.md",
    )
    assert match_keys(wikilink("")) == match_keys(wikilink("rooms/")) == ()
    assert match_keys(Link(0, "html", "Oil", None, None, 0, 1, "body")) == ("oil", "oil/")
    assert note_keys("X/y/Oil\u00a0Lamp.md", ["Light  A"]) == ("=light a", "oil lamp", "x/", "y/")
    assert note_keys("Plan.PDF", ()) == ("plan.pdf",)


def test_many_namesakes_give_a_bounded_list_of_candidates() -> None:
    paths = [f"d{i:03}/README.md" for i in range(300)]
    found = LinkIndex([(path, []) for path in paths]).resolve("d150/a.md", wikilink("README"))
    assert found.path == "d150/README.md"
    assert found.candidates == tuple(paths[:CANDIDATE_LIMIT])
    found = LinkIndex([(path, []) for path in paths]).resolve("d007/a.md", wikilink("README"))
    assert found.candidates == tuple(p for p in paths if "d007" not in p)[:CANDIDATE_LIMIT]


def test_an_image_is_never_meant_by_alias() -> None:
    index = LinkIndex([("a.md", ["Light"])])
    image = Link(0, "image", "Light", None, None, 0, 1, "body")
    assert index.resolve("x.md", image).path is None
    assert index.resolve("x.md", wikilink("Light", "embed")).path == "a.md"


def test_a_target_that_appears_or_goes_changes_the_link() -> None:
    link = wikilink("Lamp")
    assert LinkIndex([]).resolve("a.md", link).how is None
    assert LinkIndex([("x/Lamp.md", [])]).resolve("a.md", link).path == "x/Lamp.md"
    assert LinkIndex([("x/Sun.md", ["lamp"])]).resolve("a.md", link).how == "alias"
