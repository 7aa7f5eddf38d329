"""A summary made of sentences that stand in the note, each as it is written there."""

import re

LONG_NOTE = 600
"""Characters of prose; a shorter note, or one of a single paragraph, is its own summary."""

MOST_CHARACTERS = 300

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*|\r\n?[ \t]*\r\n?\s*")
_SENTENCE = re.compile(r"(?<=[.!?])[\"\u201d')]?\s+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])")
_WORD = re.compile(r"[^\W_]{3,}")
_NO_SENTENCE = re.compile(r"\s*(?:#|[-*+>|]|\d{1,3}[.)]|!?\[)")
_SHORTEST = 30
_READ = 200  # sentences
_IMAGE_OR_LINK = re.compile(
    r"(!?)\[([^\[\]]*+)\]\([ \t]*+(?:<[^<>\r\n]*+>|[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)"
    r"(?:[ \t]++\"[^\"\r\n]*+\")?+[ \t]*+\)"
)


def summarise(title: str, text: str) -> str | None:
    """One or two sentences, at most MOST_CHARACTERS, that hold most of what the note comes back to
    (words it repeats and those of its title), in the order of the note; None for a short note.

    `text`: the body with blocks of code and comments blanked. Of a link only its text is taken.
    """
    shown = _IMAGE_OR_LINK.sub(lambda match: "" if match[1] else match[2], text)
    paragraphs = [part for part in _PARAGRAPH.split(shown) if part.strip()]
    if len(paragraphs) < 2 or sum(len(" ".join(part.split())) for part in paragraphs) < LONG_NOTE:
        return None
    sentences = _sentences(paragraphs)
    if not sentences:
        return None
    words = [set(_WORD.findall(sentence.casefold())) for sentence in sentences]
    shared: dict[str, int] = {}
    for each in words:
        for word in each:
            shared[word] = shared.get(word, 0) + 1
    named = set(_WORD.findall(title.casefold()))

    def worth(at: int) -> tuple[float, int]:
        repeated = sum(1 for word in words[at] if shared[word] > 1)
        in_title = 3 * len(words[at] & named)
        return -(repeated + in_title) / (len(words[at]) + 8) - 0.2 / (at + 1), at

    best = sorted(range(len(sentences)), key=worth)
    taken: list[int] = []
    for at in best:
        if len(taken) < 2 and sum(len(sentences[i]) + 1 for i in (*taken, at)) <= MOST_CHARACTERS:
            taken.append(at)
    return " ".join(sentences[at] for at in sorted(taken)) or None


def _sentences(paragraphs: list[str]) -> list[str]:
    found: list[str] = []
    for paragraph in paragraphs:
        if _NO_SENTENCE.match(paragraph):
            continue
        for part in _SENTENCE.split(paragraph):
            sentence = " ".join(part.split())
            if _SHORTEST <= len(sentence) <= MOST_CHARACTERS and sentence[-1] in ".!?\u3002":
                found.append(sentence)
                if len(found) == _READ:
                    return found
    return found
