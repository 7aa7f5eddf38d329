import multiprocessing
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.edit import EditRefused
from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.forgetting.allowed import ForgetRefused
from agentm_assets.forgetting.edit import Wanted, forgotten
from agentm_assets.forgetting.forget import forget
from agentm_assets.history.outcome import Committed, NoRepository
from agentm_assets.storage.selection import open_backend
from agentm_assets.storage.vault_backend import VaultBackend

Put = Callable[[str, bytes], Path]
Git = Callable[..., str]

NOTE = "Agent/memory/semantic/2026/08/lid.md"
TEXT = b"---\r\ntype: reference\r\nstatus: active # for now\r\nslug: lid\r\n---\r\nThe lid.\r\nEnd"
WANTED = Wanted("it was wrong", None, datetime(2026, 8, 14, tzinfo=UTC))


def test_the_status_and_the_reason_change_and_not_one_byte_more(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    file = put(NOTE, TEXT)
    done = forget(location, store, NOTE, "it was\nwrong: #12", now)
    assert (done.path, done.status, done.already) == (NOTE, "expired", False)
    reason = b'status_reason: "it was wrong: #12"\r\n'
    assert file.read_bytes() == TEXT.replace(b"status: active", b"status: expired").replace(
        b"slug: lid\r\n", b"slug: lid\r\n" + reason
    )
    assert isinstance(done.outcome, NoRepository)


def test_twice_is_once(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime, git: Git
) -> None:
    file = put(NOTE, TEXT)
    git("add", "-A")
    git("commit", "-qm", "note")
    first = forget(location, store, NOTE, "wrong", now)
    assert isinstance(first.outcome, Committed)
    after, commits = file.read_bytes(), git("rev-list", "--count", "HEAD")
    again = forget(location, store, NOTE, "for another reason", now)
    assert again.already and again.status == "expired" and again.outcome is None
    assert file.read_bytes() == after and git("rev-list", "--count", "HEAD") == commits
    assert git("log", "-1", "--format=%an").strip() == "agentm-forget"
    assert git("log", "-1", "--format=%s").strip() == f"Forget {NOTE}: wrong"
    assert git("log", "-1", "--format=%(trailers:key=Agentm-Pass,valueonly)").strip() == "forget"


def test_a_note_without_properties_gets_a_block(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    file = put("calendar/2026/x.md", b"\xef\xbb\xbfJust text.\r\n")
    forget(location, store, "calendar/2026/x.md", "noise", now)
    assert file.read_bytes() == (
        b"\xef\xbb\xbf---\r\nstatus: expired\r\nstatus_reason: noise\r\n---\r\nJust text.\r\n"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"---\nstatus: [a, {b\n---\nbody\n",
        b"---\nstatus: active\nnever closed\n",
        b"---\nstatus: active\nstatus: active\n---\n",
        b"+++\ntitle = 'toml'\n+++\n",
        b"---\nstatus: *alias\n---\n",
    ],
)
def test_properties_that_cannot_be_edited_are_refused(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime, data: bytes
) -> None:
    file = put(NOTE, data)
    with pytest.raises(ForgetRefused, match=r"by hand") as caught:
        forget(location, store, NOTE, "x", now)
    assert caught.value.code == "unreadable-properties" and file.read_bytes() == data


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("personal/diary.md", "personal"),
        ("Personal/diary.md", "personal"),
        ("standards/storage-rules.md", "rules"),
        ("standards/Storage-Rules.md", "rules"),
        ("standards/other-rules.md", "rules"),
        ("projects/kettle/charter.md", "project-root"),
        ("projects/kettle/moc-kettle.md", "generated"),
        ("Agent/desk/moc-tasks.md", "generated"),
        ("Agent/memory/mocs/all.md", "generated"),
        ("Agent/_meta/x.md", "generated"),
        ("index.md", "generated"),
        ("ideas.md", "no-memory"),
        ("Ideas.md", "no-memory"),
        ("nowhere.md", "absent"),
        ("../out.md", "outside-vault"),
        ("/etc/out.md", "outside-vault"),
        ("a\\b.md", "outside-vault"),
        ("x\0.md", "outside-vault"),
        ("", "no-note"),
        ("projects/kettle/project.yaml", "no-note"),
        (".git/x.md", "no-note"),
    ],
)
def test_what_is_not_forgotten(
    location: VaultLocation, store: VaultBackend, vault: Path, put: Put, path: str, code: str
) -> None:
    put("projects/kettle/project.yaml", b"slug: kettle\n")
    put("standards/other-rules.md", b"```storage-rules\nclasses: []\n```\n")
    for each in (path, "index.md"):
        if code not in ("absent", "outside-vault", "no-note", "rules") or each == "index.md":
            put(each, b"text\n")
    if code == "rules" and "other" not in path:
        put(path, b"not even a block\n")
    before = {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()}
    with pytest.raises(ForgetRefused) as caught:
        forget(location, store, path, "x", datetime.now(UTC))
    assert caught.value.code == code and caught.value.cure
    assert {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()} == before


