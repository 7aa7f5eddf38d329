# ruff: noqa: E501 - an edit of the rules and what it breaks are read on one line
"""The rules file: one block, every violation with its line, and no fallback past a broken file."""

from pathlib import Path

import pytest

from agentm_assets.contract.rules import (
    ENVIRONMENT,
    LoadedRules,
    RulesError,
    default_rules_path,
    default_rules_text,
    load_rules,
    parse_rules,
)
from agentm_assets.contract.rules_block import Violation
from agentm_assets.contract.vocabulary import CLASSES, FIRST_TYPES
from agentm_assets.storage.vault import Vault
from agentm_assets.storage.vault_backend import VaultBackend

DEFAULT = default_rules_text().decode()
OPEN = "```storage-rules\n"
HEAD, REST = DEFAULT.split(OPEN)
YAML, TAIL = REST.split("```\n")


def vault_at(root: Path) -> Vault:
    return Vault(VaultBackend(root, root / "no-locks"))


def parse(text: str) -> LoadedRules:
    return parse_rules(text.encode(), Path("rules.md"), "default")


def violations(text: str) -> list[Violation]:
    with pytest.raises(RulesError) as error:
        parse(text)
    assert error.value.violations
    for violation in error.value.violations:
        assert violation.message
        assert violation.cure
        assert f"rules.md:{violation.line}: {violation.message}" in str(error.value)
    return list(error.value.violations)


def changed(old: str, new: str) -> str:
    assert DEFAULT.count(old) == 1, old
    return DEFAULT.replace(old, new)


def line_of(text: str, part: str) -> int:
    assert part in text
    return text[: text.index(part)].count("\n") + 1


# --- the shipped rules ----------------------------------------------------------------------------


def test_the_shipped_rules_are_valid_and_say_what_the_product_is_built_on() -> None:
    loaded = load_rules(None, {})
    rules = loaded.rules
    assert loaded.source == "default"
    assert rules.classes == CLASSES
    assert rules.memory_types == FIRST_TYPES
    assert set(rules.routing) == set(FIRST_TYPES)
    assert rules.routing["fix"] == rules.routing["workflow"] == "procedural"
    assert rules.deprecations["feedback"] == "preference"
    assert rules.deprecations["gap"] == "idea"
    assert len(rules.deprecations) == 21
    assert {"conversation", "moc", "crystallized", "failure-incident"} <= set(rules.record_kinds)
    assert rules.model_exempt_spaces == rules.contract_exempt_spaces == ("personal",)
    assert rules.dampened_spaces == ("personal",)
    assert rules.excludes == ()
    assert rules.thresholds.model_dump() == {
        "low_confidence": 0.65,
        "enrichment_input_chars": 24_000,
        "decay_full_days": 182,
        "decay_half_days": 365,
        "decay_eighth_days": 1095,
        "decay_floor_days": 1825,
        "decay_floor_weight": 0.0625,
        "archive_after_days": 1825,
        "decay_enabled": False,
        "trip_similarity_rise": 0.10,
        "trip_trigram_rise": 0.25,
        "trip_diversity_fall": 0.10,
        "trip_dispersion_fall": 0.10,
        "trip_completeness": 0.80,
        "trip_class_corrections": 5,
        "slop_review": 0.35,
        "slop_expire": 0.15,
    }


def test_the_shipped_prose_defines_every_type() -> None:
    definitions = load_rules(None, {}).definitions
    assert set(definitions) == set(FIRST_TYPES)
    assert all(len(text.split()) > 15 for text in definitions.values())
    assert len(set(definitions.values())) == len(definitions)


def test_rules_cannot_be_changed_in_memory() -> None:
    rules = load_rules(None, {}).rules
    with pytest.raises(ValueError, match="frozen"):
        rules.default_type = "idea"


# --- violations -----------------------------------------------------------------------------------

TYPES = "memory_types: [preference, convention, reference, workflow, fix, idea]"
WITH_PERSON = TYPES.replace("idea]", "idea, person]")
ROUTE = "  idea: semantic\n"
WARRANT = """warrants:
  person:
    query_class: who is X
    nearest: reference
    why_not: a reference is looked up, a person accrues
    admission:
      persistent_identity: yes, by name
      accumulating_record: yes, every mail adds to it
      resolution_need: yes, three spellings
      independent_attributes: yes, a phone number
"""


