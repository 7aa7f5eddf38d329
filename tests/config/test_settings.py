"""Validation of agentm.toml and the variables over it."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import (
    DEFAULT_BUDGET_MS,
    DEFAULT_EMBEDDER,
    Settings,
    misspelt_variables,
    read_file,
)


def config(env: dict[str, str], text: str | bytes) -> Path:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_the_embedder_comes_from_the_variable_then_the_profile_then_the_default(
    env: dict[str, str], vault: Path
) -> None:
    env["AGENTM_VAULT"] = str(vault)
    assert Settings.load(env).embedder_model == DEFAULT_EMBEDDER
    config(
        env,
        f'[profiles.default.storage]\nroot = "{vault}"\n'
        '[profiles.default.embedder]\nmodel = "other"\n',
    )
    assert Settings.load(env).embedder_model == "other"
    env["AGENTM_EMBEDDER_MODEL"] = "third"
    assert Settings.load(env).embedder_model == "third"


def test_the_real_environment_is_not_read(
    env: dict[str, str], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTM_EMBEDDER_MODEL", "from-the-machine")
    monkeypatch.setenv("AGENTM_LOCATION", "from-the-machine")
    assert Settings.load(env, vault=str(vault)).embedder_model == DEFAULT_EMBEDDER


def test_trackers_come_from_the_profile(env: dict[str, str], vault: Path) -> None:
    config(
        env,
        f'[profiles.default.storage]\nroot = "{vault}"\n'
        '[profiles.default.entities]\nrepo = "acme/kettle"\njira_projects = ["KET"]\n',
    )
    entities = Settings.load(env).entities
    assert (entities.repo, entities.jira_projects, entities.gitlab_hosts) == (
        "acme/kettle",
        ("KET",),
        (),
    )


def test_settings_are_frozen(env: dict[str, str], vault: Path) -> None:
    settings = Settings.load(env, vault=str(vault))
    with pytest.raises(ValidationError):
        settings.embedder_model = "other"  # type: ignore[misc]


def test_an_empty_variable_is_refused(env: dict[str, str], vault: Path) -> None:
    env["AGENTM_EMBEDDER_MODEL"] = ""
    with pytest.raises(ConfigError, match="AGENTM_EMBEDDER_MODEL cannot be used"):
        Settings.load(env, vault=str(vault))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('prfile = "x"\n', "line 1: `prfile` is not a key"),
        (
            '[profiles.default.storage]\nroot = "/v"\nrot = "/w"\n',
            "line 3: `profiles.default.storage.rot` is not a key",
        ),
        (
            "[profiles.other.storage]\nbackend = 3\n",
            "line 2: `profiles.other.storage.backend` input should be a valid string",
        ),
        (
            '[profiles.default.entities]\njira_projects = "KET"\n',
            "line 2: `profiles.default.entities.jira_projects` input should be a valid tuple",
        ),
        (
            "[profiles.default.embedder]\nmodel = 3\n",
            "line 2: `profiles.default.embedder.model` input should be a valid string",
        ),
    ],
)
def test_unknown_keys_and_wrong_types_are_refused_with_their_line(
    env: dict[str, str], vault: Path, text: str, said: str
) -> None:
    config(env, text)
    with pytest.raises(ConfigError, match=said):
        Settings.load(env, vault=str(vault))


def test_a_refusal_does_not_quote_the_value(env: dict[str, str], vault: Path) -> None:
    config(env, '[profiles.default]\ntoken = "hunter2"\nembedder = "hunter2"\n')
    with pytest.raises(ConfigError) as refused:
        Settings.load(env, vault=str(vault))
    assert "hunter2" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(env: dict[str, str], vault: Path) -> None:
    file = config(env, b"# \xff\n")
    with pytest.raises(ConfigError, match=r"not UTF-8 \(byte 2\)"):
        Settings.load(env, vault=str(vault))
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        Settings.load(env, vault=str(vault))


def test_an_absent_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none.toml").profiles == {}


def test_misspelt_variables_are_named() -> None:
    env = {"AGENTM_VALUT": "/v", "AGENTM_VAULT": "/v", "AGENTM_SOMETHING_ELSE": "1", "VALUT": "1"}
    assert misspelt_variables(env) == [("AGENTM_VALUT", "AGENTM_VAULT")]


def test_the_reranker_comes_from_the_variable_then_the_profile_and_can_be_switched_off(
    env: dict[str, str], vault: Path
) -> None:
    env["AGENTM_VAULT"] = str(vault)
    settings = Settings.load(env)
    assert (settings.reranker, settings.reranker_sha256, settings.reranker_budget_ms) == (
        "",
        None,
        DEFAULT_BUDGET_MS,
    )
    digest = "a" * 64
    config(
        env,
        f'[profiles.default.storage]\nroot = "{vault}"\n[profiles.default.reranker]\n'
        f'folder = "/models/judge"\nsha256 = "{digest}"\nbudget_ms = 90\n',
    )
    settings = Settings.load(env)
    assert (settings.reranker, settings.reranker_sha256, settings.reranker_budget_ms) == (
        "/models/judge",
        digest,
        90,
    )
    env |= {"AGENTM_RERANKER": "", "AGENTM_RERANKER_BUDGET_MS": "250"}
    settings = Settings.load(env)
    assert (settings.reranker, settings.reranker_budget_ms) == ("", 250)


@pytest.mark.parametrize(
    ("name", "value"),
    [("RERANKER_SHA256", "abc"), ("RERANKER_BUDGET_MS", "0"), ("RERANKER_BUDGET_MS", "soon")],
)
def test_a_reranker_variable_that_says_nothing_is_refused(
    env: dict[str, str], vault: Path, name: str, value: str
) -> None:
    env |= {"AGENTM_VAULT": str(vault), f"AGENTM_{name}": value}
    with pytest.raises(ConfigError, match=name):
        Settings.load(env)


def test_a_hash_that_is_none_is_told_in_words(env: dict[str, str], vault: Path) -> None:
    variable = env | {"AGENTM_VAULT": str(vault), "AGENTM_RERANKER_SHA256": "zz"}
    with pytest.raises(ConfigError, match="SHA256 cannot be used: should be 64 hex digits"):
        Settings.load(variable)
    config(env, '[profiles.default.reranker]\nsha256 = "zz"\n')
    with pytest.raises(ConfigError, match="sha256` should be 64 hex digits"):
        Settings.load(env)