def test_a_standard_that_is_no_rules_file_can_be_forgotten(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    put("standards/commit-messages.md", b"short\n")
    assert forget(location, store, "standards/commit-messages.md", "x", now).status == "expired"


def test_a_reason_is_asked_for(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    file = put(NOTE, TEXT)
    with pytest.raises(ForgetRefused, match="reason"):
        forget(location, store, NOTE, " \n", now)
    assert file.read_bytes() == TEXT


def test_a_dry_run_checks_everything_and_writes_nothing(
    location: VaultLocation, store: VaultBackend, vault: Path, put: Put, now: datetime, git: Git
) -> None:
    file = put(NOTE, TEXT)
    done = forget(location, store, NOTE, "x", now, dry_run=True)
    assert (done.status, done.already, done.outcome) == ("expired", False, None)
    assert file.read_bytes() == TEXT and not (vault / "Agent/_meta").exists()
    put(NOTE, b"---\na: [\n---\n")
    with pytest.raises(ForgetRefused):
        forget(location, store, NOTE, "x", now, dry_run=True)


def test_superseded_by_another_note(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    put(NOTE, TEXT)
    new = put("Agent/memory/semantic/2026/09/new.md", b"---\nslug: the-new-lid\n---\nNew.\n")
    done = forget(location, store, NOTE, "newer", now, by="Agent/memory/semantic/2026/09/new.md")
    fields = read_frontmatter(store.read_bytes(store.resolve(NOTE))).fields
    assert done.status == fields["status"].text == "superseded"
    assert fields["superseded_by"].text == "the-new-lid"
    assert fields["superseded_at"].text == "2026-08-14T09:30:00Z"
    assert new.read_bytes() == b"---\nslug: the-new-lid\n---\nNew.\n"
    again = forget(location, store, NOTE, "x", now, by="Agent/memory/semantic/2026/09/new.md")
    assert again.already
    with pytest.raises(ForgetRefused, match="superseded by"):
        forget(location, store, "Agent/memory/semantic/2026/09/new.md", "x", now, by=NOTE)
    for by in (NOTE, "nope.md", "../x.md"):
        with pytest.raises(ForgetRefused):
            forget(location, store, NOTE, "x", now, by=by)


def test_nothing_is_unlinked_and_a_superseded_note_stays_so(
    location: VaultLocation, store: VaultBackend, put: Put, now: datetime
) -> None:
    file = put(NOTE, b"---\nstatus: superseded\nsuperseded_by: x\n---\n")
    done = forget(location, store, NOTE, "x", now)
    assert done.already and done.status == "superseded" and file.exists()


@given(
    st.lists(
        st.sampled_from(["status: active", "title: 'a: b'", "tags:\n  - x\n  - y", "# note"])
        | st.from_regex(r"[a-z]{1,6}: [a-z ]{0,8}", fullmatch=True)
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.binary(max_size=60),
)
def test_the_body_survives_any_bytes(lines: list[str], end: str, body: bytes) -> None:
    block = end.join(["---", *"\n".join(lines).split("\n"), "---", ""])
    data = block.encode() + body
    try:
        edited = forgotten(data, WANTED)
    except EditRefused:
        return
    assert edited.endswith(body)
    assert read_frontmatter(edited).fields["status"].text == "expired"
    assert forgotten(edited, WANTED) == edited


@pytest.mark.parametrize("status", ["expired", "superseded"])
def test_a_forgotten_note_keeps_its_first_reason(status: str) -> None:
    data = f"---\nstatus: {status}\nstatus_reason: first\n---\n".encode()
    assert forgotten(data, WANTED) == data


def _forget(path: str, results: "multiprocessing.SimpleQueue[bool]") -> None:
    location = locate(os.environ)
    done = forget(location, open_backend(location), path, "noise", datetime.now(UTC))
    results.put(done.already)


def test_processes_that_forget_one_note_do_it_once(vault: Path, put: Put, git: Git) -> None:
    file = put(NOTE, TEXT)
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.SimpleQueue[bool] = context.SimpleQueue()
    processes = [context.Process(target=_forget, args=(NOTE, results)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(results.get() for _ in processes) == [False, True, True]
    assert file.read_bytes().count(b"status_reason") == 1
    assert git("status", "--porcelain") == ""
