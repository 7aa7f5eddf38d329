"""Tomorrow's brief: what the coming day finds open."""
