"""The two tiers that the configuration names, opened. Opening asks nobody and costs nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from agentm_assets.config.models_table import TierTable
from agentm_assets.config.settings import Settings
from agentm_assets.models.base_url import checked_base_url
from agentm_assets.models.keys import find_key, key_names
from agentm_assets.models.pace import Pace
from agentm_assets.models.prices import Price, price_of
from agentm_assets.models.protocol import ModelMisconfigured, Provider, Tier
from agentm_assets.models.spend import DailyLine, SpendLog

NOT_CONFIGURED = (
    "no model is configured, so nothing is sent anywhere and the built-in judge files notes. "
    "AGENTM_MODEL=PROVIDER/MODEL names one."
)

TIERS: tuple[Tier, ...] = ("cheap", "strong")


@dataclass(frozen=True)
class Tiers:
    """`why`: for each tier that can't be had, the reason and the cure. `timeouts` in seconds and
    `lines` for those that are configured."""

    cheap: Provider | None
    strong: Provider | None
    why: tuple[str, ...]
    timeouts: Mapping[Tier, float]
    lines: Mapping[Tier, DailyLine]

    def provider(self, tier: Tier) -> Provider | None:
        return self.cheap if tier == "cheap" else self.strong

    @property
    def is_configured(self) -> bool:
        return bool(self.timeouts)

    @property
    def is_one_model(self) -> bool:
        """Whether both tiers are the same model: then there is nothing to compare."""
        if self.cheap is None or self.strong is None:
            return False
        return self.cheap.model_id == self.strong.model_id

    def spend_log(self, settings: Settings) -> SpendLog:
        return SpendLog(settings.location, self.lines)


def open_tiers(settings: Settings, env: Mapping[str, str], pace: Pace | None = None) -> Tiers:
    """The tiers of the configuration. `env`: where keys are looked for, and what an agent's command
    is started with. Raises nothing for what is wrong with a tier: `why` says it."""
    tables: dict[Tier, TierTable] = {}
    if settings.models.strong is not None:
        tables["strong"] = settings.models.strong
    if settings.models.cheap is not None:
        tables["cheap"] = settings.models.cheap
    elif settings.models.strong is not None:
        tables["cheap"] = settings.models.strong
    if not tables:
        return Tiers(None, None, (NOT_CONFIGURED,), {}, {})
    opened: dict[Tier, Provider] = {}
    why: list[str] = []
    is_one = tables.get("cheap") == tables.get("strong")
    for tier, table in list(tables.items())[: 1 if is_one else 2]:
        try:
            opened[tier] = open_provider(table, settings, env, pace)
        except ModelMisconfigured as error:
            why.append(f"{'cheap and strong' if is_one else tier}: {error}")
    if is_one and "strong" in opened:
        opened["cheap"] = opened["strong"]
    if "strong" not in tables:
        why.append(
            "strong: it is not configured, and what the cheap tier has not proved itself at waits "
            "for it. Configure models.strong; alone, it serves both."
        )
    return Tiers(
        opened.get("cheap"),
        opened.get("strong"),
        tuple(why),
        {tier: table.timeout_seconds for tier, table in tables.items()},
        {tier: DailyLine(table.daily_usd, table.daily_tokens) for tier, table in tables.items()},
    )


def open_provider(
    table: TierTable, settings: Settings, env: Mapping[str, str], pace: Pace | None = None
) -> Provider:
    """One model. Raises ModelMisconfigured."""
    provider = _open(table, settings, env, pace)
    if table.daily_usd is not None and _price(table, provider.model_id) is None:
        raise ModelMisconfigured(
            "daily_usd is set and nobody knows what the model costs. Give input_price and "
            "output_price, US dollars for a million tokens; or give daily_tokens instead."
        )
    return provider


def _open(
    table: TierTable, settings: Settings, env: Mapping[str, str], pace: Pace | None
) -> Provider:
    # httpx2 and ssl take 100 ms to import, and most installations have no model
    if table.provider == "command":
        from agentm_assets.models.command import CommandProvider

        name = table.model or PurePath(table.command[0]).name
        price = _price(table, f"command/{name}")
        return CommandProvider(table.command, name, env, price=price, pace=pace)
    price = _price(table, f"{table.provider}/{table.model}")
    if table.provider == "anthropic":
        from agentm_assets.models import anthropic

        url = checked_base_url(table.base_url or anthropic.BASE_URL)
        names = key_names(table, url)
        key = find_key(env, settings.location.config_file, names)
        if key is None:
            raise ModelMisconfigured(_no_key(names))
        return anthropic.AnthropicProvider(table.model, key, base_url=url, price=price, pace=pace)
    from agentm_assets.models import openai_compatible

    url = checked_base_url(table.base_url or openai_compatible.BASE_URL)
    names = key_names(table, url)
    key = find_key(env, settings.location.config_file, names)
    if key is None and (table.key is not None or len(names) > 1):
        raise ModelMisconfigured(_no_key(names))
    return openai_compatible.OpenAICompatibleProvider(
        table.model, key, base_url=url, price=price, has_batches=table.batches, pace=pace
    )


def _price(table: TierTable, model_id: str) -> Price | None:
    if table.input_price is not None and table.output_price is not None:
        return Price(table.input_price, table.output_price)
    return price_of(model_id)


def _no_key(names: tuple[str, ...]) -> str:
    return (
        f"there is no key for the model. Set {' or '.join(names)}, or put it into secrets.toml "
        "beside agentm.toml."
    )
