"""A vault of a test's own with its logs, captured into in this process or in real ones."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from agentm_assets.capture.request import Captured, CaptureRequest
from agentm_assets.capture.transaction import capture
from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.frontmatter import Frontmatter, read_frontmatter
from agentm_assets.storage.seam import PersonalAuthorization, StorageBackend
from agentm_assets.storage.selection import open_backend

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 8, 19, 23, 30, 5, tzinfo=timezone(timedelta(hours=2)))
PATIENCE_SECONDS = 100.0

WITHOUT_POWERS = str(ROOT / "tests" / "without_powers.py")


@dataclass
class Desk:
    """Where a test captures."""

    folder: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.folder / "vault"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder / "home"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "AGENTM_VAULT": str(self.root),
            **self.more,
        }

    @property
    def location(self) -> VaultLocation:
        return locate(self.env)

    @property
    def backend(self) -> StorageBackend:
        return open_backend(self.location)

    def capture(
        self,
        text: str,
        *,
        now: datetime = NOW,
        authorization: PersonalAuthorization | None = None,
        **more: Any,
    ) -> Captured:
        request = CaptureRequest(text=text, **more)
        return capture(request, self.location, self.env, now, authorization)

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def properties(self, path: str) -> Frontmatter:
        return read_frontmatter(self.data(path))

    def body(self, path: str) -> bytes:
        return self.data(path)[self.properties(path).body_start :]

    def notes(self) -> list[str]:
        return sorted(
            file.relative_to(self.root).as_posix()
            for file in self.root.rglob("*")
            if file.is_file()
        )

    def write(self, path: str, content: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def command(self, *arguments: str, unprivileged: bool = False) -> list[str]:
        powers = [WITHOUT_POWERS] if unprivileged and os.geteuid() == 0 else []
        return [sys.executable, *powers, "-m", "agentm_assets.cli.entry", *arguments]

    def start(self, *arguments: str, **more: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.command(*arguments),
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )

    def run(
        self, *arguments: str, data: bytes = b"", unprivileged: bool = False
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            self.command(*arguments, unprivileged=unprivileged),
            env=self.env,
            input=data,
            capture_output=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        said, complained = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in complained, complained
        return subprocess.CompletedProcess(done.args, done.returncode, said, complained)

    def json(self, *arguments: str, data: bytes = b"") -> Any:
        """The payload of a command that must go well."""
        done = self.run(*arguments, "--json", data=data)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "vault").mkdir()
    return Desk(tmp_path)
