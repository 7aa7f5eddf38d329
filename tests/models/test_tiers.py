"""Which models the configuration opens, where they may lie, and whose key they get."""

import os
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY, anthropic_server, openai_server

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import Settings
from agentm_assets.models.base_url import checked_base_url, same_origin
from agentm_assets.models.keys import find_key, key_names
from agentm_assets.models.protocol import ModelMisconfigured, Provider
from agentm_assets.models.spend import DailyLine
from agentm_assets.models.tiers import NOT_CONFIGURED, Tiers, open_tiers

LOCAL = "openai-compatible/qwen@http://127.0.0.1:8080/v1"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "vault").mkdir()
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "AGENTM_VAULT": str(tmp_path / "vault"),
    }


def configured(env: dict[str, str], text: str) -> Path:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def secrets(env: dict[str, str], text: str | bytes, mode: int = 0o600) -> Path:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "secrets.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return file


def opened(env: dict[str, str]) -> Tiers:
    return open_tiers(Settings.load(env), env)


def test_a_key_alone_configures_nothing(env: dict[str, str]) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AGENTM_MODEL_KEY", "ANTHROPIC_BASE_URL"):
        env[name] = KEY
    tiers = opened(env)
    assert (tiers.cheap, tiers.strong, tiers.is_configured) == (None, None, False)
    assert tiers.why == (NOT_CONFIGURED,)


def test_one_variable_is_enough(env: dict[str, str]) -> None:
    env |= {"AGENTM_MODEL": "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY": KEY}
    tiers = opened(env)
    assert tiers.strong is not None
    assert tiers.strong.model_id == "anthropic/claude-sonnet-5-5"
    assert tiers.is_one_model
    assert (tiers.why, tiers.timeouts["strong"]) == ((), 120.0)
    env["AGENTM_MODEL"] = LOCAL
    assert opened(env).strong is not None, "a server on this machine needs no key"


def test_the_variables_go_before_the_file_and_leave_no_other_model_in_place(
    env: dict[str, str],
) -> None:
    configured(
        env,
        '[profiles.default.models.cheap]\nprovider = "anthropic"\nmodel = "claude-haiku-4-5"\n'
        '[profiles.default.models.strong]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n',
    )
    env["ANTHROPIC_API_KEY"] = KEY
    assert _ids(opened(env)) == ("anthropic/claude-haiku-4-5", "anthropic/claude-opus-5-5")
    env["AGENTM_MODEL"] = LOCAL
    assert _ids(opened(env)) == ("openai-compatible/qwen", "openai-compatible/qwen")
    env["AGENTM_CHEAP_MODEL"] = "anthropic/claude-haiku-4-5"
    assert _ids(opened(env)) == ("anthropic/claude-haiku-4-5", "openai-compatible/qwen")


def test_the_strong_tier_alone_serves_both_and_the_cheap_one_does_not(env: dict[str, str]) -> None:
    table = '[profiles.default.models.{}]\nprovider = "command"\ncommand = ["cat"]\n'
    configured(env, table.format("strong"))
    assert _ids(opened(env)) == ("command/cat", "command/cat")
    configured(env, table.format("cheap"))
    tiers = opened(env)
    assert (tiers.cheap is None, tiers.strong) == (False, None)
    assert "models.strong" in tiers.why[0]


def test_a_model_name_keeps_its_slashes_and_colons(env: dict[str, str]) -> None:
    env["AGENTM_MODEL"] = "openai-compatible/qwen/qwen3:4b@q4@http://[::1]:11434/v1"
    assert _ids(opened(env))[1] == "openai-compatible/qwen/qwen3:4b@q4"


def test_a_command_keeps_its_arguments(env: dict[str, str]) -> None:
    env["AGENTM_MODEL"] = 'command/claude -p --settings \'{"a": "b@http://x"}\''
    table = Settings.load(env).models.strong
    assert table is not None
    assert table.command == ("claude", "-p", "--settings", '{"a": "b@http://x"}')