def with_person(warrant: str) -> str:
    text = changed(TYPES, WITH_PERSON).replace(ROUTE, ROUTE + "  person: semantic\n")
    return text.replace("warrants: {}\n", warrant)


def test_a_type_with_its_warrant_is_taken_up() -> None:
    rules = parse(with_person(WARRANT)).rules
    assert rules.memory_types[-1] == "person"
    assert rules.warrants["person"].nearest == "reference"


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        # registers
        (changed("  - design\n", "  - design\n  - fix\n"), "two-registers", "  - fix\n"),
        (
            changed("  - design\n", "  - design\n  - brief\n"),
            "duplicate",
            "  - brief\n\n",
        ),
        (changed("fix, idea]", "fix, idea, idea]"), "duplicate", TYPES[:20]),
        (
            changed("  gap: idea\n", "  gap: idea\n  design: reference\n"),
            "retired-and-registered",
            "  design: ref",
        ),
        (
            changed("  gap: idea\n", "  gap: idea\n  note: reference\n  idea: fix\n"),
            "retired-and-registered",
            "  idea: fix",
        ),
        (changed("  gap: idea\n", "  gap: thought\n"), "unregistered", "  gap: thought"),
        (changed("  gap: idea\n", "  gap: insight\n"), "unregistered", "  gap: insight"),
        (changed("default_type: reference", "default_type: note"), "unregistered", "default_type"),
        (changed("  - session-brief", "  - Session_Brief"), "not-kebab-case", "  - Session_Brief"),
        (changed("  howto: workflow", "  How To: workflow"), "not-kebab-case", "  How To"),
        # classes and routing
        (changed(", mocs]", "]"), "class-missing", "classes:"),
        (changed(", mocs]", ", mocs, maps]"), "unknown-class", "classes:"),
        (changed("  fix: procedural", "  fix: entities"), "route", "  fix: entities"),
        (changed("  fix: procedural", "  fix: mocs"), "route", "  fix: mocs"),
        (changed("  fix: procedural", "  fix: facts"), "route", "  fix: facts"),
        (changed("  fix: procedural\n", ""), "unrouted", "memory_types:"),
        (changed(ROUTE, ROUTE + "  person: semantic\n"), "unregistered", "  person:"),
        # warrants
        (with_person("warrants: {}\n"), "no-warrant", "memory_types:"),
        (
            with_person(WARRANT.replace("nearest: reference", "nearest: fact")),
            "unregistered",
            "    nearest",
        ),
        (
            with_person(WARRANT.replace("nearest: reference", "nearest: person")),
            "unregistered",
            "    nearest",
        ),
        (
            with_person(WARRANT.replace("    why_not: a reference is looked up, a person accrues\n", "")),
            "missing-key",
            "  person:\n    query",
        ),
        (with_person(WARRANT.split("    admission")[0]), "no-admission", "  person:\n    query"),
        (
            with_person(WARRANT.replace("resolution_need: yes, three spellings", "resolution_need: no")),
            "not-admitted",
            "      resolution_need",
        ),
        (
            with_person(WARRANT.replace("      resolution_need: yes, three spellings\n", "")),
            "missing-key",
            "    admission",
        ),
        (changed("warrants: {}\n", WARRANT), "unregistered", "  person:"),
        # spaces and patterns
        (changed("model_exempt_spaces: [personal]", "model_exempt_spaces: []"), "personal-open", "model_exempt"),
        (
            changed("model_exempt_spaces: [personal]", "model_exempt_spaces: [personal, Agent]"),
            "closed-to-filing",
            "model_exempt",
        ),
        (
            changed("contract_exempt_spaces: [personal]", "contract_exempt_spaces: [personal, memory]"),
            "closed-to-filing",
            "contract_exempt",
        ),
        (
            changed("dampened_spaces: [personal]", "dampened_spaces: [personal, Personal]"),
            "duplicate",
            "dampened_spaces: [",
        ),
        (changed("dampened_spaces: [personal]", "dampened_spaces: [a/b]"), "not-kebab-case", "dampened_spaces: ["),
        (changed("excludes: []", "excludes: ['a\\b']"), "pattern", "excludes: ["),
        (changed("excludes: []", "excludes:\n  - a.md\n  - '**'"), "pattern", "  - '**'"),
        (changed("excludes: []", "excludes: ['../x']"), "pattern", "excludes: ["),
        # thresholds
        (changed("0.65", "1.5"), "value", "  low_conf"),
        (changed("0.65", "-0.1"), "value", "  low_conf"),
        (changed("0.65", "nan"), "value", "  low_conf"),
        (changed("0.65", "high"), "value", "  low_conf"),
        (changed("24000", "24_000"), "value", "  enrichment"),
        (changed("24000", "24000.5"), "value", "  enrichment"),
        (changed("24000", "1"), "value", "  enrichment"),
        (changed("24000", "٢٤٠٠٠"), "value", "  enrichment"),
        (changed("decay_half_days: 365", "decay_half_days: 100"), "bands", "  decay_half"),
        (changed("decay_floor_days: 1825", "decay_floor_days: 1095"), "bands", "  decay_floor_days"),
        (changed("decay_full_days: 182", "decay_full_days: 0"), "value", "  decay_full"),
        (changed("decay_full_days: 182", "decay_full_days: ²"), "value", "  decay_full"),
        (changed("0.0625", "0"), "value", "  decay_floor_weight"),
        (changed("0.0625", "0.5"), "value", "  decay_floor_weight"),
        (changed("decay_enabled: false", "decay_enabled: no"), "value", "  decay_enabled"),
        (changed("decay_enabled: false", "decay_enabled: 0"), "value", "  decay_enabled"),
        (changed("decay_enabled: false", "decay_enabled: false\n  decay_speed: 2"), "unknown-key", "  decay_speed"),
        # keys and shapes
        (changed("default_type: ref", "colour: red\ndefault_type: ref"), "unknown-key", "colour"),
        (changed("excludes: []", "excludes:"), "value", "excludes:\n"),
        (changed("excludes: []", "excludes: a.md"), "value", "excludes: a"),
        (changed("warrants: {}", "warrants: []"), "value", "warrants"),
        (changed("  fix: procedural", "  fix: [procedural]"), "value", "  fix: [pro"),
        (changed("  - design\n", "  -\n"), "value", "  -\n"),
        (changed("  - design\n", "  - a: b\n"), "value", "  - a: b"),
        (changed("excludes: []", "excludes: []\nexcludes: []"), "doubled-key", "excludes: []\n\nthresh"),
        (changed("  gap: idea\n", "  gap: idea\n  gap: fix\n"), "doubled-key", "  gap: fix"),
        # YAML
        (changed("  gap: idea\n", "  gap: idea: x\n"), "yaml", "  gap: idea: x"),
        (changed("  gap: idea\n", "\tgap: idea\n"), "yaml", "\tgap"),
        (changed("excludes: []", "excludes: [a"), "yaml", "excludes: [a"),
        (changed("excludes: []", "excludes: ['a"), "yaml", "excludes: ['a"),
        (changed("excludes: []", "excludes: {{x}}"), "yaml", "excludes: {{x"),
        (changed("dampened_spaces: [", "dampened_spaces: &p [").replace("contract_exempt_spaces: [personal]", "contract_exempt_spaces: *p"), "alias", "dampened_spaces: &p"),
        (f"{HEAD}{OPEN}- a\n```\n{TAIL}", "yaml", "- a\n"),
        (f"{HEAD}{OPEN}# nothing\n```\n{TAIL}", "yaml", "# nothing"),
        # the block itself
        (HEAD + TAIL, "block-missing", "# Storage rules"),
        (DEFAULT.replace(OPEN, "```yaml\n"), "block-missing", "# Storage rules"),
        (f"{HEAD}````markdown\n{OPEN}{YAML}```\n````\n", "block-missing", "# Storage rules"),
        (f"~~~\ntext\n{DEFAULT}", "block-missing", "~~~"),
        (f"{DEFAULT}\n{OPEN}a: b\n```\n", "block-doubled", f"{OPEN}a: b"),
        (f"{HEAD}{OPEN}{YAML}", "block-unclosed", OPEN),
        (f"{HEAD}{OPEN}{YAML}~~~\n", "block-unclosed", OPEN),
        (changed(OPEN, "```storage-rules v2\n"), "block-tag", "```storage-rules v2"),
        ("", "block-missing", ""),
    ],
)  # fmt: skip
def test_a_violation_is_told_with_its_line(text: str, code: str, at: str) -> None:
    found = violations(text)
    assert (code, line_of(text, at)) in [(v.code, v.line) for v in found]


