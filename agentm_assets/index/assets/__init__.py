"""The vault and index groups of the asset graph. Only here does this room import Dagster."""
