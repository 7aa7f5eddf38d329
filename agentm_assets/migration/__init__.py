"""Bringing an existing vault onto the filing contract: edits of single lines, nothing moved."""
