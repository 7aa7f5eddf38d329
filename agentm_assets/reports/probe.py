"""The round trip, once a day: a synthetic fact is captured, asked for from a fresh process, found,
and retired. It is the one number that says that the memory works.

One invented word stands in the fact's text, another among its names alone. Both questions must find
the note among the first five hits, within ten seconds of the capture. A probe that was found is
retired (its status becomes expired); one that failed keeps its note as it is, for whoever looks.
"""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from agentm_assets.capture.files import append_line
from agentm_assets.capture.request import CaptureRefused, CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.edit import EditRefused, set_key
from agentm_assets.history.outcome import is_worth_a_remark
from agentm_assets.history.run import begin
from agentm_assets.reports.asked import DEPTH
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

PASS: Final = "probe"
TAG: Final = "agentm-probe"
LOG: Final = "probes.jsonl"
MOST_SECONDS: Final = 10.0
"""From the capture to the second answer (design: round-trip probe)."""

_PATIENCE: Final = 60.0  # seconds until the fresh process is ended; over the bar it has failed
_CONSONANTS: Final = "bdfgklmnprstvz"
_VOWELS: Final = "aeiou"

Ask = Callable[[Sequence[str]], list[list[str]]]


class AskingFailed(Exception):
    """The fresh process gave no answer; the text says what it said instead."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """`body_rank` and `alias_rank`: the place of the note among the hits, from 1; None where it was
    not among them. `seconds`: from the end of the capture to the answers. `why`: what went wrong,
    None when nothing did. `path`: the note, None when it could not be captured. `remark`: what the
    operator should hear beside it."""

    at: str
    passed: bool
    capture_ms: float | None
    body_rank: int | None
    alias_rank: int | None
    seconds: float | None
    path: str | None
    why: str | None
    remark: str | None = None

    @property
    def text(self) -> str:
        """One line for the operator."""
        if self.passed:
            return (
                f"found by its text at {self.body_rank}, by a name at {self.alias_rank}, "
                f"{self.seconds:.1f} s after a capture of {self.capture_ms:.0f} ms"
            )
        kept = f"; its note is kept: {self.path}" if self.path else ""
        return f"FAILED: {self.why}{kept}"


def round_trip(
    location: VaultLocation,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    *,
    ask: Ask | None = None,
    word: Callable[[], str] = lambda: invented_word(),
) -> ProbeResult:
    """Capture, ask, find, retire; and enter the result into the log. `now` has a time zone.

    Raises nothing for what is wrong with capture, recall or the vault: the result says it.
    """
    result = _round_trip(location, backend, env, now, ask or _fresh_process(location, env), word)
    try:
        append_line(location.log_dir / LOG, json.dumps(asdict(result), ensure_ascii=False))
    except OSError as error:
        said = f"the log of probes can't be written ({error.strerror})"
        return _with_remark(result, said)
    return result


def read_probes(location: VaultLocation, since: str = "") -> list[ProbeResult]:
    """The results from that moment on (ISO 8601), oldest first. Raises OSError."""
    try:
        data = (location.log_dir / LOG).read_bytes()
    except FileNotFoundError:
        return []
    found: list[ProbeResult] = []
    for line in data.split(b"\n"):
        try:
            written: Any = json.loads(line)
            result = ProbeResult(**written)
        except (ValueError, TypeError):
            continue  # blank, torn, or of a later version
        if datetime.fromisoformat(result.at) >= datetime.fromisoformat(since or result.at):
            found.append(result)
    return found


def invented_word() -> str:
    """A word that nobody has written before: six syllables, some 10^11 of them."""
    return "".join(secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS) for _ in range(6))


def _round_trip(
    location: VaultLocation,
    backend: StorageBackend,
    env: Mapping[str, str],
    now: datetime,
    ask: Ask,
    word: Callable[[], str],
) -> ProbeResult:
    at, day = now.isoformat(timespec="seconds"), f"{now:%Y-%m-%d}"
    in_body, in_name = word(), word()
    began = time.monotonic()
    try:
        captured = capture(
            CaptureRequest(
                text=f"On {day} the gauge in room {in_body} showed 41 units.\n",
                title=f"Round-trip probe {day}",
                type=None,
                status="active",
                tags=(TAG,),
                aliases=(f"{in_name} gauge",),
                captured_by="scheduled",
                probe="round-trip",
            ),
            location,
            env,
            now,
            backend=backend,
        )
    except CaptureRefused as refusal:
        return ProbeResult(at, False, None, None, None, None, None, f"not captured: {refusal}")
    capture_ms = round((time.monotonic() - began) * 1000, 1)
    began = time.monotonic()
    try:
        by_body, by_name = ask(
            (f"what did the gauge in room {in_body} show", f"reading of the {in_name} gauge")
        )
    except AskingFailed as error:
        why = f"recall gave no answer: {error}"
        return ProbeResult(at, False, capture_ms, None, None, None, captured.path, why)
    seconds = round(time.monotonic() - began, 2)
    ranks = (_rank(by_body, captured.path), _rank(by_name, captured.path))
    fault = _fault(ranks, seconds)
    result = ProbeResult(at, fault is None, capture_ms, *ranks, seconds, captured.path, fault)
    if fault is not None:
        return result
    return _retired(location, backend, Locator(captured.path), day, result)


def _rank(paths: Sequence[str], path: str) -> int | None:
    return paths.index(path) + 1 if path in paths[:DEPTH] else None


def _fault(ranks: tuple[int | None, int | None], seconds: float) -> str | None:
    missed = [name for name, rank in zip(("text", "name"), ranks, strict=True) if rank is None]
    if missed:
        return (
            f"not among the first {DEPTH} hits when asked for by its {' or by its '.join(missed)}"
        )
    if seconds > MOST_SECONDS:
        return f"found after {seconds:.1f} s, over {MOST_SECONDS:.0f}"
    return None


def _retired(
    location: VaultLocation, backend: StorageBackend, place: Locator, day: str, result: ProbeResult
) -> ProbeResult:
    try:
        with begin(
            location, backend, pass_name=PASS, subject=f"Retire the round-trip probe of {day}"
        ) as run:
            run.rewrite(place, lambda data: set_key(data, "status", "expired"))
    except (EditRefused, StorageError, FileNotFoundError) as error:
        return _with_remark(result, f"the probe could not be retired: {error}")
    if is_worth_a_remark(run.outcome):
        return _with_remark(result, run.outcome.text)
    return result


def _with_remark(result: ProbeResult, remark: str) -> ProbeResult:
    written = asdict(result)
    return ProbeResult(**{**written, "remark": remark})


def _fresh_process(location: VaultLocation, env: Mapping[str, str]) -> Ask:
    """Asks as somebody does who starts now and knows nothing."""

    def ask(questions: Sequence[str]) -> list[list[str]]:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "agentm_assets.reports.asked", *questions],
                env={**os.environ, **env, **location.environment()},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AskingFailed(f"it took over {_PATIENCE:.0f} s") from error
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
            raise AskingFailed(last[:300] or f"exit code {done.returncode}")
        found: list[list[str]] = json.loads(done.stdout)
        return found

    return ask
