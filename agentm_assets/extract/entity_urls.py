"""URLs in a text, and the key each one gives.

A URL is read greedily up to the first character that no URL holds, then trimmed: what follows a
URL in a sentence (a comma, a closing bracket that the URL did not open) is not part of it.
"""

import re
from dataclasses import dataclass

from agentm_assets.extract.entity_context import EntityContext
from agentm_assets.extract.entity_found import UNREAD, Found, Named, UrlReading
from agentm_assets.extract.entity_github import read_github_url
from agentm_assets.extract.entity_grammar import NUMBER, is_hash, is_repo

# Control characters, blanks, the delimiters RFC 3986 leaves out, quotation marks and the
# punctuation of scripts without blanks, zero-width marks, U+FFFD.
_NOT_IN_URL = (
    r"\x00-\x20\x7f-\xa0<>\"`|\\^\s\u200b-\u200f\u2018-\u201f\u2026\u3001\u3002\u3008-\u3011"
    r"\u3014-\u301b\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\ufeff\ufffd\ud800-\udfff"
)
_REST = rf"[^{_NOT_IN_URL}]+"
_GITHUB = r"[iI][tT][hH][uU][bB]\.[cC][oO][mM]/"
# Letter classes instead of IGNORECASE: the engine can then skip to the first letter.
_URL = re.compile(
    rf"[hH](?<![A-Za-z0-9].)[tT][tT][pP][sS]?://{_REST}"
    rf"|[gG](?<![\w./@:-].){_GITHUB}{_REST}"
    rf"|[wW](?<![\w./@:-].)[wW][wW]\.[gG]{_GITHUB}{_REST}"
)
_SSH_REPO = re.compile(
    r"(?:git@github\.com:|(?:ssh|git)://(?:git@)?github\.com/)"
    r"([A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100})"
)
_SCHEMELESS = re.compile(r"(?:www\.)?github\.com/", re.IGNORECASE)
_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'\"*~([{"

_NUMBER = re.compile(NUMBER)
_HOST = re.compile(r"[^\W_](?:[\w-]{0,62})(?:\.[\w-]{1,63}){0,20}|\[[0-9A-Fa-f:.]{2,45}\]")
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|.*\.localhost")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.IGNORECASE)
_JIRA_KEY = re.compile(r"[A-Z][A-Z0-9_]{1,49}-[1-9]\d{0,9}")
_GITLAB_SITE_PAGES = ["admin"], ["dashboard"], ["explore"], ["groups"], ["help"], ["users"]
CHROMIUM = "chromium-review.googlesource.com"
_CVE_HOSTS = frozenset({"nvd.nist.gov", "cve.org", "www.cve.org", "cve.mitre.org"})


@dataclass(frozen=True, slots=True)
class _Address:
    """A URL taken apart. `host` is lower-case; `userinfo` is dropped: it may hold a password."""

    scheme: str
    host: str
    port: str
    path: str
    query: str
    fragment: str | None

    @property
    def segments(self) -> list[str]:
        return [segment for segment in self.path.split("/") if segment]


def find_urls(masked: str, context: EntityContext) -> tuple[list[Found], list[tuple[int, int]]]:
    """Every reference that a URL gives, and the span of every URL, both in text order.

    A URL without scheme counts for github.com alone. Loopback addresses name nothing outside the
    machine and give no reference.
    """
    found: list[Found] = []
    spans: list[tuple[int, int]] = []
    for match in _URL.finditer(masked) if _may_hold_url(masked) else ():
        start = match.start()
        url = _trim(match[0], masked[start - 1 : start])
        end = start + len(url)
        spans.append((start, end))
        for named in name_url(url, context):
            found.append(
                Found(
                    named.key,
                    named.kind,
                    start,
                    end,
                    "high",
                    named.detail,
                    named.repo,
                    named.number,
                )
            )
    for match in _SSH_REPO.finditer(masked) if "github.com" in masked else ():
        spelled = match[1].rstrip(".")
        spans.append(match.span())
        for named in read_github_url("github.com", spelled.split("/"), "", None).named:
            found.append(
                Found(named.key, named.kind, match.start(), match.end(), "high", None, named.repo)
            )
    spans.sort()
    return found, spans