@pytest.mark.parametrize(
    "written",
    ["", "claude", "anthropic/", "vertex/x", "anthropic/ x", "command/", "command/'a", "a/b"],
)
def test_a_variable_that_names_no_model_is_refused_and_not_quoted(
    env: dict[str, str], written: str
) -> None:
    env["AGENTM_MODEL"] = written
    with pytest.raises(ConfigError, match="AGENTM_MODEL"):
        Settings.load(env)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('provider = "anthropic"', "needs `model`"),
        ('provider = "command"', "needs `command`"),
        ('provider = "vertex"\nmodel = "x"', "anthropic"),
        ('provider = "anthropic"\nmodel = "x"\ncommand = ["a"]', "only provider command"),
        ('provider = "anthropic"\nmodel = "x"\ninput_price = 1', "together"),
        ('provider = "anthropic"\nmodel = "x"\ndaily_usd = 0', "greater than 0"),
        ('provider = "anthropic"\nmodel = "x"\ndaily_usd = nan', "greater than 0"),
        ('provider = "anthropic"\nmodel = "x"\napi_key = "sk-secret"', "is not a key that agentm"),
        ('provider = "anthropic"\nmodel = "x"\nkey = "sk-secret-1"', "should match pattern"),
    ],
)
def test_a_table_that_can_not_be_used_names_its_line_and_quotes_nothing(
    env: dict[str, str], lines: str, said: str
) -> None:
    configured(env, f"[profiles.default.models.strong]\n{lines}\n")
    with pytest.raises(ConfigError, match="line ") as caught:
        Settings.load(env)
    assert said in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_line_in_dollars_needs_a_price(env: dict[str, str]) -> None:
    text = '[profiles.default.models.strong]\nprovider = "openai-compatible"\nmodel = "m"\n'
    text += 'base_url = "http://localhost:1/v1"\ndaily_usd = 2.5\ndaily_tokens = 1000\n'
    configured(env, text)
    tiers = opened(env)
    assert tiers.strong is None
    assert "input_price" in tiers.why[0]
    configured(env, text + "input_price = 0.1\noutput_price = 0.4\n")
    tiers = opened(env)
    assert tiers.why == ()
    assert tiers.lines["strong"] == DailyLine(2.5, 1000)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.8.8.8/v1",
        "http://[::1]:8080",
        "http://localhost:11434/v1/",
        "http://LOCALHOST./v1",
    ],
)
def test_these_places_are_taken(url: str) -> None:
    assert checked_base_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.1.5:8080/v1",
        "http://example.com",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://0.0.0.0:8080",
        "http://2130706433.example.com",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "https://",
        "127.0.0.1:8080",
        "https://user:hunter2@example.com",
        "http://127.0.0.1:80@example.com/",
        "http://[::1",
        "http://127.0.0.1:99999999",
        "https://example.com/v1?key=hunter2",
        "https://example.com/v1#x",
        "https://exam ple.com",
        "https://example.com/\nv1",
        "",
    ],
)
def test_these_places_are_refused_without_quoting_a_password(url: str) -> None:
    with pytest.raises(ModelMisconfigured, match="base_url") as caught:
        checked_base_url(url)
    assert "hunter2" not in str(caught.value)


def test_one_origin_is_scheme_host_and_port() -> None:
    assert same_origin("https://a.com/x", "https://a.com:443/y")
    assert not same_origin("https://a.com", "http://a.com")
    assert not same_origin("https://a.com", "https://a.com.evil.org")
    assert not same_origin("https://a.com", "https://a.com:99999999")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("anthropic/claude-x", ("ANTHROPIC_API_KEY", "AGENTM_MODEL_KEY")),
        ("openai-compatible/gpt-x", ("OPENAI_API_KEY", "AGENTM_MODEL_KEY")),
        ("anthropic/claude-x@https://gateway.example.com", ("AGENTM_MODEL_KEY",)),
        ("openai-compatible/x@https://api.openai.com.example.org/v1", ("AGENTM_MODEL_KEY",)),
        ("openai-compatible/x@http://127.0.0.1:1/v1", ("AGENTM_MODEL_KEY",)),
    ],
)
def test_a_vendors_key_is_for_that_vendors_server(
    env: dict[str, str], model: str, names: tuple[str, ...]
) -> None:
    env["AGENTM_MODEL"] = model
    table = Settings.load(env).models.strong
    assert table is not None
    official = {"anthropic": "https://api.anthropic.com"}.get(table.provider)
    url = table.base_url or official or "https://api.openai.com/v1"
    assert key_names(table, url) == names


