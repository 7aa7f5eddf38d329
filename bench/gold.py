"""Ask a gold set through the shipped command, one fresh process a question, beside plain BM25.

    python bench/gold.py VAULT QUESTIONS.json

The vault must be indexed. A question without expected paths counts as right when the verdict is
`none`. A path that the vault does not hold aborts before the first question.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

K1, B = 1.2, 0.75
DEPTH = 10


class PlainBm25:
    """Whole notes, lower-cased words, no stemming, no stop words: the floor to beat."""

    def __init__(self, vault: Path) -> None:
        self.paths = sorted(
            str(path.relative_to(vault)) for path in vault.rglob("*.md") if path.is_file()
        )
        self.words = [
            Counter(tokens((vault / p).read_text("utf-8", "replace"))) for p in self.paths
        ]
        self.lengths = [sum(words.values()) for words in self.words]
        self.mean = sum(self.lengths) / max(1, len(self.lengths))
        self.seen = Counter(word for words in self.words for word in words)

    def ask(self, question: str) -> list[str]:
        scores = []
        for path, words, length in zip(self.paths, self.words, self.lengths, strict=True):
            score = 0.0
            for word in set(tokens(question)):
                if count := words.get(word):
                    seen = self.seen[word]
                    idf = math.log(1 + (len(self.paths) - seen + 0.5) / (seen + 0.5))
                    score += (
                        idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length / self.mean))
                    )
            scores.append((-score, path))
        return [path for score, path in sorted(scores)[:DEPTH] if score < 0]


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def ask_agentm(vault: Path, question: str) -> tuple[str, list[str]]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "agentm_assets.cli.entry",
            "recall",
            question,
            "--json",
            "-k",
            str(DEPTH),
            "--vault",
            str(vault),
        ],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    answer = json.loads(done.stdout)
    return answer["verdict"], [hit["path"] for hit in answer["hits"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("questions", type=Path)
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text("utf-8"))
    missing = [
        p for q in questions for p in q["expected_note_paths"] if not (options.vault / p).is_file()
    ]
    if missing:
        sys.exit(f"the vault does not hold {missing[:3]}: wrong vault or wrong question set")
    bm25 = PlainBm25(options.vault)
    strata: dict[str, list[tuple[int | None, int | None]]] = defaultdict(list)
    negatives: list[str] = []
    lost: list[str] = []
    missed: list[str] = []
    for question in questions:
        expected = set(question["expected_note_paths"])
        verdict, hits = ask_agentm(options.vault, question["question"])
        if not expected:
            negatives.append(verdict)
            continue
        ranks = [
            next((at for at, path in enumerate(found, start=1) if path in expected), None)
            for found in (hits, bm25.ask(question["question"]))
        ]
        strata[question["stratum"]].append((ranks[0], ranks[1]))
        if verdict == "none":
            lost.append(question["id"])
        if ranks[0] is None or ranks[0] > 5:
            missed.append(question["id"])
    print(f"load {os.getloadavg()[0]:.1f}; {len(questions)} questions; agentm | plain BM25")
    for stratum, ranks_of in strata.items():
        cells = []
        for which in (0, 1):
            found = [ranks[which] for ranks in ranks_of]
            cells.append(
                " ".join(
                    f"hit@{k} {sum(r is not None and r <= k for r in found)}/{len(found)}"
                    for k in (1, 5, 10)
                )
            )
        print(f"{stratum:<20} {cells[0]} | {cells[1]}")
    print(f"unanswerable: {negatives.count('none')} of {len(negatives)} judged none")
    print(f"answerable judged none: {len(lost)} {lost}")
    print(f"not in the first five: {missed}")


if __name__ == "__main__":
    main()
