"""`agentm doctor` as a process: on a fresh machine, with broken rules, and all green."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY, anthropic_server

Run = Callable[..., subprocess.CompletedProcess[str]]
NAMES = [
    "config",
    "storage",
    "vault",
    "git",
    "rules",
    "state",
    "model",
    "tiers",
    "reranker",
    "facts",
    "lexical",
    "vectors",
    "dagster",
    "hooks",
]


def examine(agentm: Run, code: int, **env: str) -> dict[str, dict[str, Any]]:
    done = agentm("doctor", "--json", **env)
    assert (done.returncode, done.stderr) == (code, "")
    report = json.loads(done.stdout)
    assert list(report) == ["ok", "checks"]
    assert report["ok"] is (code == 0)
    for check in report["checks"]:
        assert list(check) == ["name", "outcome", "message", "cure"]
        assert check["outcome"] in ("ok", "warn", "fail")
        if check["name"] not in ("config", "storage"):
            assert (check["cure"] is None) is (check["outcome"] == "ok"), check
    return {check["name"]: check for check in report["checks"]}


def test_a_machine_without_a_vault_hears_where_notes_go_and_how_to_begin(
    agentm: Run, env: dict[str, str]
) -> None:
    del env["AGENTM_VAULT"]
    checks = examine(agentm, 3)
    assert list(checks) == NAMES
    own = Path(env["HOME"]).resolve() / ".local/share/agentm/memory"
    assert checks["config"]["outcome"] == "warn"
    assert str(own) in checks["config"]["message"]
    assert checks["config"]["cure"].startswith("agentm init PATH")
    assert checks["storage"]["message"].startswith(f"device-local at {own}")
    assert checks["vault"]["message"] == "0 notes, 0 other files"
    assert not own.exists()


def test_what_the_store_has_to_promise_is_asked_for(agentm: Run, env: dict[str, str]) -> None:
    done = agentm("doctor", "--requires", "sync,conflict_files", "--json")
    promised = {check["name"]: check for check in json.loads(done.stdout)["checks"]}["storage"]
    assert promised["outcome"] == "ok"
    assert "concurrent_writers, conflict_files, sync" in promised["message"]
    done = agentm("doctor", "--requires", "sync,encryption", "--json")
    checks = json.loads(done.stdout)["checks"]
    assert (done.returncode, [check["name"] for check in checks]) == (3, ["config", "storage"])
    assert "`vault` does not promise encryption" in checks[1]["message"]
    del env["AGENTM_VAULT"]
    done = agentm("doctor", "--requires", "sync,conflict_files")
    assert done.returncode == 3
    assert "`device-local` does not promise conflict_files, sync" in done.stdout
    for flags in ("sync,speed", ""):
        done = agentm("doctor", "--requires", flags)
        assert (done.returncode, done.stdout) == (2, "")
        assert "there are: concurrent_writers, conflict_files, encryption, sync" in done.stderr


def test_a_fresh_machine_lacks_the_index_and_nothing_is_made_by_looking(
    agentm: Run, vault: Path, tmp_path: Path
) -> None:
    (vault / "note.md").write_text("# Note\n")
    (vault / "link.md").symlink_to("note.md")
    checks = examine(agentm, 3)
    assert list(checks) == NAMES
    assert {name: check["outcome"] for name, check in checks.items()} == {
        "config": "ok",
        "storage": "ok",
        "vault": "warn",
        "git": "warn",
        "rules": "ok",
        "state": "ok",
        "model": "warn",
        "tiers": "ok",
        "reranker": "ok",
        "facts": "fail",
        "lexical": "fail",
        "vectors": "warn",
        "dagster": "warn",
        "hooks": "ok",
    }
    assert checks["vault"]["message"].startswith("1 notes, 0 other files, 1 passed over")
    assert checks["model"]["message"].endswith("is not exported yet")
    assert checks["facts"]["cure"] == "agentm index"
    assert not (tmp_path / "state").exists() and not (tmp_path / "cache").exists()
    human = agentm("doctor")
    assert human.returncode == 3
    assert "FAIL  facts      there is no facts file at " in human.stdout
    assert "                  cure: agentm index\n" in human.stdout


def test_broken_rules_are_named_with_file_and_line(agentm: Run, vault: Path) -> None:
    rules = vault / "standards" / "storage-rules.md"
    rules.parent.mkdir()
    shipped = (Path(__file__).resolve().parents[2] / "standards/storage-rules.md").read_text()
    broken = shipped.replace("decay_enabled: false", "decay_enabled: perhaps")
    rules.write_text(broken)
    line = broken[: broken.index("perhaps")].count("\n") + 1
    checks = examine(agentm, 3)
    assert checks["rules"]["outcome"] == "fail"
    assert f"{rules}:{line}: " in checks["rules"]["message"]
    assert f"{rules}:{line}: " in agentm("doctor").stdout
    rules.write_text(shipped)
    assert examine(agentm, 3)["rules"]["outcome"] == "ok", "mended at once; the index still lacks"


def test_all_is_green_after_the_index(
    agentm: Run, vault: Path, env: dict[str, str], minilm_folder: Path
) -> None:
    env["XDG_CACHE_HOME"] = str(minilm_folder.parents[2])
    shutil.rmtree(vault)
    assert agentm("init", str(vault)).returncode == 0
    done = agentm("index", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    numbers = json.loads(done.stdout)
    assert (numbers["embedded"], numbers["vectors_waiting"]) == (numbers["chunks"], 0)
    checks = examine(agentm, 0)
    assert list(checks) == NAMES
    assert {check["outcome"] for check in checks.values()} == {"ok"}
    assert agentm("doctor").stdout.count("\n") == len(NAMES)
    # Another model is configured: the vectors are of no use to it.
    other = examine(agentm, 3, AGENTM_EMBEDDER_MODEL="/no/such/model")
    assert other["model"]["outcome"] == "fail"


def test_an_empty_folder_where_notes_were_is_no_vault(agentm: Run, vault: Path) -> None:
    (vault / "a.md").write_text("# A\n")
    assert agentm("index", "--no-embeddings").returncode == 0
    (vault / "a.md").rename(vault.parent / "a.md")
    check = examine(agentm, 3)["vault"]
    assert check["outcome"] == "fail" and "is it mounted?" in check["message"]


@pytest.mark.parametrize(
    ("more", "name", "outcome", "said"),
    [
        ({"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}, "git", "warn", "dubious ownership"),
        ({"PATH": "/nowhere"}, "git", "warn", "not installed"),
        ({"AGENTM_STORAGE_RULES": "/no/rules.md"}, "rules", "fail", "/no/rules.md"),
        ({"XDG_STATE_HOME": "/dev/null/state"}, "state", "fail", "can't be written"),
        ({"AGENTM_PROFILE": "absent"}, "config", "fail", "no profile `absent`"),
    ],
)
def test_each_trouble_is_one_check(
    agentm: Run, vault: Path, more: dict[str, str], name: str, outcome: str, said: str
) -> None:
    subprocess.run(["git", "init", "-q", str(vault)], check=True)
    checks = examine(agentm, 3, **more)
    assert checks[name]["outcome"] == outcome
    assert said in checks[name]["message"]


def test_which_tier_can_be_reached_is_said_and_no_token_is_spent(agentm: Run) -> None:
    with anthropic_server() as server:
        model = {"AGENTM_MODEL": f"anthropic/test-model@{server.url}"}
        said = examine(agentm, 3, **model)["tiers"]
        assert (said["outcome"], server.requests) == ("warn", [])
        assert (
            "cheap and strong: there is no key for the model. Set AGENTM_MODEL_KEY"
            in (said["message"])
        )
        model["AGENTM_MODEL_KEY"] = KEY
        said = examine(agentm, 3, **model)["tiers"]
        assert (said["outcome"], said["message"]) == (
            "ok",
            "reachable: cheap anthropic/test-model; strong anthropic/test-model, the same",
        )
        model["AGENTM_CHEAP_MODEL"] = "openai-compatible/small@http://127.0.0.1:1/v1"
        said = examine(agentm, 3, **model)["tiers"]
        assert said["outcome"] == "warn"
        assert (
            "reachable: strong anthropic/test-model | cheap openai-compatible/small: "
            in (said["message"])
        )
        assert server.count("POST", "/") == 0
        assert KEY not in agentm("doctor", **model).stdout


def test_without_a_model_doctor_says_that_nothing_is_sent(agentm: Run) -> None:
    said = examine(agentm, 3, ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY)["tiers"]
    assert said["outcome"] == "ok"
    assert said["message"].startswith("no model is configured, so nothing is sent anywhere")


def test_the_named_reranker_is_opened_timed_and_its_hash_told(
    agentm: Run, tmp_path: Path, build_cross_encoder: Callable[..., Path]
) -> None:
    folder = build_cross_encoder(tmp_path / "overlap", (("kettle",),))
    found = examine(agentm, 3, AGENTM_RERANKER=str(folder))["reranker"]
    assert found["outcome"] == "ok"
    name, _, rest = found["message"].partition(", sha256 ")
    assert (name, rest.partition(" ms for a pair of 256 tokens, budget ")[2]) == (
        "overlap",
        "150 ms",
    )
    digest = rest.partition(":")[0]
    pinned = {"AGENTM_RERANKER": str(folder), "AGENTM_RERANKER_SHA256": digest}
    assert examine(agentm, 3, **pinned)["reranker"]["outcome"] == "ok"
    (folder / "tokenizer.json").unlink()
    broken = examine(agentm, 3, **pinned)["reranker"]
    assert broken["outcome"] == "warn"
    assert "tokenizer.json is missing. AGENTM_RERANKER names it" in broken["message"]


def test_without_a_reranker_nothing_is_amiss(agentm: Run) -> None:
    found = examine(agentm, 3)["reranker"]
    assert (found["outcome"], found["message"].partition(";")[0]) == ("ok", "none is named")
