"""Dagster schedules and the housekeeping job that only Dagster itself needs."""
