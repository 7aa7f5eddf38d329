"""`[profiles.NAME.ingest]`: what the hourly sweep looks through."""

from pydantic import BaseModel, ConfigDict


class IngestTable(BaseModel):
    """`folders`: files and folders of session logs, mails and pages, such as "~/.claude/projects".
    None: nothing is read by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folders: tuple[str, ...] = ()