def _may_hold_url(masked: str) -> bool:
    """What every match of `_URL` has, at a tenth of its price: most notes have no URL."""
    return "://" in masked or "github.com/" in masked.lower()


def name_url(url: str, context: EntityContext) -> tuple[Named, ...]:
    """The keys of one URL that has been trimmed; `()` where it names nothing outside."""
    address = _take_apart(url)
    if address is None:
        return ()
    reading = _read(address, context)
    if reading.complete:
        return reading.named
    return (*reading.named, Named(f"url:{_canonical(address)}", "url", address.fragment))


def canonical_url(url: str) -> str | None:
    """The one spelling under which a URL is compared, None when it is not an http(s) URL.

    Scheme and host in lower case, without user name, default port, fragment, tracking parameters
    and closing slash; the query sorted by name; escapes in upper case.
    """
    address = _take_apart(_trim(url.strip(), ""))
    return None if address is None else _canonical(address)


def _trim(url: str, before: str) -> str:
    depth = {"(": 0, "[": 0, "{": 0}
    for match in _BRACKET.finditer(url):
        bracket = match[0]
        if bracket in depth:
            depth[bracket] += 1
        elif depth[_CLOSES[bracket]]:
            depth[_CLOSES[bracket]] -= 1
        else:
            url = url[: match.start()]
            break
    trimmed = url.rstrip(_TRAILING + "_" if before == "_" else _TRAILING)
    return trimmed.removesuffix("&gt;").removesuffix("&quot;")


def _take_apart(url: str) -> _Address | None:
    scheme, separator, rest = url.partition("://")
    if not separator or "/" in scheme:
        if not _SCHEMELESS.match(url):
            return None
        scheme, rest = "https", url
    if scheme.lower() not in ("http", "https"):
        return None
    rest, _, fragment = rest.replace("&amp;", "&").partition("#")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    host, _, port = authority.rpartition("@")[2].partition(":")
    if authority.startswith("["):
        host, _, port = authority.partition("]")
        host, port = host + "]", port.removeprefix(":")
    host = host.rstrip(".").lower()
    if host in ("github.com", "www.github.com"):
        scheme, host, port = "https", "github.com", ""
    if not _HOST.fullmatch(host) or _LOOPBACK.fullmatch(host) or (port and not port.isdigit()):
        return None
    return _Address(scheme.lower(), host, port, slash + path, query, fragment or None)


def _canonical(address: _Address) -> str:
    default = {"http": "80", "https": "443"}[address.scheme]
    port = f":{address.port}" if address.port and address.port != default else ""
    path = address.path.rstrip("/")
    kept = sorted(
        (part for part in address.query.split("&") if part and not _is_tracking(part)),
        key=lambda part: part.partition("=")[0],
    )
    query = f"?{'&'.join(kept)}" if kept else ""
    tail = _ESCAPE.sub(lambda escape: escape[0].upper(), path + query)
    return f"{address.scheme}://{address.host}{port}{tail}"


