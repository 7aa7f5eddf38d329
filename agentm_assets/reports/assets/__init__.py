"""The reports group of the asset graph. Only here does this room import Dagster."""
