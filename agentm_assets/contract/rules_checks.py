"""What must hold between the values of the rules, beyond each value's own shape.

The checks take the raw tree, so that one misshapen value does not hide what is wrong elsewhere.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from agentm_assets.contract.excludes import fault_of
from agentm_assets.contract.rules_block import Place, Tree, Value, Violation
from agentm_assets.contract.rules_model import ENTITY_TYPES
from agentm_assets.contract.vocabulary import CLASSES, FIRST_TYPES, OBSERVATIONAL_CLASSES

_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DAYS = re.compile(r"[0-9]{1,9}")
_DECAY_ORDER = ("decay_full_days", "decay_half_days", "decay_eighth_days", "decay_floor_days")
_ADMISSION = (
    "persistent_identity",
    "accumulating_record",
    "resolution_need",
    "independent_attributes",
)


def check_rules(tree: Tree) -> Iterator[Violation]:
    """Everything that is wrong between the values, in no particular order."""
    yield from _check_lists(tree)
    yield from _check_classes(tree)
    yield from _check_registers(tree)
    yield from _check_routing(tree)
    yield from _check_warrants(tree)
    yield from _check_spaces(tree)
    yield from _check_excludes(tree)
    yield from _check_decay(tree)


def _listed(tree: Tree, key: str) -> list[tuple[int, str]]:
    """The texts of a list with their positions; what is no text is the model's to refuse."""
    value = tree.content.get(key)
    items = value if isinstance(value, list) else []
    return [(at, item) for at, item in enumerate(items) if isinstance(item, str)]


def _names(tree: Tree, key: str) -> list[str]:
    return [name for _, name in _listed(tree, key)]


def _table(tree: Tree, key: str) -> dict[str, Value]:
    value = tree.content.get(key)
    return value if isinstance(value, dict) else {}


def _wrong(tree: Tree, place: Place, code: str, message: str, cure: str) -> Violation:
    return Violation(tree.line(place), code, message, cure)


def _check_lists(tree: Tree) -> Iterator[Violation]:
    for key in (
        "classes",
        "memory_types",
        "record_kinds",
        "excludes",
        "dampened_spaces",
        "model_exempt_spaces",
        "contract_exempt_spaces",
    ):
        seen: dict[str, int] = {}
        for at, name in _listed(tree, key):
            folded = name.casefold() if key.endswith("_spaces") else name
            if folded in seen:
                yield _wrong(
                    tree,
                    (key, at),
                    "duplicate",
                    f"`{name}` stands twice in {key} (first on line {seen[folded]})",
                    "remove one",
                )
            seen.setdefault(folded, tree.line((key, at)))
            if key in ("classes", "memory_types", "record_kinds") and not _KEBAB.fullmatch(name):
                yield _not_kebab(tree, (key, at), name)
    for key in ("deprecations", "routing", "warrants"):
        for name, value in _table(tree, key).items():
            if not _KEBAB.fullmatch(name):
                yield _not_kebab(tree, (key, name), name)
            if key == "deprecations" and isinstance(value, str) and not _KEBAB.fullmatch(value):
                yield _not_kebab(tree, (key, name), value)


def _not_kebab(tree: Tree, place: Place, name: str) -> Violation:
    return _wrong(
        tree,
        place,
        "not-kebab-case",
        f"`{name}` is no kebab-case name",
        "write it in lower case with single hyphens, as in `failure-incident`",
    )


def _check_classes(tree: Tree) -> Iterator[Violation]:
    given = _names(tree, "classes")
    for at, name in _listed(tree, "classes"):
        if name not in CLASSES:
            yield _wrong(
                tree,
                ("classes", at),
                "unknown-class",
                f"`{name}` is none of the six classes",
                f"the classes are fixed: {', '.join(CLASSES)}",
            )
    missing = [name for name in CLASSES if name not in given]
    if missing and isinstance(tree.content.get("classes"), list):
        yield _wrong(
            tree,
            ("classes",),
            "class-missing",
            f"classes lack {', '.join(missing)}",
            "list all six",
        )


def _check_registers(tree: Tree) -> Iterator[Violation]:
    types, kinds = _names(tree, "memory_types"), _names(tree, "record_kinds")
    registered = {*types, *kinds}
    for at, kind in _listed(tree, "record_kinds"):
        if kind in types:
            yield _wrong(
                tree,
                ("record_kinds", at),
                "two-registers",
                f"`{kind}` is a memory type and a record kind",
                "keep it in one of the two",
            )
    if isinstance(tree.content.get("memory_types"), list) and not types:
        yield _wrong(
            tree, ("memory_types",), "no-types", "memory_types is empty", "register the types"
        )
    default = tree.content.get("default_type")
    if isinstance(default, str) and default not in types:
        yield _wrong(
            tree,
            ("default_type",),
            "unregistered",
            f"default_type `{default}` is no registered type",
            f"name one of: {', '.join(types)}",
        )
    for retired, target in _table(tree, "deprecations").items():
        place = ("deprecations", retired)
        if retired in registered:
            yield _wrong(
                tree,
                place,
                "retired-and-registered",
                f"`{retired}` is retired here and still registered",
                "remove it from the register, or from deprecations",
            )
        if isinstance(target, str) and target not in registered:
            yield _wrong(
                tree,
                place,
                "unregistered",
                f"`{retired}` maps to `{target}`, which is not registered",
                "map it to a registered type or kind",
            )