KEYS = [line.split(":")[0] for line in YAML.split("\n") if line[:1].isalpha()]
_LINES = [
    line for line in YAML.split("thresholds:\n")[1].split("\n") if ": " in line and "#" not in line
]
METERS = [line for line in _LINES if line.startswith(("  trip_", "  slop_"))]
THRESHOLDS = [line for line in _LINES if line not in METERS]


@pytest.mark.parametrize("key", KEYS)
def test_no_key_may_be_missing(key: str) -> None:
    lines = YAML.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{key}:"))
    end = start + 1
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    text = f"{HEAD}{OPEN}{chr(10).join(lines[:start] + lines[end:])}```\n"
    missing = [v for v in violations(text) if v.code == "missing-key"]
    assert [f"`{key}`" in v.message for v in missing] == [True]


@pytest.mark.parametrize("line", THRESHOLDS)
def test_no_threshold_may_be_missing(line: str) -> None:
    name = line.split(":")[0].strip()
    text = changed(f"{line}\n", "")
    assert [(v.code, v.line) for v in violations(text)] == [
        ("missing-key", line_of(text, "thresholds:"))
    ]
    assert f"`thresholds.{name}`" in violations(text)[0].message


def test_there_are_twelve_keys_and_nine_thresholds_and_eight_lines_of_meters() -> None:
    assert len(KEYS) == 12
    assert len(THRESHOLDS) == 9
    assert len(METERS) == 8


