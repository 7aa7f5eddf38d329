"""What may stand in an entity reference, and what may stand beside it.

Shared by the bare forms and the URLs. The shapes of owners, repositories and hashes are GitHub's
(docs: "Autolinked references and URLs"); the word lists are what the same shapes mean in prose.
"""

import re

from agentm_assets.extract.word_lists import FOLDERS, PAGE_ENDS, PAIR_WORDS

BOUNDARY = r"\s(\[{<\"'`,;:*|"
"""For a character class: a reference starts behind one of these or at the start of the text."""

RIGHT = r"(?!\w)(?!\.\d)"
"""A reference does not run on as a word, nor as a version number."""

NUMBER = r"[1-9][0-9]{0,9}"
OWNER = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]{1,38})?"
REPO = r"[A-Za-z0-9._-]{1,100}"

_OWNER = re.compile(OWNER)
_OWNER_BEFORE = re.compile(rf"(?<![^{BOUNDARY}]){OWNER}\Z")
_BOUNDARY = re.compile(rf"[{BOUNDARY}]")

# Scripts that put no blank between words: a reference may touch them on either side.
_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
_OPENING = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015‘‚“„«‹、。〈《「『【〔〖〘〚（，：；［")
_LETTER, _SYMBOL = "ª", "\x7f"  # a letter that no reference holds, and neither letter nor blank
_REPO = re.compile(REPO)

_HASH = re.compile(r"[0-9a-fA-F]{7,40}")
# Words of hexadecimal letters (remark-github's list).
_HEX_WORDS = frozenset({"acceded", "deedeed", "defaced", "effaced", "fabaceae"})
_DATE_LIKE = re.compile(r"(?:19|20)\d{6}(?:\d{4}|\d{6})?")

_PAIRS = frozenset({"i/o", "n/a", "w/o", "a/c", "b/w", "m/s", "g/l", "mg/l"})
_LONGEST_OWNER = 39


def is_owner(name: str) -> bool:
    """A GitHub account: at most 39 of letters, digits and single inner hyphens.

    A trailing hyphen is allowed (old accounts), and one underscore before the short code of an
    enterprise-managed user.
    """
    return len(name) <= _LONGEST_OWNER and "--" not in name and _OWNER.fullmatch(name) is not None


def is_repo(name: str) -> bool:
    """A repository name as GitHub takes it; `.git` belongs to the address, not to the name."""
    return (
        _REPO.fullmatch(name) is not None
        and name not in (".", "..")
        and not name.lower().endswith(".git")
    )


def strip_git_suffix(name: str) -> str:
    return name[:-4] if name.lower().endswith(".git") and len(name) > 4 else name


def reads_as_repository(owner: str, repo: str) -> bool:
    """Whether `owner/repo` written without a URL is a repository, not a path or a pair of words.

    `path/to`, `docs/setup`, `and/or`, `24/7`, `notes/page.md` are not.
    """
    first, second = owner.lower(), repo.lower()
    return (
        is_owner(owner)
        and is_repo(repo)
        and first not in FOLDERS
        and first not in PAIR_WORDS
        and f"{first}/{second}" not in _PAIRS
        and not (first.isdigit() and second.isdigit())
        and not ("." in second and second.rpartition(".")[2] in PAGE_ENDS)
    )


def is_hash(text: str) -> bool:
    """A commit hash, whole or shortened, where nothing else can stand (`/commit/…`)."""
    return _HASH.fullmatch(text) is not None


def is_sha(text: str) -> bool:
    """A commit hash where a word, a tag or a date may stand as well (`o/r@…`, `compare/…`)."""
    return is_hash(text) and text.lower() not in _HEX_WORDS and _DATE_LIKE.fullmatch(text) is None


def is_bare_sha(text: str) -> bool:
    """A commit hash with nothing around it that says so: it must mix letters and digits.

    32 hexadecimal digits are an MD5 or a UUID without hyphens.
    """
    return (
        is_sha(text)
        and len(text) != 32
        and any(char.isdigit() for char in text)
        and any(char in "abcdef" for char in text)
    )


def left_boundary(bare: str, start: int) -> bool:
    """Whether a reference may start at `start`."""
    return start == 0 or _BOUNDARY.match(bare, start - 1) is not None


def owner_before(bare: str, slash: int) -> str | None:
    """The account that ends at the slash of `owner/repo`, None where none stands alone there."""
    match = _OWNER_BEFORE.search(bare, max(0, slash - _LONGEST_OWNER), slash)
    return match[0] if match else None


class _PlainTable(dict[int, str]):
    """ASCII as it is, every other character by what it means beside a reference."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code < 128:
            plain = char
        elif (
            char.isspace()
            or char in _OPENING
            or any(first <= code <= last for first, last in _UNSPACED)
        ):
            plain = " "
        else:
            plain = _LETTER if char.isalnum() else _SYMBOL
        self[code] = plain
        return plain


_PLAIN = _PlainTable()


def plain(text: str) -> str:
    """`text` for matching: what is not ASCII becomes a blank, a letter or a symbol; same length.

    References are ASCII, only their neighbours are not. Patterns with the ranges of all scripts in
    them take 100 ms to compile, which a capture has not.
    """
    return text if text.isascii() else text.translate(_PLAIN)
