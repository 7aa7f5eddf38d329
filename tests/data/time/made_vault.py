"""A made vault in which only the time of capture tells the notes of a subject apart.

Each subject has a note for each of the same days, in much the same words: what a question says
about time is all that decides. A quarter of the notes has its day in the file's name alone; each
subject has notes without a day.
"""

DAYS = (
    "2019-03-14",
    "2022-06-30",
    "2023-05-07",
    "2023-10-12",
    "2024-02-29",
    "2024-07-15",
    "2025-03-05",
    "2025-08-22",
    "2025-11-15",
    "2025-12-20",
    "2025-12-29",
    "2026-01-20",
    "2026-03-11",
    "2026-04-01",
    "2026-05-12",
    "2026-06-10",
    "2026-07-21",
    "2026-08-05",
    "2026-08-13",
    "2026-08-14",
    "2026-08-16",
    "2026-08-17",
    "2026-08-18",
    "2026-08-19",
)

SUBJECTS = {
    "sourdough": (
        "Sourdough",
        "The sourdough starter doubled before noon.",
        "Baked two loaves; the crust cracked on the left.",
        "Less salt, a longer rest, and the crumb opened up.",
        "Fed the starter with rye flour and put it near the stove.",
    ),
    "pump": (
        "Cellar pump",
        "The pump in the cellar ran dry again.",
        "Changed the seal and bled the line.",
        "The float switch hung on its cable, so the pump never stopped.",
        "Measured the flow with a bucket: eleven litres a minute.",
    ),
    "choir": (
        "Choir rehearsal",
        "The altos were flat in the second verse of the choir piece.",
        "We sang the motet twice without the organ.",
        "The conductor wants the choir to breathe before the last bar.",
        "Seats were moved so that the basses hear the tenors.",
    ),
    "beehive": (
        "Beehive",
        "The beehive by the fence was heavy with honey.",
        "Saw the queen on the fourth frame.",
        "Put an empty super on the hive and closed the lower entrance.",
        "Counted mites on the board below the beehive.",
    ),
    "knee": (
        "Knee exercises",
        "The knee felt stiff on the stairs.",
        "Three sets of squats, the left knee a little swollen after.",
        "The therapist added a balance board to the exercises.",
        "Walked an hour without the knee brace.",
    ),
    "boat": (
        "Boat",
        "The boat took water through the old hatch.",
        "Sanded the rudder and oiled the tiller of the boat.",
        "New rope for the mainsail; the pulley squeaks.",
        "Checked the anchor chain link by link.",
    ),
}

DETAILS = (
    "Took longer than planned.",
    "Jonas helped with it.",
    "Ran out of tape at the end.",
    "Wrote the figures on the door.",
    "The radio was on all along.",
    "Had to look for the small knife.",
    "Quick and without trouble.",
    "The neighbour came by with plums.",
    "Left the window open for it.",
    "Forgot the gloves again.",
    "It rained sideways.",
    "The lamp flickered once.",
    "Cleaned up with hot water.",
)

UNDATED = 2
"""Notes of each subject that have no day anywhere."""


def notes() -> dict[str, str]:
    """path -> content."""
    made: dict[str, str] = {}
    for which, (subject, (title, *sentences)) in enumerate(SUBJECTS.items()):
        for at, day in enumerate((*DAYS, *([None] * UNDATED))):
            turn = (at + which) % len(sentences)
            # all say the same, and no two are the same
            picked = [*sentences[turn:], DETAILS[at % len(DETAILS)], *sentences[:turn]]
            body = f"# {title}\n\n{' '.join(picked)}\n"
            made[path_of(subject, at)] = (
                body if day is None or _by_name(at) else f"---\ncaptured: {day}\n---\n\n{body}"
            )
    return made


def path_of(subject: str, at: int) -> str:
    """Where the note of a subject's day number `at` lies; those from len(DAYS) on have none."""
    if at < len(DAYS) and _by_name(at):
        return f"journal/{DAYS[at]}-{subject}.md"
    # No order that a ranker could profit from.
    return f"notes/{subject}-{(at * 7) % (len(DAYS) + UNDATED):02}.md"


def paths_between(subject: str, first: str, last: str) -> frozenset[str]:
    """Those captured from the day `first` to `last`."""
    return frozenset(path_of(subject, at) for at, day in enumerate(DAYS) if first <= day <= last)


def _by_name(at: int) -> bool:
    return at % 4 == 2
