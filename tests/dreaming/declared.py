"""Rules that declare a further type of entity."""

from pathlib import Path

from estate import Estate

DEFAULT = Path(__file__).parents[2] / "standards" / "storage-rules.md"
WARRANT = """warrants:
  person:
    query_class: who is somebody, and what do we know of them
    nearest: reference
    why_not: a reference is settled when it is filed, a person's page grows
    admission:
      persistent_identity: yes, somebody is somebody without any note
      accumulating_record: yes, notes of many months name the same person
      resolution_need: yes, by name, address and login
      independent_attributes: yes, such as a role
"""


def default_rules(estate: Estate) -> None:
    estate.write("standards/storage-rules.md", DEFAULT.read_text())


def declare_person(estate: Estate) -> None:
    text = DEFAULT.read_text()
    text = text.replace("fix, idea]", "fix, idea, person]").replace(
        "  idea: semantic\n", "  idea: semantic\n  person: semantic\n"
    )
    estate.write("standards/storage-rules.md", text.replace("warrants: {}\n", WARRANT))
