import multiprocessing
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentm_assets.config.vault import VaultLocation, locate
from agentm_assets.contract.lines import split_lines
from agentm_assets.history.outcome import Committed, NoRepository
from agentm_assets.projects.add_idea import add_idea
from agentm_assets.projects.ideas import NEW_PAGE, IdeaRefused, idea_line, last_line, with_idea
from agentm_assets.storage.selection import open_backend
from agentm_assets.storage.vault_backend import VaultBackend

DAY = date(2026, 8, 14)
PAGES = (
    st.lists(
        st.sampled_from([b"- a", b"# Ideas", b"", b"\xff\x00", "é\u2028".encode()]).flatmap(
            lambda line: st.sampled_from([b"\n", b"\r\n", b"\r", b""]).map(lambda end: line + end)
        )
    ).map(b"".join)
    | st.binary()
)


@given(PAGES, st.text(min_size=1, max_size=40))
def test_every_byte_of_the_page_stays_before_the_new_item(page: bytes, text: str) -> None:
    try:
        line = idea_line(text, "operator", DAY)
        longer = with_idea(page, line)
    except IdeaRefused:
        return
    rest = longer.removeprefix(page)
    assert longer.startswith(page) and (page or longer.startswith(NEW_PAGE))
    item = b"- " + line.encode()
    assert split_lines(longer)[-1].rstrip(b"\r\n") == item
    assert rest.endswith((b"\n", b"\r"))
    assert last_line(longer) == len(split_lines(longer))


@pytest.mark.parametrize(
    ("page", "longer"),
    [
        (b"", b"# Ideas\n\n- x\n"),
        (b"- a\n", b"- a\n- x\n"),
        (b"- a", b"- a\n- x\n"),
        (b"- a\r\n- b\r\n", b"- a\r\n- b\r\n- x\r\n"),
        (b"- a\r\n- b", b"- a\r\n- b\r\n- x\r\n"),
        (b"- a\r- b\r", b"- a\r- b\r- x\r"),
        (b"- a\r\n- b\n- c\n", b"- a\r\n- b\n- c\n- x\n"),
    ],
)
def test_the_line_end_of_the_page(page: bytes, longer: bytes) -> None:
    assert with_idea(page, "x") == longer


def test_an_idea_is_one_line_and_the_agents_is_signed() -> None:
    assert idea_line(" two\n\tlines \0", "operator", DAY) == "two lines \ufffd"
    assert idea_line("x", "agent", DAY) == "x (added by the agent, 2026-08-14)"


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 2001])
def test_what_is_no_idea(text: str) -> None:
    with pytest.raises(IdeaRefused):
        idea_line(text, "operator", DAY)


def test_a_page_in_utf16_is_left_alone() -> None:
    with pytest.raises(IdeaRefused, match="UTF-16"):
        with_idea("# Ideas\n".encode("utf-16"), "x")


def test_the_page_is_made_and_the_agent_announces(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime
) -> None:
    added = add_idea(location, store, "a lid", "agent", now)
    assert (vault / "ideas.md").read_text() == (
        "# Ideas\n\n- a lid (added by the agent, 2026-08-14)\n"
    )
    assert added.idea.line == 3
    assert added.announcement is not None and "a lid" in added.announcement
    assert isinstance(added.outcome, NoRepository)


@pytest.mark.parametrize("name", ["Ideas.md", "IDEAS.md"])
def test_the_page_is_found_under_its_name_on_disk(
    location: VaultLocation, store: VaultBackend, vault: Path, now: datetime, name: str
) -> None:
    (vault / name).write_bytes(b"- a\n")
    added = add_idea(location, store, "b", "operator", now)
    assert added.idea.path == name and added.announcement is None
    assert (vault / name).read_bytes() == b"- a\n- b\n"


def test_an_idea_is_one_commit(
    location: VaultLocation,
    store: VaultBackend,
    vault: Path,
    now: datetime,
    git: Callable[..., str],
) -> None:
    (vault / "untouched.md").write_text("mine\n")
    added = add_idea(location, store, "b", "operator", now)
    assert isinstance(added.outcome, Committed)
    assert git("log", "-1", "--format=%an %s").strip() == "agentm-idea Add an idea to ideas.md"
    assert git("status", "--porcelain").strip() == "?? untouched.md"


def _append(numbers: range, start: Barrier) -> None:
    location = locate(os.environ)
    backend = open_backend(location)
    start.wait(60)
    for number in numbers:
        add_idea(location, backend, f"idea {number}", "operator", datetime.now(UTC))


def test_four_processes_lose_no_idea(vault: Path, git: Callable[..., str]) -> None:
    (vault / "ideas.md").write_bytes(b"- mine\r\n- yours")
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    processes = [
        context.Process(target=_append, args=(range(n * 4, n * 4 + 4), start)) for n in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    page = (vault / "ideas.md").read_bytes()
    assert page.startswith(b"- mine\r\n- yours\r\n")
    lines = page.decode().removesuffix("\r\n").split("\r\n")[2:]
    assert sorted(lines) == sorted(f"- idea {number}" for number in range(16))
    assert git("status", "--porcelain") == ""
