"""What notes of different kinds say together about one thing, and none of them says alone."""
