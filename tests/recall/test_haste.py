"""Recall in haste gives what recall by words gives, under the rules in force."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentm_assets.contract.rules import default_rules_text
from agentm_assets.recall.errors import IndexMissing
from agentm_assets.recall.haste import recall_by_words
from agentm_assets.recall.ranking_snapshot import SNAPSHOT, ranking_in_haste

Asker = Any  # the class in conftest.py, which cannot be imported from here
VaultOf = Callable[[Mapping[str, str | bytes]], Asker]

NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle boils two litres in four minutes.\n",
    "drafts/kettle.md": "# Kettle, draft\n\nThe kettle may boil three litres.\n",
    "personal/tea.md": "# Tea\n\nA kettle of one's own.\n",
}
RULES = "standards/storage-rules.md"


def hasty(asker: Asker, question: str) -> Any:
    from datetime import UTC, datetime

    now = datetime(2026, 8, 19, 10, 30, tzinfo=UTC)
    return recall_by_words(question, 5, asker.settings.location, asker.env, now)


def test_the_same_hits_as_in_a_recall_by_words(vault_of: VaultOf) -> None:
    asker = vault_of(NOTES)
    answer = hasty(asker, "how long does the kettle boil")
    slow = asker.ask("how long does the kettle boil")
    assert answer.hits == slow.hits
    assert (answer.verdict, answer.confidence) == (slow.verdict, slow.confidence)
    assert answer.mode == "lexical" and "no agentm server runs" in (answer.why or "")


def test_without_an_index_it_says_so(asker: Asker) -> None:
    with pytest.raises(IndexMissing, match="agentm index"):
        hasty(asker, "kettle")


def test_the_snapshot_follows_every_edit_of_the_rules(vault_of: VaultOf) -> None:
    asker = vault_of(NOTES)
    text = default_rules_text().decode()
    assert "excludes: []" in text
    file = asker.settings.location.state_dir / SNAPSHOT

    def hits() -> set[str]:
        return {hit.path for hit in hasty(asker, "kettle").hits}

    assert hits() == set(NOTES)
    assert file.is_file()
    hiding = text.replace("excludes: []", 'excludes: ["drafts"]')
    asker.write({RULES: hiding})  # where there were only the shipped ones
    assert "drafts/kettle.md" not in hits()
    asker.write({RULES: hiding.replace('["drafts"]', '["personal"]')})
    assert hits() & set(NOTES) == {"kettle.md", "drafts/kettle.md"}
    (asker.root / RULES).unlink()
    assert hits() == set(NOTES)


def test_the_snapshot_is_what_was_read_and_a_damaged_one_is_none(vault_of: VaultOf) -> None:
    asker = vault_of(NOTES)
    location = asker.settings.location
    file = location.state_dir / SNAPSHOT
    read = ranking_in_haste(location, asker.env)
    kept = file.read_bytes()
    assert ranking_in_haste(location, asker.env) == read
    for damage in (b"", b"{", b"[]", b"{}", kept.replace(b'"enabled"', b'"enabeld"')):
        file.write_bytes(damage)
        assert ranking_in_haste(location, asker.env) == read


def test_broken_rules_are_remarked_and_never_kept(vault_of: VaultOf) -> None:
    asker = vault_of({**NOTES, RULES: "no block at all\n"})
    answer = hasty(asker, "kettle")
    assert answer.hits and "rules check" in (answer.why or "")
    assert not (asker.settings.location.state_dir / SNAPSHOT).exists()
