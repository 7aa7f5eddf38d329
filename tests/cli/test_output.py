"""Known failures become a sentence and an exit code."""

import pytest
import typer

from agentm_assets.cli.output import BAD_INPUT, RED_STATE, failures_reported
from agentm_assets.config.errors import ConfigError
from agentm_assets.storage.seam import ConcurrentModificationError, StorageError


@pytest.mark.parametrize(
    ("own", "code"),
    [
        ({}, RED_STATE),
        ({ConcurrentModificationError: BAD_INPUT}, BAD_INPUT),
        ({ConcurrentModificationError: BAD_INPUT, StorageError: RED_STATE}, BAD_INPUT),
        ({StorageError: BAD_INPUT}, BAD_INPUT),
        ({ConfigError: RED_STATE}, RED_STATE),
    ],
)
def test_a_commands_own_code_comes_before_that_of_a_base_class(
    own: dict[type[Exception], int], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left, failures_reported(own):
        raise ConcurrentModificationError("it changed")
    assert left.value.exit_code == code
    assert capsys.readouterr().err == "agentm: it changed\n"
