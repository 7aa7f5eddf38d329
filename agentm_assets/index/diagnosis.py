"""What `agentm doctor` looks at. Every look is turned into a result; none changes anything."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from agentm_assets.capture.mounted import require_mounted
from agentm_assets.config.errors import ConfigError
from agentm_assets.config.settings import Settings
from agentm_assets.config.vault import VaultLocation
from agentm_assets.contract.rules import RulesError, load_rules
from agentm_assets.history.outcome import GitTrouble, NoRepository
from agentm_assets.history.run import open_repository
from agentm_assets.hooks.log import LOG as HOOK_LOG
from agentm_assets.hooks.log import failures_since
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.index.lexical import LexicalReader
from agentm_assets.index.serving import ServingUnreadable
from agentm_assets.index.vectors import VectorReader
from agentm_assets.models.export import models_folder, source_model_id
from agentm_assets.models.manifest import ModelFolderUnusable, load_manifest
from agentm_assets.models.reranker_folder import RerankerUnusable, RerankFailed, reranker_trouble
from agentm_assets.models.tiers import NOT_CONFIGURED, TIERS, open_tiers
from agentm_assets.models.weights import ModelUnavailable, WeightsRefused, locate
from agentm_assets.storage.seam import Capabilities, StorageError
from agentm_assets.storage.selection import open_vault, storage_preview
from agentm_assets.storage.vault import Vault

LOW_DISK_BYTES = 512 * 1024 * 1024
_HOOK_DAYS = timedelta(days=7)
_TIER_SECONDS = 5.0

Outcome = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at. `cure` is None when nothing need be done."""

    name: str
    outcome: Outcome
    message: str
    cure: str | None = None


def diagnose(
    env: Mapping[str, str],
    *,
    vault: str | None = None,
    profile: str | None = None,
    required: Capabilities | None = None,
) -> tuple[Diagnosis, ...]:
    """Look at everything. Without a usable configuration or store only that is reported.
    `required`: what the store has to promise."""
    try:
        settings = Settings.load(env, vault=vault, profile=profile)
    except ConfigError as error:
        return (Diagnosis("config", "fail", str(error)),)
    location = settings.location
    preview = storage_preview(
        env, vault=vault, profile=profile, required=required or Capabilities()
    )
    if not preview.ok:
        return (_config(location), Diagnosis("storage", "fail", preview.message))
    notes = open_vault(location)
    looks: tuple[Callable[[], Diagnosis], ...] = (
        lambda: _config(location),
        lambda: Diagnosis("storage", "ok", preview.message),
        lambda: _vault(notes, location),
        lambda: _git(location),
        lambda: _rules(notes, env),
        lambda: _disk(location.state_dir),
        lambda: _model(settings),
        lambda: _tiers(settings, env),
        lambda: _reranker(settings),
        lambda: _facts(location.facts_file),
        lambda: _lexical(location.lexical_dir),
        lambda: _vectors(location.vectors_dir, settings),
        lambda: _dagster(location.dagster_home),
        lambda: _hooks(location),
    )
    return tuple(look() for look in looks)


def _config(location: VaultLocation) -> Diagnosis:
    if location.is_default:
        return Diagnosis(
            "config",
            "warn",
            f"no vault is configured, so notes stay on this device, in {location.store}",
            "agentm init PATH makes or adopts a vault",
        )
    return Diagnosis("config", "ok", f"vault {location.store} (from {location.source})")


def _vault(vault: Vault, location: VaultLocation) -> Diagnosis:
    try:
        require_mounted(location, vault.store)
        scan = vault.scan()
    except StorageError as error:
        return Diagnosis("vault", "fail", str(error), "mount it, or mend its permissions")
    message = f"{len(scan.notes):,} notes, {len(scan.attachments):,} other files"
    if scan.hidden:
        message += f", {scan.hidden:,} hidden by a dot before their name"
    if scan.findings:
        return Diagnosis(
            "vault",
            "warn",
            f"{message}, {len(scan.findings):,} passed over",
            "agentm status --findings lists them with their cures",
        )
    return Diagnosis("vault", "ok", message)


def _hooks(location: VaultLocation) -> Diagnosis:
    try:
        failed = failures_since(location, _HOOK_DAYS, datetime.now().astimezone())
    except OSError as error:
        said = f"their log can't be read: {error.strerror}"
        return Diagnosis("hooks", "warn", said, "mend the permissions of the state folder")
    if not failed:
        return Diagnosis("hooks", "ok", f"none failed in {_HOOK_DAYS.days} days")
    last = failed[-1]
    return Diagnosis(
        "hooks",
        "warn",
        f"{len(failed):,} failed in {_HOOK_DAYS.days} days, {last.hook} at {last.at} the last: "
        f"{last.reason}",
        f"see {location.log_dir / HOOK_LOG}; a running agentm mcp answers prompts fastest",
    )


def _git(location: VaultLocation) -> Diagnosis:
    repository = open_repository(location)
    if isinstance(repository, NoRepository):
        return Diagnosis("git", "warn", repository.message, repository.cure)
    if isinstance(repository, GitTrouble):
        cure = "mend that: history and undo rest on it"
        return Diagnosis("git", "warn", repository.text, cure)
    obstacle = repository.obstacle()
    if obstacle is not None:
        return Diagnosis("git", "warn", obstacle.message, obstacle.cure)
    return Diagnosis("git", "ok", "the vault is a git repository")


