"""The one error that a wrong configuration raises."""


class ConfigError(Exception):
    """The configuration cannot be used.

    The text is one sentence or two for the operator: what is wrong, where it stands, and the cure.
    Commands end with exit code 2 on it.
    """
