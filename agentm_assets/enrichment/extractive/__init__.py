"""The embedded judge: no key, no network, and the same judgment for the same note every time."""
