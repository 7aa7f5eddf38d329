"""Stages that write pages and footers from the notes alone: no model, same input, same bytes."""
