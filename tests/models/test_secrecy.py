"""Neither key nor text comes out anywhere: not in a log record, an error, a representation, a line
of the spend log, a file that stays."""

import json
import logging
import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from asking import NOW, Waits, question
from model_servers import (
    KEY,
    AnthropicServer,
    Busy,
    Drop,
    Hang,
    ModelServer,
    Raw,
    Stop,
    anthropic_server,
    openai_server,
)

from agentm_assets.config.vault import locate
from agentm_assets.models.anthropic import AnthropicProvider
from agentm_assets.models.command import CommandProvider
from agentm_assets.models.metered import MeteredProvider
from agentm_assets.models.openai_compatible import OpenAICompatibleProvider
from agentm_assets.models.protocol import ModelError, Provider
from agentm_assets.models.spend import LOG, SpendLog

SECRET = "perished-seal-of-the-kettle"
ECHO = f"Incorrect API key provided: {KEY}. You wrote: {SECRET}"


class Recording(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.getMessage()} {record.__dict__}")


@pytest.fixture
def records() -> Iterator[list[str]]:
    handler = Recording()
    root = logging.getLogger()
    names = [name for name in logging.root.manager.loggerDict if name.startswith("http")]
    loggers = [root, *(logging.getLogger(name) for name in names)]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(1)
    root.addHandler(handler)
    yield handler.said
    root.removeHandler(handler)
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)


def troubles(server: ModelServer) -> list[object]:
    echoed = {"error": {"type": SECRET, "code": SECRET, "message": ECHO}}
    cut = "max_tokens" if isinstance(server, AnthropicServer) else "length"
    return [
        None,
        Busy(400, code=SECRET, message=ECHO),
        Busy(401, code="authentication_error", message=ECHO),
        Busy(404, code=SECRET, message=ECHO),
        Busy(500, code=SECRET, message=ECHO),
        Raw(json.dumps(echoed).encode(), status=403),
        Raw(ECHO.encode(), "text/plain"),
        Raw(ECHO.encode() * 100_000),
        Raw(b"", status=302, headers=(("location", f"http://127.0.0.1:1/{SECRET}"),)),
        Drop(),
        Drop(in_body=True),
        Hang(),
        Stop(cut, text=ECHO),
        Stop("refusal", text=ECHO, refusal=ECHO),
    ]


@pytest.mark.parametrize("kind", ["anthropic", "openai-compatible"])
def test_nothing_of_key_or_text_comes_out(
    kind: str, records: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "vault").mkdir()
    env = {"HOME": str(tmp_path), "AGENTM_VAULT": str(tmp_path / "vault")}
    location = locate(env)
    said: list[str] = []
    opened = anthropic_server() if kind == "anthropic" else openai_server()
    with opened as server:
        bare = provider_of(server)
        provider = MeteredProvider(
            bare, "strong", SpendLog(location), pass_name="p", run_id="r", now=lambda: NOW
        )
        for trouble in troubles(server):
            server.trouble += [] if trouble is None else [trouble] * 8  # type: ignore[list-item]
            for call in (
                lambda: provider.ask(question(user=SECRET), timeout=0.5),
                lambda: provider.reachable(timeout=0.5),
                lambda: provider.batches.submit([question(user=SECRET)], timeout=0.5),  # type: ignore[union-attr]
                lambda: provider.batches.state("batch_1", timeout=0.5),  # type: ignore[union-attr]
                lambda: list(provider.batches.results("batch_1", timeout=0.5)),  # type: ignore[union-attr]
            ):
                try:
                    answer = call()
                except ModelError as error:
                    said += everything(error)
                else:
                    if not hasattr(answer, "text"):
                        said.append(repr(answer))
                server.trouble = [t for t in server.trouble if t is trouble]
            server.trouble.clear()
        assert server.seen(SECRET.encode()), "it was asked at all"
        assert len(said) > 20
        said += [repr(bare), repr(provider), repr(getattr(bare, "_http", "")), str(vars(provider))]
    assert records, "the loggers were heard"
    said += records
    said.append((location.log_dir / LOG).read_text())
    for each in said:
        assert KEY not in each
        assert SECRET not in each
    left = [file for file in (tmp_path / "temporary").rglob("*") if file.is_file()]
    assert left == []


def test_a_command_tells_nothing_of_the_text(records: list[str], tmp_path: Path) -> None:
    said: list[str] = []
    for program in ("print(input())\nraise SystemExit(input())", "import time; time.sleep(60)", ""):
        provider = CommandProvider([sys.executable, "-c", program], "agent", dict(os.environ))
        with suppress(ModelError):
            try:
                provider.ask(question(user=SECRET), timeout=1)
            except ModelError as error:
                said += everything(error)
                raise
        said.append(repr(provider))
    assert len(said) > 6
    assert not any(SECRET in each for each in said + records)


def provider_of(server: ModelServer) -> Provider:
    pace = Waits().pace
    if isinstance(server, AnthropicServer):
        return AnthropicProvider("test-model", KEY, base_url=server.url, pace=pace)
    return OpenAICompatibleProvider(
        "test-model", KEY, base_url=server.url, has_batches=True, pace=pace
    )


def everything(error: BaseException) -> list[str]:
    """Whatever a log, a UI or another process could print of an error and of its causes."""
    said = ["".join(traceback.format_exception(error)), repr(error), str(vars(error))]
    with suppress(Exception):  # what can't be pickled crosses no process
        said.append(repr(pickle.dumps(error)))
    cause: BaseException | None = error
    while cause is not None:
        said += [repr(cause.args), str(vars(cause))]
        request = getattr(cause, "_request", None)
        if request is not None:
            said += [str(request.headers.raw), repr(request.content)]
        cause = cause.__cause__ or cause.__context__
    return said