def test_the_lines_of_the_meters_may_be_left_out_and_move_no_judgment() -> None:
    shipped = load_rules(None, {})
    loaded = parse("\n".join(line for line in DEFAULT.split("\n") if line not in METERS))
    assert loaded.rules.thresholds == shipped.rules.thresholds
    moved = parse(changed("  trip_completeness: 0.80", "  trip_completeness: 0.5"))
    assert moved.rules.thresholds.trip_completeness == 0.5
    assert moved.rules_hash == shipped.rules_hash


def test_all_violations_are_told_at_once() -> None:
    text = (
        changed("  fix: procedural", "  fix: mocs")
        .replace("0.65", "7")
        .replace("excludes: []", "excludes: ['!x']\ncolour: red")
        .replace("  gap: idea", "  gap: thought")
        .replace("default_type: reference\n", "")
    )
    found = violations(text)
    assert {v.code for v in found} == {
        "route",
        "value",
        "pattern",
        "unknown-key",
        "unregistered",
        "missing-key",
    }
    assert [v.line for v in found] == sorted(v.line for v in found)


def test_a_line_that_is_not_utf8_is_told() -> None:
    data = DEFAULT.encode().replace(b"  gap: idea\n", b"  gap: id\xe9e\n")
    with pytest.raises(RulesError) as error:
        parse_rules(data, Path("rules.md"), "vault")
    line = DEFAULT[: DEFAULT.index("  gap: idea")].count("\n") + 1
    assert [(v.code, v.line) for v in error.value.violations] == [("encoding", line)]


def test_bombs_are_refused() -> None:
    laughs = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
    )
    assert "alias" in {v.code for v in violations(f"{OPEN}{laughs}```\n")}
    deep = "a: " + "[" * 500 + "]" * 500
    assert "unknown-key" in {v.code for v in violations(f"{OPEN}{deep}\n```\n")}
    deeper = "a: " + "[" * 50_000
    assert "yaml" in {v.code for v in violations(f"{OPEN}{deeper}\n```\n")}


