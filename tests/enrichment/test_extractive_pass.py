"""The pass with the judge that needs nothing: from a raw capture to a commit."""

from house import House

FIX = (
    "The build failed with `ModuleNotFoundError: No module named frobnicate` after the upgrade. "
    "The cause was a stale cache. Cleared `~/.cache/frob` and it works again; fixed in 2.4.1."
)


def test_a_raw_capture_is_judged_and_committed(house: House) -> None:
    path = house.note("build-failure-frobnicate", FIX, title="Build failure: frobnicate missing")
    raw = house.read(path)
    report = house.run()
    assert report.population == report.enriched == 1
    new = next(iter(report.written))
    text = house.text(new)
    assert "enriched_by: extractive-" in text
    assert f"rules_hash: {house.rules().rules_hash}" in text
    assert FIX in text, "the body stays"
    assert house.git("status", "--porcelain") == ""
    assert house.git("log", "-1", "--format=%an").strip() == "agentm-enrich"
    message = house.git("log", "-1", "--format=%B")
    assert "Agentm-Pass: enrich" in message
    assert "Agentm-Version: extractive-" in message
    assert f"Agentm-Rules: {house.rules().rules_hash}" in message
    first = house.git("log", "--reverse", "--format=%H", "--", path).split()[0]
    assert house.git("show", f"{first}:{path}").encode() == raw, "the raw capture is in git"


def test_nothing_is_named_after_what_stands_for_a_secret(house: House) -> None:
    house.note(
        "contacts",
        "Write to ines@kettle.example or to olga@kettle.example. The Kettle Export Queue (KEQ) "
        "needs `psql postgres://kettle:hunter2x@db.example/main ines@kettle.example` at night.",
        title="Whom to write to",
    )
    house.write("projects/p/notes/a.md", "---\ntags: [email, password]\n---\nTagged.\n")
    report = house.run()
    assert (report.enriched, report.refused) == (1, {})
    (written,) = report.written
    head = house.text(written).partition("\n---\n")[0]
    assert "KEQ" in head, "an acronym that the note spells out is an alias"
    assert "email" not in head and "password" not in head


def test_what_is_judged_is_not_judged_again(house: House) -> None:
    house.note("build-failure", FIX)
    assert house.run().enriched == 1
    before = house.files()
    again = house.run()
    assert (again.population, again.written) == (0, ())
    assert house.files() == before
