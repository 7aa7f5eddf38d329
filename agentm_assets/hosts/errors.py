"""Why a host's configuration is left as it is."""


class HostRefused(Exception):
    """Nothing more was changed. The text names the file, what is in the way, and the cure; it
    quotes nothing of the file, which may hold secrets."""