def test_a_vendors_key_is_not_sent_to_another_server(env: dict[str, str]) -> None:
    with openai_server() as server, anthropic_server() as other:
        env |= {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        env["AGENTM_MODEL"] = f"openai-compatible/test-model@{server.url}"
        assert _strong(env).reachable(timeout=5) is None
        assert "authorization" not in server.requests[0].headers
        env["AGENTM_MODEL"] = f"anthropic/test-model@{other.url}"
        assert "there is no key" in opened(env).why[0]
        env["AGENTM_MODEL_KEY"] = "own-key"
        assert _strong(env).reachable(timeout=5) is None
        assert other.requests[0].headers["x-api-key"] == "own-key"


def test_a_configured_key_name_is_the_only_one(env: dict[str, str]) -> None:
    env |= {"AGENTM_MODEL_KEY": "wrong", "GATEWAY_KEY": "right"}
    text = (
        '[profiles.default.models.strong]\nprovider = "openai-compatible"\nmodel = "test-model"\n'
    )
    with openai_server() as server:
        configured(env, f'{text}base_url = "{server.url}"\nkey = "GATEWAY_KEY"\n')
        _strong(env).reachable(timeout=5)
        assert server.requests[0].headers["authorization"] == "Bearer right"
        del env["GATEWAY_KEY"]
        assert opened(env).why == (
            "cheap and strong: there is no key for the model. Set GATEWAY_KEY, or put it into "
            "secrets.toml beside agentm.toml.",
        )


def test_a_key_comes_from_the_environment_before_the_secrets_file(env: dict[str, str]) -> None:
    file = secrets(env, 'ANTHROPIC_API_KEY = "from-the-file"\n')
    names = ("ANTHROPIC_API_KEY", "AGENTM_MODEL_KEY")
    assert find_key(env, file.with_name("agentm.toml"), names) == "from-the-file"
    env["AGENTM_MODEL_KEY"] = " from-the-environment\n"
    assert find_key(env, file.with_name("agentm.toml"), names) == "from-the-environment"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o610, 0o777])
def test_a_secrets_file_that_others_can_read_or_change_is_refused(
    env: dict[str, str], mode: int
) -> None:
    file = secrets(env, f'ANTHROPIC_API_KEY = "{KEY}"\n', mode)
    env["AGENTM_MODEL"] = "anthropic/claude-x"
    why = opened(env).why[0]
    assert f"chmod 600 {file}" in why
    assert KEY not in why
    env["ANTHROPIC_API_KEY"] = KEY
    assert opened(env).why == (), "and is not even looked at while the environment has the key"


@pytest.mark.parametrize(
    "text",
    [
        f'ANTHROPIC_API_KEY = "{KEY}\n',
        f"ANTHROPIC_API_KEY = {KEY}\n",
        f'[keys]\nANTHROPIC_API_KEY = "{KEY}"\n',
        f'ANTHROPIC_API_KEY = ["{KEY}"]\n',
        f'ANTHROPIC_API_KEY = "{KEY} {KEY}"\n',
        f'ANTHROPIC_API_KEY = "{KEY}\\r\\nx-evil: 1"\n',
        b'ANTHROPIC_API_KEY = "\xff' + KEY.encode() + b'"\n',
        "# " + "x" * 70_000,
    ],
)
def test_a_secrets_file_that_can_not_be_used_is_not_quoted(
    env: dict[str, str], text: str | bytes
) -> None:
    secrets(env, text)
    env["AGENTM_MODEL"] = "anthropic/claude-x"
    tiers = opened(env)
    assert tiers.strong is None
    assert "secrets.toml" in tiers.why[0]
    assert KEY not in str(tiers.why)


def test_a_folder_or_a_pipe_in_the_secrets_files_place_is_refused(
    env: dict[str, str], tmp_path: Path
) -> None:
    file = secrets(env, "")
    file.unlink()
    file.mkdir()
    env["AGENTM_MODEL"] = "anthropic/claude-x"
    assert "secrets.toml" in opened(env).why[0]
    file.rmdir()
    os.mkfifo(file, 0o600)
    assert "is no file" in opened(env).why[0]


def _ids(tiers: Tiers) -> tuple[Any, Any]:
    return (
        tiers.cheap and tiers.cheap.model_id,
        tiers.strong and tiers.strong.model_id,
    )


def _strong(env: dict[str, str]) -> Provider:
    tiers = opened(env)
    assert tiers.strong is not None, tiers.why
    return tiers.strong
