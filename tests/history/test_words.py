"""What doctor says of git is what a run would say."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from agentm_assets.history.outcome import GitTrouble, NoRepository
from agentm_assets.history.run import begin
from agentm_assets.index.diagnosis import Diagnosis, diagnose
from agentm_assets.storage.locator import Locator
from agentm_assets.storage.seam import ABSENT

Place = Any  # the class in conftest.py, which cannot be imported from here


def looked_at(place: Place) -> Diagnosis:
    env = {"HOME": os.environ["HOME"], "AGENTM_VAULT": str(place.root)}
    (git,) = [check for check in diagnose(env) if check.name == "git"]
    return git


def wrote(place: Place) -> object:
    with begin(place.location, place.backend, pass_name="enrich") as run:
        run.write(Locator("new.md"), b"new\n", expect=ABSENT)
    return run.outcome


def test_of_a_sound_repository(place: Place) -> None:
    assert looked_at(place).outcome == "ok"


def test_of_no_repository(make_place: Callable[..., Place]) -> None:
    place = make_place(repository=False)
    git, outcome = looked_at(place), wrote(place)
    assert isinstance(outcome, NoRepository)
    assert (git.outcome, git.message, git.cure) == ("warn", outcome.message, outcome.cure)


@pytest.mark.parametrize("state", ["detached", "different owner"])
def test_of_one_that_can_not_be_used_now(
    place: Place, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if state == "detached":
        place.git("checkout", "-q", "--detach")
    else:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    git, outcome = looked_at(place), wrote(place)
    assert isinstance(outcome, GitTrouble)
    assert git.outcome == "warn"
    assert git.cure
    assert git.message in outcome.text