def _rules(vault: Vault, env: Mapping[str, str]) -> Diagnosis:
    try:
        rules = load_rules(vault, env)
    except RulesError as error:
        return Diagnosis(
            "rules",
            "fail",
            f"the storage rules can't be used, so nothing is filed:\n{error}",
            "mend the lines named above; it takes effect at once",
        )
    return Diagnosis("rules", "ok", f"{rules.path} ({rules.source}), hash {rules.rules_hash}")


def _disk(state_dir: Path) -> Diagnosis:
    folder = state_dir
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not os.access(f"{folder}/.", os.W_OK | os.X_OK):  # a file in the place of a folder, too
        return Diagnosis(
            "state",
            "fail",
            f"{folder} can't be written",
            "mend its permissions, or set XDG_STATE_HOME",
        )
    free = shutil.disk_usage(folder).free
    if free < LOW_DISK_BYTES:
        return Diagnosis(
            "state",
            "warn",
            f"only {free // 2**20:,} MiB are free for the index",
            "free some space: an index takes about as much as the vault itself",
        )
    return Diagnosis("state", "ok", f"{state_dir} ({free // 2**30:,} GiB free)")


def _model(settings: Settings) -> Diagnosis:
    try:
        source = locate(settings.embedder_model)
    except (ModelUnavailable, WeightsRefused) as error:
        return Diagnosis(
            "model", "fail", str(error), "recall goes on by words alone until this is mended"
        )
    folder = models_folder(settings.cache_dir) / source_model_id(source)
    if not os.path.lexists(folder):
        return Diagnosis(
            "model", "warn", f"{folder.name} is not exported yet", "agentm index exports the model"
        )
    try:
        load_manifest(folder)
    except ModelFolderUnusable as error:
        return Diagnosis("model", "warn", str(error), "agentm index exports the model")
    return Diagnosis("model", "ok", folder.name)


def _tiers(settings: Settings, env: Mapping[str, str]) -> Diagnosis:
    """Which models that judge can be had. Costs no tokens."""
    tiers = open_tiers(settings, env)
    if not tiers.is_configured:
        return Diagnosis("tiers", "ok", NOT_CONFIGURED)
    found: list[str] = []
    wrong = list(tiers.why)
    for tier in TIERS:
        provider = tiers.provider(tier)
        if provider is None:
            continue
        if tier == "strong" and tiers.is_one_model and found:
            found.append(f"strong {provider.model_id}, the same")
            continue
        said = provider.reachable(timeout=_TIER_SECONDS)
        if said is None:
            found.append(f"{tier} {provider.model_id}")
        else:
            wrong.append(f"{tier} {provider.model_id}: {said}")
    reached = f"reachable: {'; '.join(found) or 'none'}"
    if wrong:
        cure = "mend that; until then its notes wait, captured and found as ever"
        return Diagnosis("tiers", "warn", " | ".join([reached, *wrong]), cure)
    return Diagnosis("tiers", "ok", reached)


def _reranker(settings: Settings) -> Diagnosis:
    if not settings.reranker:
        return Diagnosis("reranker", "ok", "none is named; recall ranks by words and meaning")
    from agentm_assets.models.reranker import Reranker  # imports onnxruntime

    folder = Path(settings.reranker).expanduser()
    try:
        model = Reranker.open(folder, pinned=settings.reranker_sha256)
        ms = model.longest_pair_ms()
    except RerankerUnusable as error:
        said = reranker_trouble(error, by_variable=settings.reranker_by_variable)
        return Diagnosis("reranker", "warn", said, "recall goes on without it until then")
    except RerankFailed as error:
        return Diagnosis("reranker", "warn", str(error), "recall goes on without it until then")
    budget = settings.reranker_budget_ms
    message = (
        f"{model.name}, sha256 {model.sha256}: {ms:.0f} ms for a pair of {model.max_tokens} "
        f"tokens, budget {budget} ms"
    )
    if ms > budget:
        cure = "raise reranker.budget_ms, or name a smaller model"
        return Diagnosis("reranker", "warn", message, cure)
    return Diagnosis("reranker", "ok", message)


def _facts(file: Path) -> Diagnosis:
    try:
        with FactsReader.open(file) as facts:
            counts = facts.counts
    except ServingUnreadable as error:
        return Diagnosis("facts", "fail", str(error), "agentm index")
    return Diagnosis("facts", "ok", f"{counts.notes:,} notes, {counts.chunks:,} chunks")


def _lexical(folder: Path) -> Diagnosis:
    try:
        count = LexicalReader.open(folder).count
    except (ServingUnreadable, OSError) as error:
        return Diagnosis("lexical", "fail", str(error), "agentm index")
    return Diagnosis("lexical", "ok", f"{count:,} chunks")


def _vectors(folder: Path, settings: Settings) -> Diagnosis:
    try:
        reader = VectorReader.open(folder)
    except (ServingUnreadable, OSError) as error:
        return Diagnosis(
            "vectors", "warn", str(error), "agentm index; until then recall goes by words alone"
        )
    try:
        wanted = source_model_id(locate(settings.embedder_model))
    except (ModelUnavailable, WeightsRefused):
        wanted = reader.model_id
    if reader.model_id != wanted:
        return Diagnosis(
            "vectors",
            "warn",
            f"they are of the model {reader.model_id}, configured is {wanted}",
            "agentm index embeds the vault with the configured model",
        )
    return Diagnosis("vectors", "ok", f"{reader.count:,} vectors")


def _dagster(home: Path) -> Diagnosis:
    if not os.path.lexists(home / "dagster.yaml"):
        return Diagnosis(
            "dagster", "warn", f"{home} is not set up yet", "agentm index, or agentm up"
        )
    return Diagnosis("dagster", "ok", str(home))
