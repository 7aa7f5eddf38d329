"""Why something cannot be read. Both texts name the cure and quote no content of a note."""


class ReadingRefused(Exception):
    """What was asked for cannot be given: a bad path, an unknown section, no such note."""


class NoteShut(Exception):
    """The note is there, but the machine does not let it be read now."""
