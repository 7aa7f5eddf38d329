"""Enrichment: one pass that judges a memory, between gates that need no model."""
