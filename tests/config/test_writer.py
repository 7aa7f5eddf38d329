"""Writing one profile keeps everything else in the file."""

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import Settings
from agentm_assets.config.writer import write_profile

MINE = """\
# my machine
profile = "work"   # the one I use

[profiles.work.storage]
backend = "vault"
root = "/srv/notes"  # mounted

[profiles.work.embedder]
model = 'other'

[profiles.work.entities]
gitlab_hosts = [
  "git.example.com",  # ours
]
"""


def test_a_new_file_holds_the_profile(env: dict[str, str], vault: Path) -> None:
    file = Path(env["XDG_CONFIG_HOME"]) / "agentm" / "agentm.toml"
    write_profile(
        file, "default", {"storage.backend": "vault", "storage.root": str(vault)}, make_current=True
    )
    assert tomllib.loads(file.read_text()) == {
        "profile": "default",
        "profiles": {"default": {"storage": {"backend": "vault", "root": str(vault)}}},
    }
    settings = Settings.load(env)
    assert (settings.vault_root, settings.vault_source) == (
        vault.resolve(),
        "agentm.toml profile default",
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_other_line_stays(tmp_path: Path, newline: str) -> None:
    file = tmp_path / "agentm.toml"
    before = MINE.replace("\n", newline)
    file.write_bytes(before.encode())
    write_profile(file, "work", {"storage.root": "/srv/moved"})
    after = file.read_bytes().decode()
    assert after == before.replace('"/srv/notes"', '"/srv/moved"')
    write_profile(file, "home", {"storage.root": "/srv/home"})
    assert file.read_bytes().decode().startswith(after)
    assert set(tomllib.loads(file.read_text())["profiles"]) == {"work", "home"}
    assert tomllib.loads(file.read_text())["profile"] == "work"


def test_writing_what_is_there_changes_no_byte(tmp_path: Path) -> None:
    file = tmp_path / "agentm.toml"
    file.write_text(MINE)
    write_profile(file, "work", {"storage.root": "/srv/notes"}, make_current=True)
    assert tomllib.loads(file.read_text()) == tomllib.loads(MINE)
    assert file.read_text() == MINE


def test_a_relative_root_is_made_absolute_when_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_profile(tmp_path / "agentm.toml", "default", {"storage.root": "vault"})
    table = tomllib.loads((tmp_path / "agentm.toml").read_text())
    assert table["profiles"]["default"]["storage"]["root"] == str(tmp_path / "vault")


def test_mode_and_symlink_are_kept_and_no_temporary_file_remains(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "agentm.toml"
    real.parent.mkdir()
    real.write_text(MINE)
    real.chmod(0o600)
    link = tmp_path / "agentm.toml"
    link.symlink_to(real)
    write_profile(link, "work", {"embedder.model": "third"})
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert "third" in real.read_text()
    assert os.listdir(real.parent) == ["agentm.toml"]


@pytest.mark.parametrize("broken", ["profile = \n", "unknown = 1\n"])
def test_a_file_that_does_not_hold_is_left_untouched(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "agentm.toml"
    file.write_text(broken)
    with pytest.raises(ConfigError):
        write_profile(file, "default", {"storage.root": "/v"})
    assert file.read_text() == broken


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"storage.rot": "/v"}, "is not a key of a profile"),
        ({"storage.root": " "}, "empty value"),
        ({"embedder.model": "x", "storage.backend": "vault"}, "needs storage.root"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_written(
    tmp_path: Path, values: dict[str, str], said: str
) -> None:
    file = tmp_path / "agentm.toml"
    with pytest.raises(ConfigError, match=said):
        write_profile(file, "default", values)
    assert not file.exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be"):
        write_profile(tmp_path / "file" / "agentm.toml", "default", {"storage.root": "/v"})


@given(name=st.text(min_size=1).filter(lambda text: bool(text.strip())), root=st.text())
def test_any_name_and_path_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, name: str, root: str
) -> None:
    file = tmp_path_factory.mktemp("config") / "agentm.toml"
    file.write_text(MINE)
    try:
        write_profile(file, name, {"storage.root": f"/{root}"}, make_current=True)
    except ConfigError:
        assert file.read_text() == MINE
        return
    table = tomllib.loads(file.read_bytes().decode())
    assert table["profile"] == name
    assert table["profiles"][name]["storage"]["root"] == str(Path(f"/{root}").absolute())
    assert file.read_text().startswith("# my machine\n")


def test_the_folder_of_a_reranker_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "agentm.toml"
    write_profile(file, "work", {"storage.root": "vault", "reranker.folder": "judge"})
    written = tomllib.loads(file.read_text())["profiles"]["work"]
    assert written["reranker"]["folder"] == str(tmp_path / "judge")
