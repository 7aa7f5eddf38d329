"""The memory graph: notes and the links between them, as a picture and as a page."""
