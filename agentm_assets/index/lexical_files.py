"""The files of the lexical serving folder: generations of a tantivy index, and the manifest that
names the current one and says what it holds."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import tantivy

from agentm_assets.index.lexical_schema import FORMAT, build_schema, register_analyzers
from agentm_assets.index.serving import ServingUnreadable

_MANIFEST = "manifest.json"
_PREFIX = "gen-"


@dataclass(frozen=True, slots=True)
class LexicalState:
    """For which index and up to which revision the files hold, and which generation they are."""

    format: int
    index_id: str
    rev: int
    generation: int


@contextlib.contextmanager
def tantivy_errors(home: Path) -> Iterator[None]:
    """What tantivy raises over damaged files becomes ServingUnreadable."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise ServingUnreadable(f"the lexical index {home} can't be used: {error}") from error
    except BaseException as error:
        # Rust's panics arrive under a class that no module exports.
        if type(error).__name__ != "PanicException":
            raise
        raise ServingUnreadable(f"the lexical index {home} is damaged: {error}") from error


def read_manifest(folder: Path) -> LexicalState:
    """Raises ServingUnreadable when it is missing, damaged or of another format."""
    path = folder / _MANIFEST
    try:
        state = LexicalState(**json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise ServingUnreadable(f"there is no lexical index at {folder}") from error
    except (OSError, ValueError, TypeError) as error:
        raise ServingUnreadable(f"{path} can't be read: {type(error).__name__}") from error
    if state.format != FORMAT:
        raise ServingUnreadable(
            f"the lexical index {folder} has format {state.format}, this agentm reads {FORMAT}"
        )
    if not all(isinstance(number, int) and number >= 0 for number in (state.rev, state.generation)):
        raise ServingUnreadable(f"{path} does not say what it should")
    return state


def write_manifest(folder: Path, state: LexicalState) -> None:
    """Replace the manifest, so that a reader sees either the old or the new one."""
    temporary = folder / f"{_MANIFEST}.{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / _MANIFEST)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def generation_home(folder: Path, number: int) -> Path:
    """The folder of one generation."""
    return folder / f"{_PREFIX}{number:06d}"


def next_generation(folder: Path) -> int:
    """A number above that of every generation there is, finished or not."""
    numbers = [path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*")]
    return max((int(number) for number in numbers if number.isdigit()), default=0) + 1


def create_generation(folder: Path, number: int) -> tantivy.Index:
    """A new, empty generation."""
    home = generation_home(folder, number)
    home.mkdir(parents=True)
    index = tantivy.Index(build_schema(), path=str(home))
    register_analyzers(index)
    return index


def open_generation(folder: Path, number: int) -> tantivy.Index:
    """Raises ServingUnreadable when it is missing or damaged."""
    home = generation_home(folder, number)
    with tantivy_errors(home):
        index = tantivy.Index.open(str(home))
        register_analyzers(index)
    return index


def remove_others(folder: Path, number: int) -> None:
    """Delete the other generations and what killed publishers left. Readers that still have a
    generation open keep it until they let go."""
    keep = {generation_home(folder, number).name, _MANIFEST}
    for path in folder.iterdir():
        if path.name in keep:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def file_sizes(home: Path) -> dict[str, int]:
    """Name and size in bytes of each file of a generation."""
    return {entry.name: entry.stat().st_size for entry in os.scandir(home)}
