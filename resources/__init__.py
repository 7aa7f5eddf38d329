"""Dagster resources: they hand the domain packages to the assets and hold no logic."""
