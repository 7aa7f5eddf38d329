"""What the MCP server and the hooks cost: `python bench/mcp_server.py VAULT [--runs 300] [--json]`.

VAULT is an indexed vault (`bench/scale_vault.py DIR 15000`, then `agentm index`). It is copied with
its index first, since captures write; the copy is removed at the end. A real client (the official
SDK) talks to a real server process over standard input and output, and over HTTP.

- initialize: from the start of the process to the answer of the handshake.
- first search: the first answer, by words, while the model loads.
- search, capture, get: one call after the other; times are the client's.
- capture beside searches: captures while another task searches without a pause.
- hook: whole processes of `agentm hook prompt`, with a server that runs and without.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from measure import machine, report, spread
from questions import known_items

from agentm_assets.config.vault import locate

ROOT = Path(__file__).resolve().parents[1]
WARM_UP = 10
HYBRID_SECONDS = 60.0


def measure(vault: Path, *, runs: int, hooks: int) -> dict[str, Any]:
    items = [item.question for item in known_items(vault, runs + WARM_UP)]
    results: dict[str, Any] = {"machine": machine(), "questions": {"n": len(items) - WARM_UP}}
    with copied(vault) as env:
        results |= anyio.run(_stdio, env, items, runs)
        with http_server(env) as (url, pid):
            results |= anyio.run(_http, url, items)
            results["http server, memory"] = memory_of(pid)
            results["hook, server runs"] = _hooks(items[:hooks], env)
        results["hook, no server"] = _hooks(items[:hooks], env)
    results["load at the end"] = {"load": machine()["load"]}
    return results


async def _stdio(env: dict[str, str], items: Sequence[str], runs: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    began = time.perf_counter()
    async with _connected(env) as client:
        results["initialize"] = {"ms": (time.perf_counter() - began) * 1e3}
        began = time.perf_counter()
        first = await _called(client, "memory_search", query=items[0])
        results["first search"] = {
            "ms": (time.perf_counter() - began) * 1e3,
            "mode": first["mode"],
        }
        results["hybrid after"] = {"ms": await _until_hybrid(client, items[0], began)}
        results["search"] = await _each(
            items, lambda text: _called(client, "memory_search", query=text)
        )
        paths = [
            (await _called(client, "memory_search", query=text, k=1))["hits"][0]["path"]
            for text in items[:50]
        ]
        results["get"] = await _each(paths, lambda path: _called(client, "memory_get", path=path))
        texts = [
            f"Benchmark note {at}: the gauge {at * 7919} reads {at} bar." for at in range(runs)
        ]
        results["capture"] = await _each(
            texts, lambda text: _called(client, "memory_capture", text=text)
        )
        results["search, captures waiting"] = await _each(
            items[:100], lambda text: _called(client, "memory_search", query=text)
        )
        results["capture beside searches"] = await _beside(client, items, runs)
        server = _children(os.getpid())[-1]
        results["stdio server, memory"] = memory_of(server)
    return results


async def _http(url: str, items: Sequence[str]) -> dict[str, Any]:
    async with Client(url) as client:
        await _until_hybrid(client, items[0], time.perf_counter())
        return {
            "search over HTTP": await _each(
                items, lambda text: _called(client, "memory_search", query=text)
            )
        }


async def _beside(client: Client, items: Sequence[str], runs: int) -> dict[str, float]:
    texts = [
        f"Busy note {at}: the valve {at * 104729} is {at} turns open."
        for at in range(runs + WARM_UP)
    ]
    async with anyio.create_task_group() as group:

        async def search() -> None:
            while True:
                for text in items:
                    await _called(client, "memory_search", query=text)

        group.start_soon(search)
        found = await _each(texts, lambda text: _called(client, "memory_capture", text=text))
        group.cancel_scope.cancel()
    return found


async def _until_hybrid(client: Client, question: str, began: float) -> float:
    with anyio.fail_after(HYBRID_SECONDS):
        while (await _called(client, "memory_search", query=question))["mode"] != "hybrid":
            await anyio.sleep(0.05)
    return (time.perf_counter() - began) * 1e3


async def _each(
    values: Sequence[str], call: Callable[[str], Awaitable[object]]
) -> dict[str, float]:
    times = []
    for value in values:
        began = time.perf_counter()
        await call(value)
        times.append((time.perf_counter() - began) * 1e3)
    del times[:WARM_UP]
    return {**{f"ms_{name}": value for name, value in spread(times).items()}, "n": len(times)}


async def _called(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result: Any = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit(f"{tool}: {result.content}")
    content: dict[str, Any] = result.structured_content
    return content


@contextlib.asynccontextmanager
async def _connected(env: dict[str, str]) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "agentm_assets.cli.entry", "mcp"], env=env
    )
    async with Client(stdio_client(server)) as client:
        yield client


@contextlib.contextmanager
def http_server(env: dict[str, str]) -> Iterator[tuple[str, int]]:
    """A server on a free port: its URL and process."""
    server = subprocess.Popen(
        [sys.executable, "-m", "agentm_assets.cli.entry", "mcp", "--http", "--port", "0"],
        env=env,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        yield next(line.split()[-1] for line in server.stderr if "mcp: http" in line), server.pid
    finally:
        server.terminate()
        server.wait(20)


def _hooks(questions: Sequence[str], env: dict[str, str]) -> dict[str, float]:
    """Whole processes, as a host starts them, and how many printed something in time."""
    walls, printed = [], 0
    for question in questions:
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "agentm_assets.cli.entry", "hook", "prompt"],
            env=env,
            input=json.dumps({"prompt": question}).encode(),
            capture_output=True,
            check=True,
        )
        walls.append((time.perf_counter() - began) * 1e3)
        printed += bool(done.stdout)
    return {
        **{f"ms_{name}": value for name, value in spread(walls).items()},
        "printed": printed / len(walls),
        "n": len(walls),
    }


@contextlib.contextmanager
def copied(vault: Path) -> Iterator[dict[str, str]]:
    """An environment in which a copy of the vault and its index stand; both go at the end."""
    source = locate({**os.environ, "AGENTM_VAULT": str(vault)})
    if not source.facts_file.is_file():
        raise SystemExit(f"{vault} has no index: run `agentm index --vault {vault}` first")
    with tempfile.TemporaryDirectory(dir=vault.parent) as name:
        work = Path(name)
        shutil.copytree(source.root, work / "vault", symlinks=True)
        env = {key: value for key, value in os.environ.items() if not key.startswith("AGENTM_")}
        env |= {
            "AGENTM_VAULT": str(work / "vault"),
            "XDG_STATE_HOME": str(work / "state"),
            "XDG_CACHE_HOME": str(source.cache_dir.parent),
            "PYTHONPATH": str(ROOT),
        }
        shutil.copytree(source.serving_dir, locate(env).serving_dir)
        yield env


def memory_of(pid: int) -> dict[str, float]:
    """MB resident now (own, mapped from files) and at most so far."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").split("\n")
    found = {
        line.split(":")[0]: line.split() for line in lines if line.startswith(("Rss", "VmHWM"))
    }
    return {
        "own_mb": int(found["RssAnon"][1]) / 1024,
        "mapped_mb": int(found["RssFile"][1]) / 1024,
        "peak_mb": int(found["VmHWM"][1]) / 1024,
    }


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=300, help="calls of each kind")
    parser.add_argument("--hooks", type=int, default=30, help="processes of the hook")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = measure(options.vault.resolve(), runs=options.runs, hooks=options.hooks)
    report(results, as_json=options.json)


if __name__ == "__main__":
    main()
