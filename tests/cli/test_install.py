"""`agentm install`: what it adds, what it leaves alone, and how it is taken back."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Agentm = Callable[..., subprocess.CompletedProcess[str]]

CLAUDE = """{
  "numStartups": 3,
  "oauth": {"token": "sk-secret"},
  "mcpServers": {
    "x": {"command": "y"}
  }
}
"""
SETTINGS = """{
\t"model": "opus",
\t"hooks": {
\t\t"UserPromptSubmit": [
\t\t\t{"hooks": [{"type": "command", "command": "mine"}]}
\t\t]
\t}
}"""
CODEX = (
    '# mine\nmodel = "o9"\n\n[mcp_servers.other]\ncommand = "z" # keep\n\n[tui]\ntheme = "dark"\n'
)


@pytest.fixture
def home(env: dict[str, str]) -> Path:
    return Path(env["HOME"])


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def ok(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stderr
    return done


def backups(file: Path) -> list[Path]:
    return sorted(file.parent.glob(f"{file.name}.agentm-backup-*"))


def test_claude_code_gets_server_and_hooks_and_gives_them_back(agentm: Agentm, home: Path) -> None:
    servers = put(home / ".claude.json", CLAUDE)
    servers.chmod(0o600)
    settings = put(home / ".claude" / "settings.json", SETTINGS)
    shown = ok(agentm("install", "claude-code", "--dry-run"))
    assert '+    "agentm": {' in shown.stdout
    assert "sk-secret" not in shown.stdout and "mine" not in shown.stdout
    assert servers.read_text() == CLAUDE and settings.read_text() == SETTINGS

    ok(agentm("install", "claude-code", "--yes"))
    value = json.loads(servers.read_text())
    entry = value["mcpServers"].pop("agentm")
    assert value == json.loads(CLAUDE)
    assert entry["type"] == "stdio" and "mcp" in entry["args"]
    assert Path(entry["command"]).is_absolute()
    assert servers.stat().st_mode & 0o777 == 0o600
    assert [b.read_text() for b in backups(servers)] == [CLAUDE]
    assert backups(servers)[0].stat().st_mode & 0o777 == 0o600
    hooks = json.loads(settings.read_text())["hooks"]
    assert hooks.keys() == {"UserPromptSubmit", "SessionStart", "SessionEnd"}
    assert hooks["UserPromptSubmit"][1] == {"hooks": [{"type": "command", "command": "mine"}]}
    assert "hook prompt" in hooks["UserPromptSubmit"][0]["hooks"][0]["command"]

    before = servers.read_bytes(), settings.read_bytes()
    again = ok(agentm("install", "claude-code", "--yes"))
    assert (servers.read_bytes(), settings.read_bytes()) == before
    assert again.stdout.count("nothing to change") == 2
    assert len(backups(servers)) == 1

    ok(agentm("install", "claude-code", "--undo", "--yes"))
    assert (servers.read_text(), settings.read_text()) == (CLAUDE, SETTINGS)
    assert agentm("install", "claude-code", "--undo", "--yes").returncode == 2


def test_the_entry_really_starts_a_server(agentm: Agentm, home: Path, env: dict[str, str]) -> None:
    ok(agentm("install", "cursor", "--yes"))
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["agentm"]
    bare = {"PATH": env["PATH"], "HOME": env["HOME"], "PYTHONPATH": env["PYTHONPATH"]}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"},
        },
    }
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        env={**bare, **entry.get("env", {})},
        cwd="/",
        input=json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(done.stdout.split("\n")[0])["result"]["serverInfo"]["name"] == "agentm"
    assert str(env["AGENTM_VAULT"]) in entry["args"]


def test_an_older_entry_of_ours_is_replaced(agentm: Agentm, home: Path) -> None:
    ours = {"hooks": [{"type": "command", "command": "/old/bin/agentm hook prompt", "timeout": 5}]}
    settings = put(
        home / ".claude" / "settings.json", json.dumps({"hooks": {"UserPromptSubmit": [ours]}})
    )
    put(home / ".claude.json", '{"mcpServers": {"agentm": {"command": "/old/bin/agentm"}}}')
    ok(agentm("install", "claude-code", "--yes"))
    assert len(json.loads(settings.read_text())["hooks"]["UserPromptSubmit"]) == 1
    assert "/old/bin" not in settings.read_text() + (home / ".claude.json").read_text()


def test_the_folders_of_the_hosts_are_honoured(agentm: Agentm, home: Path, tmp_path: Path) -> None:
    ok(agentm("install", "claude-code", "--yes", CLAUDE_CONFIG_DIR=str(tmp_path / "cc")))
    assert (tmp_path / "cc" / ".claude.json").is_file()
    assert (tmp_path / "cc" / "settings.json").is_file()
    ok(agentm("install", "codex", "--yes", CODEX_HOME=str(tmp_path / "cx")))
    assert (tmp_path / "cx" / "config.toml").is_file()
    ok(agentm("install", "gemini", "--yes"))
    assert (home / ".gemini" / "settings.json").is_file()
    assert not (home / ".claude.json").exists() and not (home / ".codex").exists()


def test_codex_keeps_its_comments_and_its_bytes(agentm: Agentm, home: Path) -> None:
    file = put(home / ".codex" / "config.toml", CODEX)
    ok(agentm("install", "codex", "--yes"))
    value = tomllib.loads(file.read_text())
    entry = value["mcp_servers"].pop("agentm")
    assert value == tomllib.loads(CODEX)
    assert "mcp" in entry["args"]
    kept = [line for line in file.read_text().split("\n") if line in CODEX.split("\n")]
    assert [line for line in kept if line] == [line for line in CODEX.split("\n") if line]
    ok(agentm("install", "codex", "--undo", "--yes"))
    assert file.read_text() == CODEX


@pytest.mark.parametrize(
    ("host", "path", "old", "new"),
    [
        ("cursor", ".cursor/mcp.json", '{\n  "a": 1\n}\n', '{\n  "a": 1'),
        ("codex", ".codex/config.toml", CODEX, 'theme = "dark"'),
    ],
)
def test_what_changed_since_is_kept_when_ours_is_taken_out(
    agentm: Agentm, home: Path, host: str, path: str, old: str, new: str
) -> None:
    file = put(home / path, old)
    ok(agentm("install", host, "--yes"))
    more = ',\n  "since": 2' if host == "cursor" else "\nsince = 2"
    file.write_text(file.read_text().replace(new.split("\n")[-1], new.split("\n")[-1] + more))
    ok(agentm("install", host, "--undo", "--yes"))
    assert "agentm" not in file.read_text()
    value: Any = (
        json.loads(file.read_text()) if host == "cursor" else tomllib.loads(file.read_text())
    )
    expected: Any = json.loads(old) if host == "cursor" else tomllib.loads(old)
    (expected if host == "cursor" else expected["tui"])["since"] = 2
    assert value == expected


def test_an_entry_that_somebody_changed_is_left(agentm: Agentm, home: Path) -> None:
    ok(agentm("install", "cursor", "--yes"))
    file = home / ".cursor" / "mcp.json"
    file.write_text(file.read_text().replace('"mcp"', '"mcp", "--profile", "work"'))
    changed = file.read_text()
    done = ok(agentm("install", "cursor", "--undo", "--yes"))
    assert file.read_text() == changed
    assert "by hand" in done.stderr


def test_a_file_that_we_made_goes_away_again(agentm: Agentm, home: Path) -> None:
    ok(agentm("install", "gemini", "--yes"))
    ok(agentm("install", "gemini", "--undo", "--yes"))
    assert not (home / ".gemini" / "settings.json").exists()


@pytest.mark.parametrize(
    ("host", "path", "text"),
    [
        ("gemini", ".gemini/settings.json", '{\n  // my "key": "sk-secret"\n  "theme": "x"\n}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {},}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": ["sk-secret"]}'),
        ("codex", ".codex/config.toml", 'key = "sk-secret'),
        ("codex", ".codex/config.toml", 'mcp_servers = "sk-secret"'),
    ],
)
def test_what_an_edit_could_destroy_is_refused_untouched(
    agentm: Agentm, home: Path, host: str, path: str, text: str
) -> None:
    file = put(home / path, text)
    done = agentm("install", host, "--yes")
    assert done.returncode == 2
    assert str(file) in done.stderr and "by hand" in done.stderr
    assert "sk-secret" not in done.stderr + done.stdout
    assert file.read_text() == text
    assert not backups(file)


def test_neither_file_is_touched_when_one_cannot_be_edited(agentm: Agentm, home: Path) -> None:
    servers = put(home / ".claude.json", CLAUDE)
    put(home / ".claude" / "settings.json", "{ // no\n}")
    assert agentm("install", "claude-code", "--yes").returncode == 2
    assert servers.read_text() == CLAUDE


def test_without_yes_nothing_happens_unasked(agentm: Agentm, home: Path) -> None:
    done = agentm("install", "cursor")
    assert done.returncode == 2 and "--yes" in done.stderr
    assert not (home / ".cursor").exists()


def test_the_preview_of_a_file_of_one_line_shows_what_is_added_and_nothing_else(
    agentm: Agentm, home: Path
) -> None:
    file = home / ".claude.json"
    file.write_text(json.dumps({"token": "x" * 300, "mcpServers": {"other": {"command": "o"}}}))
    shown = agentm("install", "claude-code", "--dry-run").stdout
    assert '+    "agentm": {' in shown and '"mcp"' in shown
    assert "xxx" not in shown and "…" not in shown


def test_json_says_what_was_done(agentm: Agentm, home: Path) -> None:
    planned = json.loads(ok(agentm("install", "cursor", "--dry-run", "--json")).stdout)
    assert (planned["applied"], planned["files"][0]["change"]) == (False, "create")
    done = json.loads(ok(agentm("install", "cursor", "--yes", "--json")).stdout)
    assert done["applied"] and done["files"][0]["path"] == str(home / ".cursor" / "mcp.json")


def test_a_linked_file_stays_a_link(agentm: Agentm, home: Path, tmp_path: Path) -> None:
    real = put(tmp_path / "dotfiles" / "mcp.json", '{"a": 1}')
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)
    ok(agentm("install", "cursor", "--yes"))
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "agentm" in real.read_text()
    ok(agentm("install", "cursor", "--undo", "--yes"))
    assert real.read_text() == '{"a": 1}'


def test_a_bom_and_an_empty_file(agentm: Agentm, home: Path) -> None:
    file = put(home / ".cursor" / "mcp.json", "\ufeff{}\n")
    ok(agentm("install", "cursor", "--yes"))
    assert file.read_bytes().startswith(b"\xef\xbb\xbf{")
    file = put(home / ".gemini" / "settings.json", "")
    ok(agentm("install", "gemini", "--yes"))
    assert "agentm" in json.loads(file.read_text())["mcpServers"]
