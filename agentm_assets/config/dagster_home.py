"""The Dagster home of one vault: its `dagster.yaml`, written by agentm unless the operator took it
over."""

import os
from pathlib import Path

MARK = "# Written by agentm. Remove this line to keep changes of your own."

RUN_BEGAN_FILE = "agentm-index.began"
"""Touched in the home by each run of the command line, once it holds its lock."""

_YAML = f"""{MARK}
# SQLite on a local disk: never put this folder on a synced or network file system.
telemetry: {{enabled: false}}
nux: {{enabled: false}}
run_queue: {{dequeue_interval_seconds: 1}}
concurrency:
  pools: {{default_limit: 1, granularity: op}}
  runs:
    max_concurrent_runs: 3
    tag_concurrency_limits:
      - key: agentm/lane
        value: {{applyLimitPerUniqueValue: true}}
        limit: 1
run_monitoring:
  enabled: true
  poll_interval_seconds: 10
  start_timeout_seconds: 60
  free_slots_after_run_end_seconds: 5
run_retries: {{enabled: true, max_retries: 1, retry_on_asset_or_op_failure: false}}
sensors: {{use_threads: true, num_workers: 4}}
schedules: {{use_threads: true, num_workers: 2}}
retention:
  sensor: {{purge_after_days: {{skipped: 1, success: 14, failure: 30}}}}
  schedule: {{purge_after_days: {{skipped: 7, success: 90, failure: 90}}}}
  auto_materialize: {{purge_after_days: {{skipped: 1, success: 14, failure: 30}}}}
"""
"""What each line is for stands in docs/operating.md."""


def ensure_dagster_home(home: Path) -> Path:
    """Create the home and its `dagster.yaml`; one without our mark is the operator's and stays."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "dagster.yaml"
    if not file.exists() or (_is_ours(file) and file.read_text("utf-8") != _YAML):
        temporary = home / f"dagster.yaml.{os.getpid()}.tmp"
        temporary.write_text(_YAML, "utf-8")
        temporary.replace(file)
    return file


def _is_ours(file: Path) -> bool:
    return file.read_text("utf-8").startswith(MARK)
