"""Lessons that at least three traces repeat."""
