"""Dagster sensors: thin shells around pure decisions in the domain packages."""
