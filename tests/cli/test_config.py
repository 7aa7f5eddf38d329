"""`agentm config` as a process: payloads on stdout, sentences on stderr, exit codes."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_show_gives_the_vault_and_who_decided(agentm: Run, vault: Path) -> None:
    done = agentm("config", "show", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    shown = json.loads(done.stdout)
    assert shown["vault"] == str(vault.resolve())
    assert shown["vault_source"] == "AGENTM_VAULT"
    assert list(shown) == [
        "vault",
        "backend",
        "vault_source",
        "profile",
        "config_file",
        "state_dir",
        "cache_dir",
        "embedder_model",
        "reranker",
    ]


def test_config_alone_shows(agentm: Run, vault: Path) -> None:
    done = agentm("config")
    assert done.returncode == 0
    assert f"vault           {vault.resolve()}" in done.stdout
    assert json.loads(agentm("config", "--json").stdout)["vault"] == str(vault.resolve())


def test_the_option_precedes_the_variable(agentm: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shown = json.loads(agentm("config", "show", "--json", "--vault", "other").stdout)
    assert (shown["vault"], shown["vault_source"]) == (str(other.resolve()), "--vault")


def test_options_before_a_subcommand_are_refused_and_not_dropped(agentm: Run) -> None:
    done = agentm("config", "--json", "show")
    assert done.returncode == 2
    assert done.stdout == ""


def test_set_writes_the_profile_and_show_reads_it(
    agentm: Run, env: dict[str, str], vault: Path
) -> None:
    done = agentm("config", "set", "storage.root", str(vault), "--profile", "work", "--json")
    assert done.returncode == 0
    file = Path(json.loads(done.stdout)["config_file"])
    assert file == Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    assert agentm("config", "path").stdout.strip() == str(file)
    assert tomllib.loads(file.read_text()) == {
        "profiles": {"work": {"storage": {"root": str(vault)}}}
    }
    del env["AGENTM_VAULT"]
    shown = json.loads(agentm("config", "show", "--json", "--profile", "work").stdout)
    assert shown["vault_source"] == "agentm.toml profile work"


def test_a_relative_root_is_resolved_where_it_is_written(agentm: Run, vault: Path) -> None:
    done = agentm("config", "set", "storage.root", "vault", "--json")
    table = tomllib.loads(Path(json.loads(done.stdout)["config_file"]).read_text())
    assert table["profiles"]["default"]["storage"]["root"] == str(vault)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("AGENTM_VAULT", "", "AGENTM_VAULT is empty"),
        ("AGENTM_VAULT", "/nowhere/at/all", "does not exist"),
        ("AGENTM_PROFILE", "absent", "no profile `absent`"),
        ("AGENTM_CONFIG", "", "AGENTM_CONFIG is set and empty"),
    ],
)
def test_a_wrong_configuration_is_one_sentence_and_exit_2(
    agentm: Run, variable: str, value: str, said: str
) -> None:
    done = agentm("config", "show", "--json", **{variable: value})
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_misspelt_variable_is_pointed_out(agentm: Run) -> None:
    done = agentm("config", "show", "--json", AGENTM_VALUT="/somewhere")
    assert done.returncode == 0
    json.loads(done.stdout)
    assert "AGENTM_VALUT" in done.stderr
    assert "AGENTM_VAULT?" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["config", "shwo"],
        ["config", "show", "extra"],
        ["config", "set", "storage.root"],
        ["nothing"],
    ],
)
def test_wrong_usage_is_exit_2(agentm: Run, arguments: list[str]) -> None:
    done = agentm(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_wrong_key_is_refused_and_nothing_is_written(agentm: Run, env: dict[str, str]) -> None:
    done = agentm("config", "set", "storage.rot", "/v")
    assert done.returncode == 2
    assert "storage.root" in done.stderr
    assert not Path(env["XDG_CONFIG_HOME"]).exists()


def test_control_characters_of_a_path_do_not_reach_the_terminal(
    agentm: Run, tmp_path: Path
) -> None:
    odd = tmp_path / "a\x1b[31m\u202evault"
    odd.mkdir()
    done = agentm("config", "show", "--vault", str(odd))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
