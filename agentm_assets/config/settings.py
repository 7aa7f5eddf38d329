"""Everything that can be configured, validated, with `AGENTM_*` variables over `agentm.toml`."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from agentm_assets.config import directories
from agentm_assets.config.dreaming_table import DreamingTable
from agentm_assets.config.enrichment_table import EnrichmentTable
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.ingest_table import IngestTable
from agentm_assets.config.mail_table import MailTable
from agentm_assets.config.models_table import ModelsTable, named_model
from agentm_assets.config.toml_file import line_of_key, read_toml
from agentm_assets.config.vault import DEVICE_LOCAL, VAULT, VaultLocation, locate

DEFAULT_EMBEDDER = "all-MiniLM-L6-v2"

DEFAULT_BUDGET_MS = 150
"""For a warm question: with a MiniLM of six layers on two free cores it holds 12 sections of 180
tokens, or all 20 of up to 100 (docs/performance.md)."""

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "AGENTM_CONFIG": "path of agentm.toml",
        "AGENTM_PROFILE": "which profile of agentm.toml to use",
        "AGENTM_VAULT": "root of the vault, whatever the profile says",
        "AGENTM_STORAGE_RULES": "path of the storage rules, instead of the vault's own",
        "AGENTM_EMBEDDER_MODEL": "name or folder of the embedding model",
        "AGENTM_MODEL": "model that judges notes: PROVIDER/MODEL[@BASE_URL]; unset, none is asked",
        "AGENTM_CHEAP_MODEL": "cheaper model beside it, for what it proves to judge as well",
        "AGENTM_MODEL_KEY": "key for a model's server that is no vendor's own",
        "AGENTM_SMTP_PASSWORD": "password of the user that the morning note is mailed as",
        "AGENTM_HOOKS": "off: hooks do nothing (an agent that agentm itself asks has it)",
        "AGENTM_RERANKER": "folder of a cross-encoder that reranks; empty for none",
        "AGENTM_RERANKER_SHA256": "hash that its files have to have",
        "AGENTM_RERANKER_BUDGET_MS": "milliseconds that reranking may take in a question",
    }
)
"""Every variable that agentm reads, with its meaning."""

_LONGEST_BUDGET_MS = 600_000  # an evaluation gives all sections the time they need


def _is_sha256(text: str) -> str:
    if re.fullmatch("[0-9a-fA-F]{64}", text) is None:
        raise PydanticCustomError("sha256", "should be 64 hex digits")
    return text


_Sha256 = Annotated[str, AfterValidator(_is_sha256)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StorageTable(_Table):
    """`[profiles.NAME.storage]`. The root is checked by `agentm_assets.config.vault`, the backend's
    name where it is opened (`agentm_assets.storage.selection`)."""

    backend: str = Field(default=VAULT, min_length=1)
    root: str = ""

    @model_validator(mode="after")
    def _has_a_root(self) -> "StorageTable":
        if self.backend != DEVICE_LOCAL and "root" not in self.model_fields_set:
            raise PydanticCustomError("no_root", "has a backend that needs storage.root")
        return self


class EmbedderTable(_Table):
    """`[profiles.NAME.embedder]`."""

    model: str = Field(default=DEFAULT_EMBEDDER, min_length=1)


class RerankerTable(_Table):
    """`[profiles.NAME.reranker]`: a cross-encoder of the operator's. `sha256` is what
    `agentm doctor` shows for its files; another one is then refused."""

    folder: str = ""
    sha256: _Sha256 | None = None
    budget_ms: int = Field(default=DEFAULT_BUDGET_MS, ge=1, le=_LONGEST_BUDGET_MS)


class EntitiesTable(_Table):
    """`[profiles.NAME.entities]`: which trackers bare references such as `KET-12` belong to.

    `repo` is the repository that `#12` means where a note names none. Hosts are names without a
    scheme.
    """

    repo: str | None = None
    jira_projects: tuple[str, ...] = ()
    gerrit_hosts: tuple[str, ...] = ()
    gitlab_hosts: tuple[str, ...] = ()


class ProfileTable(_Table):
    """`[profiles.NAME]`: one vault and how it is served."""

    storage: StorageTable | None = None
    embedder: EmbedderTable = EmbedderTable()
    reranker: RerankerTable = RerankerTable()
    entities: EntitiesTable = EntitiesTable()
    models: ModelsTable = ModelsTable()
    enrichment: EnrichmentTable = EnrichmentTable()
    dreaming: DreamingTable = DreamingTable()
    mail: MailTable = MailTable()
    ingest: IngestTable = IngestTable()


class AgentmFile(_Table):
    """The whole of `agentm.toml`."""

    profile: str | None = None
    # Where checkouts keep their plans on this machine; agentm_assets.routing.mode reads it.
    state_mode: Literal["", "local", "backend", "vault"] = ""
    profiles: dict[str, ProfileTable] = {}


class _Variables(PydanticBaseSettingsSource):
    """`AGENTM_*` from an environment that is passed in, so that nothing reads the real one."""

    def __init__(self, settings_cls: type[BaseSettings], env: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self._env = env

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        name = f"{self.config.get('env_prefix', '')}{field_name.upper()}"
        return self._env.get(name), field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, field in self.settings_cls.model_fields.items():
            value, key, _complex = self.get_field_value(field, name)
            if value is not None and f"AGENTM_{name.upper()}" in VARIABLES:
                found[key] = value
        return found


class Settings(BaseSettings):
    """What this process runs with. Frozen; `location` holds the vault and every derived path."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="AGENTM_", arbitrary_types_allowed=True
    )

    location: VaultLocation
    embedder_model: str = Field(min_length=1)
    reranker: str = ""
    reranker_by_variable: bool = False  # AGENTM_RERANKER names it
    reranker_sha256: _Sha256 | None = None
    reranker_budget_ms: int = Field(default=DEFAULT_BUDGET_MS, ge=1, le=_LONGEST_BUDGET_MS)
    entities: EntitiesTable = EntitiesTable()
    models: ModelsTable = ModelsTable()
    enrichment: EnrichmentTable = EnrichmentTable()
    dreaming: DreamingTable = DreamingTable()
    mail: MailTable = MailTable()
    ingest: IngestTable = IngestTable()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # `load` hands the merged values over; the real environment and .env files stay unread.
        return (init_settings,)

    @classmethod
    def load(
        cls, env: Mapping[str, str], *, vault: str | None = None, profile: str | None = None
    ) -> "Settings":
        """Read `agentm.toml` and `env` (the options `--vault` and `--profile` precede both).

        Raises ConfigError, one sentence with its cure, for whatever cannot be used: also for a key
        that agentm does not know, in any profile, since a misspelt key would silently do nothing.
        """
        file = read_file(directories.config_file(env))
        location = locate(env, vault=vault, profile=profile)
        chosen = file.profiles.get(location.profile, ProfileTable())
        values: dict[str, Any] = {
            "embedder_model": chosen.embedder.model,
            "reranker": chosen.reranker.folder,
            "reranker_by_variable": "AGENTM_RERANKER" in env,
            "reranker_sha256": chosen.reranker.sha256,
            "reranker_budget_ms": chosen.reranker.budget_ms,
            "entities": chosen.entities,
            "models": _models(env, chosen.models),
            "enrichment": chosen.enrichment,
            "dreaming": chosen.dreaming,
            "mail": chosen.mail,
            "ingest": chosen.ingest,
        }
        values |= _Variables(cls, env)()
        try:
            return cls(location=location, **values)
        except ValidationError as error:
            named = ", ".join(f"AGENTM_{str(part['loc'][0]).upper()}" for part in error.errors())
            raise ConfigError(
                f"{named} cannot be used: {error.errors()[0]['msg'].lower()}. "
                "Correct the variable, or unset it."
            ) from error

    @property
    def vault_root(self) -> Path:
        return self.location.root

    @property
    def vault_source(self) -> str:
        return self.location.source

    @property
    def state_dir(self) -> Path:
        return self.location.state_dir

    @property
    def cache_dir(self) -> Path:
        return self.location.cache_dir