@pytest.mark.parametrize(
    "text",
    [
        DEFAULT,
        f"\ufeff{DEFAULT}",
        DEFAULT.replace("\n", "\r\n"),
        DEFAULT.replace("\n", "\r"),
        f"---\ntags: [rules]\n---\n{DEFAULT}",
        f"{HEAD}~~~~ storage-rules  \n{YAML}~~~~\n",
        f"{HEAD}  ```storage-rules\n" + "".join(f"  {x}\n" for x in YAML.split("\n")) + "```\n",
        f"{HEAD}````text\n{OPEN}not: this\n```\n````\n{OPEN}{YAML}```\n",
        f"{HEAD}``` not a `fence` ```\n{OPEN}{YAML}```\n",
        f"{HEAD}{OPEN}{YAML}`````\n",
    ],
)
def test_a_block_in_any_honest_form_is_found(text: str) -> None:
    assert parse(text).rules == parse(DEFAULT).rules


def test_space_names_are_matched_whatever_the_case() -> None:
    text = changed("dampened_spaces: [personal]", "dampened_spaces: [Personal, CALENDAR]")
    assert parse(text).rules.dampened_spaces == ("personal", "calendar")


# --- which file -----------------------------------------------------------------------------------

MARK = "excludes: []"


def write(path: Path, mark: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DEFAULT.replace(MARK, f"excludes: [{mark}.md]"), encoding="utf-8")
    return path


def mark_of(loaded: LoadedRules) -> str:
    return loaded.rules.excludes[0] if loaded.rules.excludes else ""


def test_the_environment_comes_before_the_vault_and_the_vault_before_the_default(
    tmp_path: Path,
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    assert load_rules(vault_at(vault), {}).source == "default"
    assert load_rules(vault_at(vault), {}).path == default_rules_path()
    inside = write(vault / "standards" / "storage-rules.md", "vault")
    loaded = load_rules(vault_at(vault), {})
    assert (loaded.source, loaded.path, mark_of(loaded)) == ("vault", inside, "vault.md")
    named = write(tmp_path / "mine.md", "named")
    loaded = load_rules(vault_at(vault), {ENVIRONMENT: str(named)})
    assert (loaded.source, loaded.path, mark_of(loaded)) == ("environment", named, "named.md")


def test_the_folder_is_the_one_on_disk_whatever_its_case(tmp_path: Path) -> None:
    path = write(tmp_path / "Standards" / "storage-rules.md", "capital")
    assert load_rules(vault_at(tmp_path), {}).path == path
    (tmp_path / "standards").mkdir()
    assert load_rules(vault_at(tmp_path), {}).path == path
    exact = write(tmp_path / "standards" / "storage-rules.md", "exact")
    assert load_rules(vault_at(tmp_path), {}).path == exact


@pytest.mark.parametrize("value", ["", "  ", "rules.md", "./rules.md"])
def test_an_empty_or_relative_variable_is_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "rules.md", "cwd")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RulesError):
        load_rules(None, {ENVIRONMENT: value})


def test_nothing_stands_in_for_a_file_that_is_there_and_no_good(tmp_path: Path) -> None:
    path = tmp_path / "standards" / "storage-rules.md"
    path.parent.mkdir()
    path.write_bytes(b"no block\n")
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})
    path.unlink()
    path.mkdir()
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})
    path.rmdir()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})
    path.unlink()
    path.write_bytes(b"x" * (1024 * 1024 + 1))
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {ENVIRONMENT: str(tmp_path / "missing.md")})


def test_a_vault_that_cannot_be_listed_does_not_get_the_default(tmp_path: Path) -> None:
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path / "not-mounted"), {})


def test_a_folder_that_cannot_be_looked_into_does_not_get_the_default(tmp_path: Path) -> None:
    (tmp_path / "standards").symlink_to(tmp_path / "standards")
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})


def test_a_mended_file_counts_with_the_next_read(tmp_path: Path) -> None:
    path = write(tmp_path / "standards" / "storage-rules.md", "good")
    good = path.read_bytes()
    path.write_bytes(good.replace(b"0.65", b"high"))
    with pytest.raises(RulesError):
        load_rules(vault_at(tmp_path), {})
    path.write_bytes(good)
    assert mark_of(load_rules(vault_at(tmp_path), {})) == "good.md"
