"""Notes that link to the hits: one step away from what was asked, and marked as such."""

from collections.abc import Sequence

from agentm_assets.recall.answer import Hit, LinkedNote
from agentm_assets.recall.pool import eligible
from agentm_assets.recall.question import Asked, RecallOptions
from agentm_assets.recall.sources import Sources


def linking(
    hits: Sequence[Hit], asked: Asked, options: RecallOptions, sources: Sources
) -> tuple[LinkedNote, ...]:
    """At most `k` notes that link to a hit and may be shown, but are no hits themselves: those that
    link to more hits first, then those that link to a better one.

    Raises ServingUnreadable.
    """
    paths = list(dict.fromkeys(hit.path for hit in hits))
    seen = {*paths, *(path for hit in hits for path in hit.duplicates)}
    targets: dict[str, dict[str, None]] = {}
    for path in paths:
        for link in sources.facts.backlinks(path):
            if link.path not in seen:
                targets.setdefault(link.path, {})[path] = None
    rows = {
        note.path: (chunk, note)
        for chunk, note in sources.facts.notes_with_first_chunk(sorted(targets))
    }
    notes = [each.note for each in eligible(rows, asked, options, sources).values()]
    notes.sort(
        key=lambda note: (
            -len(targets[note.path]),
            min(map(paths.index, targets[note.path])),
            note.path,
        )
    )
    return tuple(
        LinkedNote(
            path=note.path,
            title=note.title,
            status=note.status,
            type=note.type,
            captured=note.captured,
            links_to=tuple(targets[note.path]),
        )
        for note in notes[: options.k]
    )