def _models(env: Mapping[str, str], configured: ModelsTable) -> ModelsTable:
    """The models of the profile, with those that variables name in their place."""
    named = {
        tier: named_model(env[variable], variable)
        for tier, variable in (("strong", "AGENTM_MODEL"), ("cheap", "AGENTM_CHEAP_MODEL"))
        if variable in env
    }
    if "strong" in named and "cheap" not in named:
        # One variable is the whole answer to where notes go, so it leaves no other model in place.
        named["cheap"] = named["strong"]
    return configured.model_copy(update=named)


def read_file(path: Path) -> AgentmFile:
    """`agentm.toml`, validated; an absent file is an empty one. Raises ConfigError."""
    table, text = read_toml(path)
    try:
        return AgentmFile.model_validate(table)
    except ValidationError as error:
        problems = [
            _problem(part["loc"], part["type"], part["msg"], text) for part in error.errors()
        ]
        raise ConfigError(
            f"{path}: {'; '.join(problems)}. Correct it; `agentm config path` names the file."
        ) from error


def misspelt_variables(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Variables that agentm does not read but that look like one it does: (name, meant name)."""
    found: list[tuple[str, str]] = []
    for name in sorted(env):
        if name.startswith("AGENTM_") and name not in VARIABLES:
            meant = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.85)
            found += [(name, meant[0])] if meant else []
    return found


def _problem(loc: tuple[int | str, ...], kind: str, message: str, text: str) -> str:
    # pydantic's message never quotes the value; its `input` would, and may hold a secret
    path = tuple(str(part) for part in loc)
    line = line_of_key(text, path)
    at = f"line {line}: " if line else ""
    said = "is not a key that agentm knows" if kind == "extra_forbidden" else message.lower()
    return f"{at}`{'.'.join(path)}` {said}"
