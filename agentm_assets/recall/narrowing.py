"""Refusing a type or space that no note can have: an empty answer would look like "not there"."""

from collections.abc import Callable, Collection

from agentm_assets.contract.spaces import SPACES
from agentm_assets.index.facts_reader import FactsReader
from agentm_assets.recall.errors import QuestionRefused
from agentm_assets.recall.question import RecallOptions

_SHOWN = 40


def check_narrowing(
    options: RecallOptions,
    facts: FactsReader,
    types_of_rules: Callable[[], Collection[str] | None],
) -> None:
    """Raise QuestionRefused when `options` name a type or space that neither the contract, the
    rules nor the index knows.

    `types_of_rules` is called where a type is asked for; None: the rules are broken, and then every
    type goes through.
    """
    if options.space is not None:
        known = {*SPACES, *facts.spaces()}
        if options.space.lower() not in {space.lower() for space in known}:
            raise _unknown("space", options.space, known)
    if options.type is not None:
        registered = types_of_rules()
        if registered is not None:
            known = {*registered, *facts.types()}
            if options.type not in known:
                raise _unknown("type", options.type, known)


def _unknown(kind: str, given: str, known: Collection[str]) -> QuestionRefused:
    named = given[:_SHOWN]
    return QuestionRefused(
        f"there is no {kind} {named!r}. Give one of these: {', '.join(sorted(known))}; or leave it "
        "out."
    )
