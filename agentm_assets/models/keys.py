"""The key for a model's server: from the environment, else from secrets.toml, and nowhere else.

A vendor's key goes to that vendor's own server and to no other, whatever base_url says.
"""

from collections.abc import Mapping
from pathlib import Path

from agentm_assets.config.errors import ConfigError
from agentm_assets.config.models_table import TierTable
from agentm_assets.config.secrets_file import FILE, read_secrets
from agentm_assets.models.base_url import host_of
from agentm_assets.models.protocol import ModelMisconfigured

OWN_KEY = "AGENTM_MODEL_KEY"
VENDORS: Mapping[str, str] = {
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
}


def key_names(table: TierTable, base_url: str) -> tuple[str, ...]:
    """The names under which a key is looked for, the first that is there counts."""
    if table.key is not None:
        return (table.key,)
    vendor = VENDORS.get(host_of(base_url))
    return (OWN_KEY,) if vendor is None else (vendor, OWN_KEY)


def find_key(env: Mapping[str, str], config_file: Path, names: tuple[str, ...]) -> str | None:
    """The key, None where there is none. Raises ModelMisconfigured for one that can't be a key and
    for a secrets file that others can read."""
    found = next((name for name in names if env.get(name, "").strip()), None)
    if found is not None:
        return _checked(env[found], found)
    try:
        kept = read_secrets(config_file)
    except ConfigError as error:
        said = str(error)
    else:
        found = next((name for name in names if kept.get(name, "").strip()), None)
        return None if found is None else _checked(kept[found], f"{found} in {FILE}")
    raise ModelMisconfigured(said)


def _checked(key: str, where: str) -> str:
    stripped = key.strip()
    # what else may not stand in a header (RFC 9110, 5.5) is no part of any vendor's key
    if not all("!" <= character <= "~" for character in stripped):
        raise ModelMisconfigured(
            f"{where} holds a character that no key has. Copy the key again, without line breaks."
        )
    return stripped
