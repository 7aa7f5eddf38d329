"""`[profiles.NAME.models]`: which models judge, if any. Without it nothing is ever sent anywhere.

A key in the environment configures nothing: many have one there for other programs, and a vault
must not go out because of it. One variable names a model, on purpose: `AGENTM_MODEL`.
"""

import re
import shlex
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from agentm_assets.config.errors import ConfigError

ProviderName = Literal["anthropic", "openai-compatible", "command"]

_NAMED = re.compile(r"(anthropic|openai-compatible)/(\S.{0,199}?)(?:@(https?://\S+))?\Z")
_EXAMPLES = (
    "anthropic/claude-sonnet-5-5, openai-compatible/NAME@http://127.0.0.1:8080/v1 or "
    "command/claude -p"
)


class TierTable(BaseModel):
    """`[profiles.NAME.models.strong]` and `.cheap`: one model.

    `base_url`: the server, where it is not the vendor's own. `key`: the name of the variable, or of
    the line in secrets.toml, that holds the key; what is tried without it says
    `agentm_assets.models.keys`. `command`: program and arguments of an installed agent.
    `daily_usd`, `daily_tokens`: no call any more on a day (UTC) on which so much was spent.
    `input_price`, `output_price`: US dollars for a million tokens. `batches`: whether the server
    has OpenAI's batch files (None: only OpenAI's own).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: ProviderName
    model: str = Field(default="", max_length=200)
    base_url: str | None = Field(default=None, min_length=1)
    key: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    command: tuple[str, ...] = ()
    timeout_seconds: float = Field(default=120.0, gt=0, le=3600)
    daily_usd: float | None = Field(default=None, gt=0)
    daily_tokens: int | None = Field(default=None, gt=0)
    input_price: float | None = Field(default=None, ge=0)
    output_price: float | None = Field(default=None, ge=0)
    batches: bool | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> "TierTable":
        if self.provider == "command":
            if not self.command or not self.command[0].strip():
                raise PydanticCustomError(
                    "no_command", "needs `command`, a list of program and arguments"
                )
        elif not self.model.strip():
            raise PydanticCustomError("no_model", "needs `model`, the model's name")
        elif self.command:
            raise PydanticCustomError(
                "command", "has a `command`, which only provider command takes"
            )
        if (self.input_price is None) != (self.output_price is None):
            raise PydanticCustomError("prices", "needs input_price and output_price together")
        return self


class ModelsTable(BaseModel):
    """`strong` alone serves everything; `cheap` serves a job alone once it has shown that it judges
    as `strong` does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cheap: TierTable | None = None
    strong: TierTable | None = None


def named_model(written: str, variable: str) -> TierTable:
    """What a variable says: PROVIDER/MODEL[@BASE_URL], or command/PROGRAM ARGUMENTS.

    Raises ConfigError, which does not quote the text: it may hold a password in its URL.
    """
    text = written.strip()
    if text.startswith("command/"):
        return TierTable(provider="command", command=_command(text, variable))
    found = _NAMED.match(text)
    if found is None:
        raise ConfigError(
            f"{variable} names no model. Write for instance {_EXAMPLES}; or unset it."
        )
    if found[1] == "anthropic":
        return TierTable(provider="anthropic", model=found[2], base_url=found[3])
    return TierTable(provider="openai-compatible", model=found[2], base_url=found[3])


def _command(text: str, variable: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(text.removeprefix("command/")))
    except ValueError:
        raise ConfigError(f"{variable} has a quote that is not closed. Close it.") from None
    if not command or not command[0]:
        raise ConfigError(f"{variable} names no program. Write for instance {_EXAMPLES}.")
    return command
