"""The judge that needs no model gets through the same gates: it writes nothing of its own."""

import json
from collections.abc import Callable
from pathlib import Path

from agentm_assets.contract.frontmatter import read_frontmatter
from agentm_assets.contract.properties import title as title_of
from agentm_assets.contract.rules import LoadedRules
from agentm_assets.enrichment.extractive.judge import ExtractiveJudge
from agentm_assets.enrichment.extractive.vocabulary import Vocabulary
from agentm_assets.enrichment.gates.aliases import refuse_foreign_aliases
from agentm_assets.enrichment.gates.grounding import refuse_ungrounded_mechanically
from agentm_assets.enrichment.gates.tokens import refuse_lost_tokens
from agentm_assets.enrichment.subject import Subject
from agentm_assets.extract.headings import first_title

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "agentm_assets" / "demo" / "vault"
WRITTEN = ROOT / "tests" / "enrichment" / "extractive" / "short_notes.json"


def test_its_judgments_pass_every_gate(note: Callable[..., Subject], rules: LoadedRules) -> None:
    judge = ExtractiveJudge(rules)
    vocabulary = Vocabulary(("firmware", "boards", "kettle"), ("acme/kettle",))
    subjects = []
    for file in sorted(DEMO.rglob("*.md")):
        data = file.read_bytes()
        frontmatter = read_frontmatter(data)
        text = data[frontmatter.body_start :].decode()
        title = title_of(frontmatter) or first_title(text) or file.stem.replace("-", " ")
        subjects.append(note(text, title=title))
    for each in json.loads(WRITTEN.read_text("utf-8")):
        subjects.append(note(each[2], title=each[1]))
    assert len(subjects) > 60
    for subject in subjects:
        judgment = judge.judge(subject, vocabulary)
        refusal = (
            refuse_lost_tokens(subject, judgment)
            or refuse_ungrounded_mechanically(subject, judgment)
            or refuse_foreign_aliases(subject, judgment, ())
        )
        assert refusal is None, (subject.title, refusal)
