"""A model behind an installed agent's command line.

The agent runs in an empty folder of its own, so that it finds no project's files and instructions,
and with agentm's hooks switched off, so that the question neither is answered from the vault nor
comes back as a session's trace. The question stands on its standard input, the answer on its
standard output. What ends it ends its whole process group.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from agentm_assets.models.answers import (
    MOST_ANSWER_BYTES,
    count,
    parsed_json,
    table,
    too_long,
    usable,
)
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price, cost_of
from agentm_assets.models.protocol import (
    AnswerUnusable,
    BatchProvider,
    ModelMisconfigured,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
    Usage,
)

HOOKS_OFF = {"AGENTM_HOOKS": "off"}

_MOST_OUTPUT = 2 * MOST_ANSWER_BYTES + 64 * 1024
_LOOK_SECONDS = 0.05
_CHARACTERS_A_TOKEN = 4
"""Where the agent does not tell what it used; about right for English prose."""


class CommandProvider:
    """`command`: the program and its arguments. `env`: what it is started with."""

    def __init__(
        self,
        command: Sequence[str],
        model: str,
        env: Mapping[str, str],
        *,
        price: Price | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._command = tuple(command)
        self._model = model
        self._env = {**env, **HOOKS_OFF}
        self._price = price
        self._pace = pace or Pace()

    def __repr__(self) -> str:
        return f"CommandProvider({self.model_id})"

    @property
    def model_id(self) -> str:
        return f"command/{self._model}"

    @property
    def batches(self) -> BatchProvider | None:
        return None

    def ask(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        began = self._pace.clock()
        asked = prompt(request)
        with tempfile.TemporaryDirectory(prefix="agentm-") as folder:
            output, code = self._run(asked, folder, began + timeout)
        if output is None:
            raise ModelUnavailable(f"{self._program} did not answer within {timeout:g} s.")
        if len(output) >= _MOST_OUTPUT:
            raise too_long(self._usage(asked, "", {}))
        text, used = _unwrapped(output.decode("utf-8", "replace"))
        usage = self._usage(asked, text, used)
        if code != 0:
            raise ModelUnavailable(
                f"{self._program} ended with code {code}. Run it by hand to see why."
            )
        if used.get("is_error"):
            raise AnswerUnusable(f"{self._program} said that it could not answer.", usage)
        return ModelReply(usable(text, usage), self._model, usage, self._pace.clock() - began)

    def reachable(self, *, timeout: float) -> str | None:
        del timeout  # nothing is waited for: the agent is not started, it would cost tokens
        if shutil.which(self._program, path=self._env.get("PATH")) is None:
            return f"there is no program {self._program}. Install it, or correct `command`."
        return None

    @property
    def _program(self) -> str:
        return self._command[0]

    def _run(self, asked: str, folder: str, deadline: float) -> tuple[bytes | None, int]:
        """The output and the exit code; None for the output when the time was over."""
        work = Path(folder, "empty")
        work.mkdir()
        with Path(folder, "question").open("w+b") as question:
            question.write(asked.encode("utf-8", "replace"))
            question.flush()
            question.seek(0)
            process = self._start(question, work)
        try:
            return self._read(process, deadline)
        finally:
            with suppress(ProcessLookupError):  # nobody of the group is left
                os.killpg(process.pid, signal.SIGKILL)
            if process.stdout is not None:
                process.stdout.close()
            process.wait()

    def _start(self, question: IO[bytes], work: Path) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                self._command,
                cwd=work,
                env=self._env,
                stdin=question,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # it may hold the question
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror
        raise ModelMisconfigured(
            f"{self._program} can't be started: {reason}. Install it, or correct `command`."
        )

    def _read(
        self, process: "subprocess.Popen[bytes]", deadline: float
    ) -> tuple[bytes | None, int]:
        out = process.stdout
        assert out is not None
        os.set_blocking(out.fileno(), False)
        pieces: list[bytes] = []
        size, is_open = 0, True
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            while is_open or process.poll() is None:
                left = deadline - self._pace.clock()
                if left <= 0:
                    return None, -1
                # A child of the agent may hold the output open after it: so its end counts, too.
                has_ended = process.poll() is not None
                if is_open and ready.select(min(left, _LOOK_SECONDS)):
                    piece = out.read(64 * 1024)
                    if piece:
                        pieces.append(piece)
                        size += len(piece)
                        if size >= _MOST_OUTPUT:
                            break
                    elif piece is not None:
                        is_open = False
                        ready.unregister(out)
                elif has_ended:
                    break
                elif not is_open:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(min(left, _LOOK_SECONDS))
        code = process.poll()
        return b"".join(pieces), -1 if code is None else code

    def _usage(self, asked: str, text: str, told: Mapping[str, object]) -> Usage:
        used = table(told.get("usage"))
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        spent_in = count(used, "input_tokens", *cached) or len(asked) // _CHARACTERS_A_TOKEN + 1
        spent_out = count(used, "output_tokens") or len(text) // _CHARACTERS_A_TOKEN + 1
        cost = told.get("total_cost_usd")
        if isinstance(cost, float | int) and not isinstance(cost, bool) and cost >= 0:
            return Usage(spent_in, spent_out, float(cost))
        return Usage(spent_in, spent_out, cost_of(self._price, spent_in, spent_out))


def prompt(request: ModelRequest) -> str:
    """One text of a question, since a command line has no place for a schema or a system prompt."""
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return (
        f"{request.system}\n\n{request.user}\n\n"
        "Answer with one JSON object of the following schema and nothing else: no fence, no "
        f"explanation, no use of tools.\n{schema}\n"
    )


def _unwrapped(output: str) -> tuple[str, Mapping[str, object]]:
    """The answer, out of the envelope that Claude Code puts around it with `--output-format json`
    (code.claude.com, CLI reference), and the envelope."""
    envelope = parsed_json(output)
    if isinstance(envelope, dict) and envelope.get("type") == "result":
        held = envelope.get("structured_output")
        if isinstance(held, dict):
            return json.dumps(held, ensure_ascii=False), envelope
        result = envelope.get("result")
        return (result if isinstance(result, str) else ""), envelope
    return output.strip(), {}
