"""`[profiles.NAME.mail]`: where the morning note is sent. Without it nothing is sent."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]+@[^\s@<>,;:\"()\\\x00-\x1f\x7f]+")


def _is_address(text: str) -> str:
    if _ADDRESS.fullmatch(text) is None:
        raise PydanticCustomError("address", "should be one bare address such as me@example.org")
    return text


Address = Annotated[str, AfterValidator(_is_address)]


class MailTable(BaseModel):
    """A server to hand mail to. `tls`: "starttls" begins in the clear and must be raised before
    anything is said, "implicit" is encrypted from the first byte; there is no third. `key`: the
    name of the variable, or of the line in secrets.toml, that holds the password of `user`.
    `ca_file`: certificates to trust beside the system's, for a server of one's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(default="", max_length=253, pattern=r"^[A-Za-z0-9.:\-]*$")
    port: int | None = Field(default=None, ge=1, le=65_535)
    tls: Literal["starttls", "implicit"] = "starttls"
    sender: Address | None = None
    to: tuple[Address, ...] = ()
    user: str | None = Field(default=None, min_length=1, max_length=320)
    key: str = Field(default="AGENTM_SMTP_PASSWORD", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    ca_file: str | None = Field(default=None, min_length=1)
    timeout_seconds: float = Field(default=30.0, gt=0, le=600)

    @model_validator(mode="after")
    def _is_whole(self) -> "MailTable":
        if self.host and not self.to:
            raise PydanticCustomError("no_to", "needs `to`, a list of addresses")
        if self.to and not self.host:
            raise PydanticCustomError("no_host", "needs `host`, the server's name")
        return self

    @property
    def is_configured(self) -> bool:
        return bool(self.host)

    @property
    def at_port(self) -> int:
        """The port, by default that of submission (RFC 6409: 587, RFC 8314: 465)."""
        return self.port or (465 if self.tls == "implicit" else 587)
