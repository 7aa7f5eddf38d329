"""Finding and reading the vault's rules file. What its bytes say is `agentm_assets.contract`'s."""

from dataclasses import dataclass

from agentm_assets.storage.locator import ROOT, Locator
from agentm_assets.storage.seam import StorageBackend, StorageError

FOLDER = "standards"


@dataclass(frozen=True, slots=True)
class RulesFile:
    """The file that is meant to hold the rules. `place` is shown to the operator. `data` None: it
    is there and can't be read, or nobody can tell whether it is there; `problem` says why."""

    place: str
    data: bytes | None
    problem: str = ""


def find_rules_file(store: StorageBackend, name: str, *, limit: int) -> RulesFile | None:
    """The file `name` in the vault's folder of standards, by its name on disk, the exact spelling
    first. None only where there is surely nothing: whatever else is in its place, a link that is
    not followed too, must keep the shipped rules from standing in."""
    try:
        for folder in _folders(store):
            place = folder.child(name)
            if store.exists(place):
                return RulesFile(_shown(store, place), store.read_bytes(place, limit=limit))
    except FileNotFoundError:
        return None  # it went away between the two looks
    except StorageError as error:
        return RulesFile(_shown(store, Locator(FOLDER).child(name)), None, str(error))
    return None


def _folders(store: StorageBackend) -> list[Locator]:
    found = [each for each in store.list(ROOT) if each.name.casefold() == FOLDER]
    for entry in store.walk(ROOT):
        if "/" in entry.path:
            break  # the root's own entries come first
        if entry.kind == "link" and entry.path.casefold() == FOLDER:
            store.info(Locator(entry.path))  # says that it is a link
    return sorted(found, key=lambda each: (each.name != FOLDER, each.name))


def _shown(store: StorageBackend, place: Locator) -> str:
    return f"{store.identity}/{place}"