def _is_tracking(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name.startswith("utm_") or name in ("fbclid", "gclid", "mc_cid", "mc_eid")


def _read(address: _Address, context: EntityContext) -> UrlReading:
    segments = address.segments
    reading = read_github_url(address.host, segments, address.query, address.fragment)
    if reading is not UNREAD:
        return reading
    for read in (_read_gitlab, _read_gerrit, _read_tracker):
        reading = read(address, segments, context)
        if reading is not UNREAD:
            return reading
    return UNREAD


def _read_gitlab(address: _Address, segments: list[str], context: EntityContext) -> UrlReading:
    """`/-/` parts a project from its pages on every GitLab; numbers of the two kinds differ."""
    if "-" not in segments:
        if address.host not in context.gitlab_hosts or segments[:1] in _GITLAB_SITE_PAGES:
            return UNREAD
        return _gitlab_project(address.host, segments)
    cut = segments.index("-")
    project, page = segments[:cut], segments[cut + 1 : cut + 3]
    if len(project) < 2 or not all(is_repo(part) for part in project):
        return UNREAD
    spelled = f"{address.host}/{'/'.join(project)}"
    name, fragment = spelled.lower(), address.fragment
    match page:
        case ["issues" | "work_items", number] if _NUMBER.fullmatch(number):
            named = Named(f"issue:{name}#{number}", "issue", fragment, spelled, number)
        case ["merge_requests", number] if _NUMBER.fullmatch(number):
            named = Named(f"mr:{name}!{number}", "mr", fragment, spelled, number)
        case ["commit", sha] if is_hash(sha):
            named = Named(f"commit:{name}@{sha.lower()}", "commit", fragment, spelled, sha.lower())
        case _:
            return _gitlab_project(address.host, project)
    return UrlReading((named,), complete=True)


def _gitlab_project(host: str, project: list[str]) -> UrlReading:
    """The project of a page. How deep its groups nest is known only where `/-/` ends them."""
    if len(project) < 2 or not all(is_repo(part) for part in project):
        return UNREAD
    spelled = f"{host}/{'/'.join(project)}"
    return UrlReading((Named(f"repo:{spelled.lower()}", "repo", None, spelled),))


def _read_gerrit(address: _Address, segments: list[str], context: EntityContext) -> UrlReading:
    """`HOST/c/PROJECT/+/N` is Gerrit's own shape; its short forms count for configured hosts."""
    host = address.host
    number: str | None = None
    if segments[:1] == ["c"] and "+" in segments[2:]:
        after = segments[segments.index("+", 2) + 1 :]
        number = after[0] if after else None
    elif is_gerrit(host, context):
        if host == "crbug.com":
            return _crbug(segments)
        hashed = (address.fragment or "").strip("/").split("/")
        if len(segments) == 1:
            number = segments[0]
        elif segments[:1] == ["c"] and len(segments) == 2:
            number = segments[1]
        elif not segments and hashed[:1] == ["c"] and len(hashed) > 1:
            number = hashed[1]
    if number is None or not _NUMBER.fullmatch(number):
        return UNREAD
    return UrlReading((gerrit_change(host, number),), complete=True)


def is_gerrit(host: str, context: EntityContext) -> bool:
    """Whether the operator listed the host; Chromium's short addresses go with its Gerrit."""
    hosts = context.gerrit_hosts
    return host in hosts or (host in ("crrev.com", "crbug.com") and CHROMIUM in hosts)


def gerrit_change(host: str, number: str) -> Named:
    """A change by number. `crrev.com` is the short address of Chromium's Gerrit."""
    host = CHROMIUM if host == "crrev.com" else host
    return Named(f"gerrit:{host}/{number}", "gerrit", None, None, number)


def _crbug(segments: list[str]) -> UrlReading:
    if segments and _NUMBER.fullmatch(segments[-1]):
        key = f"issue:crbug.com#{segments[-1]}"
        return UrlReading((Named(key, "issue", None, None, segments[-1]),), complete=True)
    return UNREAD


def _read_tracker(address: _Address, segments: list[str], _: EntityContext) -> UrlReading:
    if len(segments) >= 2 and segments[-2] == "browse" and _JIRA_KEY.fullmatch(segments[-1]):
        ticket = segments[-1]
        return UrlReading((Named(f"jira:{ticket}", "jira", address.fragment),), complete=True)
    if address.host in _CVE_HOSTS and (cve := _CVE.search(f"{address.path}?{address.query}")):
        return UrlReading((Named(f"cve:{cve[0].upper()}", "cve", address.fragment),), complete=True)
    return UNREAD
