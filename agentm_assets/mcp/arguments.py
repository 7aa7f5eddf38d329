"""What each tool takes. Descriptions are read by models: they say when to use what."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agentm_assets.reading.recent import MOST_NOTES
from agentm_assets.recall.question import MOST_HITS

MOST_CAPTURED = 1_000_000
"""Characters of one capture. More is a file, and belongs in the vault as one."""


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


NotePath = Annotated[
    str, Field(description="Path of a note relative to the vault, as a search hit shows it.")
]


class SearchArguments(_Arguments):
    query: str = Field(description="The question in plain words, as you would ask a person.")
    k: int = Field(default=5, ge=1, le=MOST_HITS, description="Notes to return at most.")
    after: str | None = Field(
        default=None, description='Captured on this day or later: 2026-08-01, 2026-08, "last week".'
    )
    before: str | None = Field(default=None, description="Captured before this day.")
    type: str | None = Field(
        default=None, description="Only this type, such as preference, convention, fix, workflow."
    )
    space: str | None = Field(
        default=None, description="Only this space: memory, calendar, projects, desk, standards."
    )
    include_archived: bool = Field(default=False, description="Also notes that have faded.")
    linked: bool = Field(default=False, description="Also notes that link to the hits.")


class CaptureArguments(_Arguments):
    text: str = Field(
        max_length=MOST_CAPTURED,
        description="What to remember, self-contained markdown: names, versions, the reason why.",
    )
    title: str | None = Field(default=None, description="A short title; else the first clause.")
    type: str | None = Field(
        default=None,
        description="preference, convention, reference, workflow, fix or idea; leave out if "
        "unsure.",
    )
    status: str | None = Field(
        default=None,
        description='"active" only when the operator asked for this to be remembered.',
    )
    tags: tuple[str, ...] = Field(default=(), max_length=64)
    aliases: tuple[str, ...] = Field(
        default=(), max_length=64, description="Other words somebody may later ask for it with."
    )
    source: str | None = Field(default=None, description="Where it comes from: a URL, a file.")
    space: str | None = Field(
        default=None,
        description="Leave it out: standards and personal are the operator's alone.",
    )
    instructions: str | None = Field(
        default=None, description="What the operator said about how to use this memory."
    )


class GetArguments(_Arguments):
    path: NotePath
    section: str | None = Field(
        default=None, description="Only this section: a header path or heading of the note."
    )


class BacklinksArguments(_Arguments):
    path: NotePath


class EntityArguments(_Arguments):
    uri: str = Field(
        description="owner/repo#12, a URL, @login, a commit hash, or a key such as "
        "issue:owner/repo#12."
    )


class ForgetArguments(_Arguments):
    path: NotePath
    reason: str = Field(
        min_length=1, max_length=2_000, description="Why it no longer holds; kept in the log."
    )


class RecentArguments(_Arguments):
    k: int = Field(default=10, ge=1, le=MOST_NOTES, description="Notes to return at most.")
