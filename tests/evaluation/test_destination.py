"""What `--out` and `--write-questions` may write, and what they leave as it was."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agentm_assets.cli.evaluate import app
from agentm_assets.evaluation.destination import DestinationRefused, destination
from agentm_assets.evaluation.saved import saved_text

Ask = Callable[..., Result]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "personal").mkdir(parents=True)
    (root / "kettle.md").write_text("# The big kettle\n\nIts gasket is made of silicone.\n")
    (root / "roof.md").write_text("# The old roof\n\nIts slate is from Trier.\n")
    return root


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    entry = {
        "id": "kettle",
        "question": "What is the gasket made of?",
        "expected_note_paths": ["kettle.md"],
        "stratum": "plain",
    }
    file.write_text(json.dumps([entry]))
    return file


@pytest.fixture
def ask(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(each) for each in arguments])

    return run


def earlier_result() -> str:
    head: dict[str, object] = {
        "corpus_sha256": "c0ffee",
        "seed": 7,
        "mode": "lexical",
        "model": None,
        "versions": {},
    }
    return saved_text("gold", "mine", "2026-08-19T10:30:00+00:00", head, ())


def test_no_file_is_lost_to_a_result(
    ask: Ask, vault: Path, questions: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "thesis.md"
    precious.write_text("years of work")
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "elsewhere.json")
    alias = tmp_path / "alias"
    alias.symlink_to(vault)
    gold = ("gold", vault, questions, "--no-embeddings")
    known = ("known", vault, "--no-embeddings")
    kept = tmp_path / "kept.json"
    kept.write_text(earlier_result())
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for arguments, said in (
        ((*gold, "--out", precious), "no earlier result"),
        ((*known, "--write-questions", precious), "not overwritten"),
        ((*known, "--write-questions", kept), "not overwritten"),
        ((*gold, "--out", link), "is a symlink"),
        ((*known, "--write-questions", link), "is a symlink"),
        ((*gold, "--out", questions), "is the file that is asked"),
        ((*gold, "--out", vault / "new.json"), "lies in the vault"),
        ((*gold, "--out", alias / "new.json"), "lies in the vault"),
        ((*gold, "--out", vault / "personal" / "new.json"), "lies in the vault"),
        ((*known, "--write-questions", vault / "kettle.md"), "lies in the vault"),
    ):
        done = ask(*arguments)
        assert (done.exit_code, done.stdout) == (2, ""), (arguments, done.output)
        assert said in done.stderr, arguments
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_an_earlier_result_is_replaced_whole_and_a_new_file_made(
    ask: Ask, vault: Path, questions: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(earlier_result())
    kept.chmod(0o600)
    gold = ("gold", vault, questions, "--no-embeddings", "--json", "--out")
    for file in (kept, tmp_path / "new.json"):
        done = ask(*gold, file)
        assert done.exit_code == 0, done.output
        assert [each["id"] for each in json.loads(file.read_text())["questions"]] == ["kettle"]
    assert kept.stat().st_mode & 0o777 == 0o600
    written = tmp_path / "known.json"
    done = ask("known", vault, "--write-questions", written)
    assert done.exit_code == 0, done.output
    assert json.loads(written.read_text())
    assert not list(tmp_path.glob(".agentm-*")), "a temp file stayed"


def test_a_place_that_cannot_be_written_is_said_before_the_first_question(
    ask: Ask, vault: Path, questions: Path, tmp_path: Path
) -> None:
    gold = ("gold", vault, questions, "--no-embeddings", "--out")
    for place, said in (
        (tmp_path / "no" / "such" / "x.json", "there is no folder"),
        (questions / "x.json", "Not a directory"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        done = ask(*gold, place)
        assert (done.exit_code, done.stdout) == (2, ""), (place, done.output)
        assert said in done.stderr
        assert "[Errno" not in done.stderr
        assert ask("known", vault, "--write-questions", place).exit_code == 2


def test_a_folder_that_takes_no_files_is_found_out_by_trying(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    # A superuser may write everywhere but here: the kernel's own tree takes no new files.
    folder = Path("/proc/self/fdinfo") if os.geteuid() == 0 else closed
    if not folder.is_dir():
        pytest.skip("no folder here that refuses a superuser")
    with pytest.raises(DestinationRefused, match="can't be written"):
        destination("--out", folder / "x.json", vault=None)


def test_what_was_written_meanwhile_stays(tmp_path: Path) -> None:
    fresh, kept = tmp_path / "new.json", tmp_path / "kept.json"
    kept.write_text(earlier_result())
    places = [destination("--out", file, vault=None) for file in (fresh, kept)]
    for place in places:
        place.file.write_text("someone else's")
        with pytest.raises(FileExistsError):
            place.write("mine")
        assert place.file.read_text() == "someone else's"


def test_a_full_disk_is_said_after_the_result_and_ends_with_3(
    env: dict[str, str], vault: Path, questions: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    code = (
        "import resource, signal\n"
        "from agentm_assets.evaluation import protocol\n"
        "from agentm_assets.cli.evaluate import app\n"
        "finish = protocol.finish\n"
        "def last(running, report):\n"
        "    done = finish(running, report)\n"
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))\n"
        "    return done\n"
        "protocol.finish = last\n"
        "app()\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "gold", str(vault), str(questions)),
            *("--no-embeddings", "--json", "--out", str(kept), "--accept"),
        ],
        env={**env, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["all"]["n"] == 1
    assert "the result was printed, but is not kept" in done.stderr
    assert "not accepted" in done.stderr
    assert "Traceback" not in done.stderr
    assert not kept.exists()
    assert not (vault / "Agent").exists()


def test_an_interrupted_run_says_that_nothing_was_kept(
    env: dict[str, str], vault: Path, questions: Path, tmp_path: Path
) -> None:
    code = (
        "import os, signal\n"
        "from agentm_assets.evaluation import gold\n"
        "from agentm_assets.cli.evaluate import app\n"
        "ask = gold.recall\n"
        "def interrupted(*arguments):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return ask(*arguments)\n"
        "gold.recall = interrupted\n"
        "app()\n"
    )
    kept = tmp_path / "kept.json"
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "gold", str(vault), str(questions)),
            *("--no-embeddings", "--out", str(kept)),
        ],
        env={**env, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert "interrupted; nothing was kept" in done.stderr
    assert not kept.exists()
