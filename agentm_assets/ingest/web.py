"""What a web page says: its text without what surrounds it, and what it tells of itself."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from agentm_assets.ledger.source_ids import NoSource, source_id

MOST_BYTES: Final = 10 * 1024 * 1024

_HEADING: Final = re.compile(r"^#{1,4}[ \t]+(\S.*)$", re.MULTILINE)
_SAVED_FROM: Final = re.compile(
    rb"<!-- saved from url=\(\d{1,6}\)(https?://[^\s\"'<>]{1,2000}) ?-->", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Page:
    """`address`: what the page says its own address is, "" when it says none that can be used.
    `text`: markdown. `digest`: of title and text, since the bytes of a page change with every
    visit."""

    address: str
    title: str
    author: str
    site: str
    date: str
    description: str
    headings: tuple[str, ...]
    text: str
    digest: str


def read_page(data: bytes) -> Page:
    """A page from the bytes of its HTML."""
    # trafilatura takes half a second to import
    import trafilatura
    from lxml.etree import LxmlError
    from trafilatura.settings import use_config

    config = use_config()
    config.set("DEFAULT", "MAX_FILE_SIZE", str(MOST_BYTES))
    try:
        found = trafilatura.bare_extraction(
            data,
            output_format="python",
            include_comments=False,
            include_formatting=True,
            with_metadata=True,
            date_extraction_params={"extensive_search": False, "original_date": True},
            config=config,
        )
    except (LxmlError, ValueError, AssertionError, RecursionError):
        found = None
    told = found if isinstance(found, dict) else {} if found is None else found.as_dict()
    text = str(told.get("text") or "").strip()
    title = _line(told.get("title"))
    saved = _SAVED_FROM.search(data[:4_096])
    claimed = saved[1].decode("ascii", "replace") if saved else _line(told.get("url"))
    return Page(
        address=_address(claimed),
        title=title,
        author=_line(told.get("author")),
        site=_line(told.get("sitename")),
        date=_line(told.get("date")),
        description=_line(told.get("description")),
        headings=tuple(" ".join(each.rstrip("# \t").split()) for each in _HEADING.findall(text)),
        text=text,
        digest=sha256(f"{title}\n{text}".encode("utf-8", "replace")).hexdigest(),
    )


def page_text(html: str) -> str:
    """The words of a piece of HTML, such as a mail's body."""
    text = read_page(html.encode("utf-8", "replace")).text
    if text or not html.strip():
        return text
    from lxml.etree import LxmlError
    from lxml.html import document_fromstring

    try:
        tree = document_fromstring(html.encode("utf-8", "replace"))
    except (LxmlError, ValueError):
        return ""
    for element in tree.iter("script", "style"):
        element.text = None
    return " ".join(str(tree.text_content()).split())


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _address(claimed: str) -> str:
    try:
        return source_id(claimed).removeprefix("url:") if "://" in claimed else ""
    except NoSource:
        return ""
