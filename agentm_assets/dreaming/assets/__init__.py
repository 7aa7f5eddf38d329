"""The stages in the graph: one asset each, thin."""
