"""Where a model's server is, and whether texts may be sent there."""

import ipaddress
from urllib.parse import urlsplit

from agentm_assets.models.protocol import ModelMisconfigured


def checked_base_url(written: str) -> str:
    """The URL without a slash at its end.

    Texts and keys go over the wire: so it is https, or http to this machine. Raises
    ModelMisconfigured, without the URL where it may hold a password.
    """
    try:
        parts = urlsplit(written)
        host, _port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if not host or parts.scheme not in ("http", "https") or any(c.isspace() for c in written):
        raise ModelMisconfigured(
            "base_url is no web address. Write it as https://HOST/v1, or http://127.0.0.1:PORT/v1."
        )
    if parts.username is not None or parts.password is not None:
        raise ModelMisconfigured(
            "base_url holds a user name or a password. Take them out; a key comes from the "
            "environment or from secrets.toml."
        )
    if parts.query or parts.fragment:
        raise ModelMisconfigured("base_url has a ? or # part. Leave that out.")
    if parts.scheme == "http" and not is_loopback(host):
        raise ModelMisconfigured(
            f"base_url is http to {host}, so notes and key would go over the network unencrypted. "
            "Use https; http is for a server on this machine (127.0.0.1, [::1], localhost)."
        )
    return written.rstrip("/")


def host_of(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its address; of names only localhost (RFC 6761, 6.3)."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_origin(one: str, other: str) -> bool:
    """Whether two URLs have one scheme, host and port: a key for one may go to the other then."""

    def origin(url: str) -> tuple[str, str, int | None]:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, parts.hostname or "", port

    try:
        return origin(one) == origin(other)
    except ValueError:
        return False
