"""`agentm index` and `agentm status` as processes: shapes, exit codes, what is said and where."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

INDEX_KEYS = [
    "notes",
    "chunks",
    "links",
    "entities",
    "aliases",
    "unresolved_links",
    "changed",
    "deleted",
    "deferred",
    "held_deletions",
    "embedded",
    "vectors_waiting",
    "judged",
    "judged_left",
    "findings",
    "git",
    "seconds",
    "run_id",
]
STATUS_KEYS = [
    "vault",
    "notes",
    "chunks",
    "vectors",
    "links",
    "entities",
    "aliases",
    "rules",
    "rules_ok",
    "changed",
    "deleted",
    "findings",
    "captures_waiting",
    "reinforcements_waiting",
    "refusals",
    "uncommitted_captures",
    "stale_notes",
    "stale_because",
    "awaiting_model",
    "unjudged",
    "for_judge",
    "for_review",
    "serving",
    "spent_today",
]


def write(vault: Path) -> None:
    (vault / "one.md").write_text(
        "# One\n\nA Water Heating Unit (WHU), see [[two]], [[nowhere]] and acme/kettle#12.\n\n"
        "## Second\n\ntext\n"
    )
    (vault / "two.md").write_text("# Two\n")
    (vault / "bad.md").write_text("---\ntitle: a: b\n---\n# Bad\n")
    (vault / "link.md").symlink_to("one.md")


def payload(done: subprocess.CompletedProcess[str]) -> Any:
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_the_life_of_an_index(agentm: Run, vault: Path, env: dict[str, str]) -> None:
    write(vault)
    before = agentm("status", "--json")
    assert (before.returncode, before.stdout) == (3, "")
    assert "no usable index" in before.stderr and "`agentm index`" in before.stderr

    first = payload(agentm("index", "--no-embeddings", "--json"))
    assert list(first) == INDEX_KEYS
    counts = {key: first[key] for key in INDEX_KEYS[:-4]}
    assert counts == {
        "notes": 3,
        "chunks": 4,
        "links": 2,
        "entities": 2,
        "aliases": 2,
        "unresolved_links": 1,
        "changed": 3,
        "deleted": 0,
        "deferred": 0,
        "held_deletions": 0,
        "embedded": 0,
        "vectors_waiting": 4,
        "judged": 0,
        "judged_left": 0,
    }
    assert [list(finding) for finding in first["findings"]] == [
        ["path", "line", "code", "message", "cure"]
    ] * 2
    assert [(f["path"], f["line"], f["code"]) for f in first["findings"]] == [
        ("bad.md", 2, "frontmatter-unreadable"),
        ("link.md", None, "symlink-skipped"),
    ]
    assert isinstance(first["seconds"], float) and first["seconds"] > 0
    assert isinstance(first["run_id"], str)

    state = payload(agentm("status", "--json"))
    assert list(state) == STATUS_KEYS
    assert (state["vault"], state["rules_ok"], state["vectors"]) == (str(vault), True, 0)
    assert {key: state[key] for key in ("notes", "chunks", "links", "entities", "aliases")} == {
        key: first[key] for key in ("notes", "chunks", "links", "entities", "aliases")
    }
    assert (state["changed"], state["deleted"], state["stale_notes"]) == (0, 0, 0)
    assert state["findings"] == first["findings"]

    (vault / "two.md").unlink()
    (vault / "new.md").write_text("# New\n")
    (vault / "picture.png").write_bytes(b"\x89PNG")
    state = payload(agentm("status", "--json"))
    assert (state["changed"], state["deleted"]) == (2, 1)
    human = agentm("status").stdout
    assert "2 changed and 1 deleted since the last pass (agentm index)" in human
    assert "findings  2" in human
    listed = agentm("status", "--findings").stdout
    assert "  bad.md:2  [frontmatter-unreadable] " in listed
    assert "  link.md  [symlink-skipped] " in listed
    assert listed.count(" -> ") == 2

    human_index = agentm("index", "--no-embeddings", "--vault", str(vault))
    assert (human_index.returncode, human_index.stderr) == (0, "")
    lines = human_index.stdout.split("\n")
    assert lines[0].startswith("tables: 1 extracted, 1 dropped, 1 relinked, ")
    assert lines[1] == "embeddings: nothing: embedding is switched off, recall is lexical"
    assert lines[2] == "judged: nothing waits"
    assert lines[3] == "3 notes, 4 chunks, 2 links (2 unresolved), 2 entities"
    assert lines[4] == "2 findings:"
    assert lines[5].startswith("  bad.md:2  ")
    assert "nothing: the index is in line with the vault" in agentm("status").stdout


def test_the_vault_option_precedes_the_profile_and_that_the_current_one(
    agentm: Run, env: dict[str, str], tmp_path: Path
) -> None:
    del env["AGENTM_VAULT"]
    roots = {name: str(tmp_path / name) for name in ("a", "b", "c")}
    for name in ("a", "b"):
        assert agentm("init", roots[name], "--profile", name).returncode == 0
    (tmp_path / "c").mkdir()
    for options, chosen in (
        ([], "b"),  # the last that was made is current
        (["--profile", "a"], "a"),
        (["--vault", roots["c"], "--profile", "a"], "c"),
    ):
        done = agentm("status", "--json", *options)
        assert (done.returncode, done.stdout) == (3, "")
        assert f"no usable index of the vault {roots[chosen]} yet" in done.stderr


@pytest.mark.parametrize("command", ["index", "status"])
def test_a_profile_that_is_not_there_is_one_sentence(agentm: Run, command: str) -> None:
    done = agentm(command, "--json", "--profile", "absent")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no profile `absent`" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", "extra"],
        ["index", "--fulll"],
        ["status", "--vault"],
        ["doctor", "--nothing"],
        ["demo", "one", "two"],
        ["up", "--port", "many"],
    ],
)
def test_wrong_usage_is_exit_2(agentm: Run, arguments: list[str]) -> None:
    done = agentm(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error" in done.stderr
    assert "Traceback" not in done.stderr
