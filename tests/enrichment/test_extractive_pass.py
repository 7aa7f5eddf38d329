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


def test_what_is_judged_is_not_judged_again(house: House) -> None:
    house.note("build-failure", FIX)
    assert house.run().enriched == 1
    before = house.files()
    again = house.run()
    assert (again.population, again.written) == (0, ())
    assert house.files() == before
