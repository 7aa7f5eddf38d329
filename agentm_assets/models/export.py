"""Exports a sentence-transformers model to an ONNX folder, once per machine.

The work that needs torch runs in a process of its own (`export_graph`): torch takes seconds to
import and 500 MB to keep, and it prints. A finished folder appears by one rename; whatever
interrupts an export leaves only a temporary folder, which the next export removes.
"""

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock, Timeout

from agentm_assets.models.manifest import (
    ModelFolderUnusable,
    Precision,
    load_manifest,
    model_id,
)
from agentm_assets.models.weights import (
    DEFAULT_MODEL,
    PINNED_WEIGHTS,
    ModelSource,
    pinned_config_sha256,
)

EXPORT_SECONDS = 1800.0  # the default takes 15 to 25; a model of 500 MB some minutes
_TEMPORARY = ".export-"
_LAST_LINES = 12


class ExportFailed(Exception):
    """The model could not be exported. The message says why and what to do."""


def models_folder(cache: Path) -> Path:
    """Where the exports of all models are kept under the cache folder."""
    return cache / "models"


def default_model_id(precision: Precision = "int8") -> str:
    """Id of the embedded default, without reading a file."""
    return model_id(DEFAULT_MODEL, PINNED_WEIGHTS, pinned_config_sha256(), precision)


def source_model_id(source: ModelSource, precision: Precision = "int8") -> str:
    """Id under which `source` is exported."""
    return model_id(source.name, source.weights_sha256, source.config_sha256, precision)


def ensure_exported(
    source: ModelSource,
    cache: Path,
    *,
    precision: Precision = "int8",
    timeout: float = EXPORT_SECONDS,
) -> Path:
    """The folder of the exported model, exported now if it is not there or not usable.

    Two processes that ask at once export once: the second waits for at most `timeout` seconds.
    Raises ExportFailed.
    """
    models = models_folder(cache)
    folder = models / source_model_id(source, precision)
    if _usable(folder):
        return folder
    models.mkdir(parents=True, exist_ok=True)
    lock = FileLock(models / ".export.lock", timeout=timeout)
    try:
        with lock:
            if not _usable(folder):
                _remove_leftovers(models)
                _export(source, models, folder, precision, timeout)
    except Timeout as error:
        raise ExportFailed(
            f"another process has been exporting a model for more than {timeout:.0f} s and holds "
            f"{lock.lock_file}; end that process, or wait for it, and try again"
        ) from error
    return folder


def _usable(folder: Path) -> bool:
    try:
        load_manifest(folder)
    except ModelFolderUnusable:
        return False
    return True


def _remove_leftovers(models: Path) -> None:
    # Called under the lock, so nobody alive is waiting for these.
    for leftover in models.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _export(
    source: ModelSource, models: Path, folder: Path, precision: Precision, timeout: float
) -> None:
    try:
        with _temporary_folder(models) as work:
            finished = work / "finished"
            finished.mkdir()
            _run_exporter(source, finished, precision, timeout)
            load_manifest(finished)
            _sync_files(finished)
            if folder.exists():  # unusable, else we would not be here
                folder.rename(work / "replaced")
            finished.rename(folder)
            _sync_folder(models)
    except OSError as error:
        cure = (
            "free some space (an export of the default needs 250 MB for a while)"
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "check that this user may write there"
        )
        raise ExportFailed(
            f"exporting {source.name} to {folder} failed: {error.strerror or error}; {cure}"
        ) from error


@contextlib.contextmanager
def _temporary_folder(models: Path) -> Iterator[Path]:
    work = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=models))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run_exporter(
    source: ModelSource, finished: Path, precision: Precision, timeout: float
) -> None:
    package_root = str(Path(__file__).resolve().parents[2])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            part for part in (package_root, os.environ.get("PYTHONPATH")) if part
        ),
        # These must stand before the libraries are imported: another reason for a process.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TOKENIZERS_PARALLELISM": "false",
    }
    command = [
        sys.executable,
        "-m",
        "agentm_assets.models.export_graph",
        json.dumps({**asdict(source), "folder": str(source.folder)}),
        str(finished),
        precision,
    ]
    # Output goes to a file: a pipe would keep us waiting for a grandchild that outlives a kill.
    with tempfile.TemporaryFile() as output:
        try:
            exporter = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ExportFailed(
                f"exporting {source.name} took more than {timeout:.0f} s and was stopped; "
                "try again on a less busy machine or name a smaller model"
            ) from error
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    if exporter.returncode != 0:
        raise ExportFailed(
            f"{source.name} ({source.folder}) can't be exported to ONNX "
            f"(exit status {exporter.returncode}). Name another sentence-transformers model, or "
            f"report this. The exporter's last words:\n{_last_lines(said)}"
        )


def _last_lines(said: str) -> str:
    return "\n".join(said.replace("\r", "\n").rstrip().split("\n")[-_LAST_LINES:])


def _sync_files(folder: Path) -> None:
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
