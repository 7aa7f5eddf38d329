"""Questions asked from a fresh process: `python -m agentm_assets.reports.asked QUESTION…`.

It recalls as the command line does, through the same entry point, and prints the paths of the first
hits as JSON, one list a question. It is maintenance: nothing that it finds counts as used.
"""

import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime

from agentm_assets.config.settings import Settings
from agentm_assets.recall.opening import open_sources
from agentm_assets.recall.pipeline import recall
from agentm_assets.recall.question import RecallOptions

DEPTH = 5


def main(questions: Sequence[str]) -> None:
    """Ask, and print. The vault is the one that the environment names."""
    settings = Settings.load(os.environ)
    now = datetime.now().astimezone()
    found: list[list[str]] = []
    with open_sources(settings, os.environ) as sources:
        for question in questions:
            answer = recall(question, RecallOptions(now=now, k=DEPTH), sources)
            found.append([hit.path for hit in answer.hits])
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
