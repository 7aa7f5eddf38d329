"""Make a vault of N notes, the same for the same seed: `python bench/scale_vault.py DIR [N]`.

Five sections a note, none longer than one window, so that 15,000 notes give 75,000 chunks. Words
are drawn by Zipf's law from an invented vocabulary; links, aliases, tags, issue references and days
over four years are strewn in.
"""

import argparse
import datetime as dt
import random
from pathlib import Path

SYLLABLES = (
    *("ka", "ro", "mi", "te", "lu", "sa", "ne", "vo", "di", "pa", "shi", "gu", "be", "ra", "mo"),
    *("ti", "le", "zu", "fa", "ny", "do", "ke", "wi", "ha", "po", "que", "stra", "lin", "dor"),
    *("mer", "val", "tan", "ber", "gos", "fil", "ark", "und", "ost", "ing", "est"),
)
VOCABULARY = 20_000
SECTIONS = 5
WORDS_A_SECTION = 55
TYPES = ("preference", "convention", "reference", "workflow", "fix", "idea")
CLASSES = ("semantic", "procedural", "episodic")


def words(rng: random.Random) -> list[str]:
    """The vocabulary: distinct invented words, the frequent ones short."""
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        length = 2 + min(2, int(len(found) / 1000)) + (rng.random() < 0.5)
        found.setdefault("".join(rng.choice(SYLLABLES) for _ in range(length)))
    return list(found)


def note(
    number: int, count: int, rng: random.Random, vocabulary: list[str], weights: list[float]
) -> str:
    """The text of one note."""

    def draw(n: int) -> list[str]:
        return rng.choices(vocabulary, cum_weights=weights, k=n)

    day = dt.date(2022, 1, 1) + dt.timedelta(days=rng.randrange(1600))
    lines = [
        "---",
        f"type: {TYPES[number % 6]}",
        "status: active",
        f"captured: {day}",
        f"title: {' '.join(draw(5))}",
        f"tags: [{', '.join(draw(2))}]",
        f"aliases: [{' '.join(draw(2))}]",
        "---",
        "",
    ]
    for section in range(SECTIONS):
        lines += [f"{'#' * min(section + 1, 3)} {' '.join(draw(4))}", ""]
        text = draw(WORDS_A_SECTION)
        text[rng.randrange(len(text))] = f"[[note-{rng.randrange(count):06d}]]"
        if section == 0:
            text[rng.randrange(len(text))] = f"acme/kettle#{1 + rng.randrange(5000)}"
        if section == 1:
            text[rng.randrange(len(text))] = f"`{'_'.join(draw(3))}`"
        lines += [" ".join(text) + ".", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("notes", type=int, nargs="?", default=15_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    vocabulary = words(rng)
    total = 0.0
    weights = [total := total + 1 / (rank + 10) for rank in range(VOCABULARY)]
    for number in range(options.notes):
        folder = (
            options.folder
            / "Agent/memory"
            / CLASSES[number % 3]
            / f"{2022 + number % 4}/{1 + number % 12:02d}"
        )
        folder.mkdir(parents=True, exist_ok=True)
        text = note(number, options.notes, rng, vocabulary, weights)
        (folder / f"note-{number:06d}.md").write_text(text, "utf-8")
    print(f"{options.notes} notes in {options.folder}")


if __name__ == "__main__":
    main()