def _check_routing(tree: Tree) -> Iterator[Violation]:
    types, routing = _names(tree, "memory_types"), _table(tree, "routing")
    for name, target in routing.items():
        if name not in types:
            yield _wrong(
                tree,
                ("routing", name),
                "unregistered",
                f"`{name}` is routed and is no registered type",
                "register it in memory_types, or remove the line",
            )
        if isinstance(target, str) and target not in OBSERVATIONAL_CLASSES:
            what = "a derived class" if target in CLASSES else "no class"
            yield _wrong(
                tree,
                ("routing", name),
                "route",
                f"`{name}` is routed to `{target}`, which is {what}",
                f"route it to one of: {', '.join(OBSERVATIONAL_CLASSES)}",
            )
    if isinstance(tree.content.get("routing"), dict):
        for at, name in _listed(tree, "memory_types"):
            if name not in routing:
                yield _wrong(
                    tree,
                    ("memory_types", at),
                    "unrouted",
                    f"`{name}` has no route",
                    "add it to routing with the class it lands in",
                )


def _check_warrants(tree: Tree) -> Iterator[Violation]:
    types, warrants = _names(tree, "memory_types"), _table(tree, "warrants")
    for at, name in _listed(tree, "memory_types"):
        if name not in FIRST_TYPES and name not in warrants:
            yield _wrong(
                tree,
                ("memory_types", at),
                "no-warrant",
                f"`{name}` is beyond the first six types and has no warrant",
                "add warrants: the query_class that needs it, the nearest type, why_not that one",
            )
    for name, warrant in warrants.items():
        if name not in types:
            yield _wrong(
                tree,
                ("warrants", name),
                "unregistered",
                f"`{name}` has a warrant and is no registered type",
                "register it in memory_types, or remove the warrant",
            )
        if isinstance(warrant, dict):
            yield from _check_warrant(tree, name, warrant, types)


def _check_warrant(
    tree: Tree, name: str, warrant: dict[str, Value], types: list[str]
) -> Iterator[Violation]:
    nearest = warrant.get("nearest")
    if isinstance(nearest, str) and (nearest not in types or nearest == name):
        yield _wrong(
            tree,
            ("warrants", name, "nearest"),
            "unregistered",
            f"the nearest type `{nearest}` is no other registered type",
            "name the registered type that comes closest",
        )
    admission = warrant.get("admission")
    if name in ENTITY_TYPES and not isinstance(admission, dict):
        yield _wrong(
            tree,
            ("warrants", name),
            "no-admission",
            f"`{name}` stands for a thing and does not answer the admission questions",
            f"add admission with {', '.join(_ADMISSION)}, each answered with yes and why",
        )
    if isinstance(admission, dict):
        for question, answer in admission.items():
            if isinstance(answer, str) and not re.match(r"yes\b", answer.strip(), re.IGNORECASE):
                yield _wrong(
                    tree,
                    ("warrants", name, "admission", question),
                    "not-admitted",
                    f"{question} is not answered with yes",
                    "all four must be; otherwise the type stays a facet of another",
                )


def _check_spaces(tree: Tree) -> Iterator[Violation]:
    for key in ("dampened_spaces", "model_exempt_spaces", "contract_exempt_spaces"):
        for at, name in _listed(tree, key):
            top = name.replace("\\", "/").strip("/").split("/")[0].casefold()
            if top in ("agent", "memory") and key != "dampened_spaces":
                yield _wrong(
                    tree,
                    (key, at),
                    "closed-to-filing",
                    f"`{name}` holds what filing writes; no pass could read its own work",
                    "leave it out",
                )
            elif not _KEBAB.fullmatch(name.casefold()):
                yield _wrong(
                    tree,
                    (key, at),
                    "not-kebab-case",
                    f"`{name}` is no name of a space",
                    "name the first folder of a path, such as `personal`; a folder whose name is "
                    "not kebab-case can be given in excludes",
                )
    exempt = {name.casefold() for name in _names(tree, "model_exempt_spaces")}
    if isinstance(tree.content.get("model_exempt_spaces"), list) and "personal" not in exempt:
        yield _wrong(
            tree,
            ("model_exempt_spaces",),
            "personal-open",
            "personal is not exempt from model passes",
            "add it: no background model ever reads that space",
        )


def _check_excludes(tree: Tree) -> Iterator[Violation]:
    for at, pattern in _listed(tree, "excludes"):
        fault = fault_of(pattern)
        if fault is not None:
            yield _wrong(
                tree,
                ("excludes", at),
                "pattern",
                f"this pattern {fault}",
                "write one such as `projects/*/drafts/**`",
            )


def _check_decay(tree: Tree) -> Iterator[Violation]:
    thresholds = _table(tree, "thresholds")
    days: list[tuple[str, int]] = []
    for key in _DECAY_ORDER:
        value = thresholds.get(key)
        if isinstance(value, str) and _DAYS.fullmatch(value):
            days.append((key, int(value)))
    for (before, low), (after, high) in pairwise(days):
        if high <= low:
            yield _wrong(
                tree,
                ("thresholds", after),
                "bands",
                f"{after} ({high}) does not come after {before} ({low})",
                "the bands of decay end in ascending order",
            )
