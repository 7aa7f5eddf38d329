"""What every serving file has in common: it is a cache, and it can fail to be readable."""


class ServingUnreadable(Exception):
    """A serving file is missing, damaged, of another version, or busy.

    The text says which and why. Nothing is lost with it: `agentm index` writes it anew.
    """
