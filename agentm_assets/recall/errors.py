"""Why a question gets no answer at all."""


class QuestionRefused(Exception):
    """The question or an option cannot be used. The text says what is wrong and the cure."""


class IndexMissing(Exception):
    """There is no usable index of this vault. The text says why and the cure."""
