"""Passwords and lists of phone numbers as people write them down, and AWS secrets."""

import random
import string

import pytest

from agentm_assets.privacy.scrub import PLACEHOLDER, restore, scrub


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Password: ab9&cD3x", "ab9&cD3x"),
        ("PASSWORD=Xy7,kL9q and more", "Xy7,kL9q"),
        ("the password: Tr0ub4dor&3x.", "Tr0ub4dor&3x"),
        ("(password: Zz9;xx1)", "Zz9;xx1"),
        ("Server=x;Password=ab9(c)D;Database=z", "ab9(c)D"),
        ("POST /in?password=abc12345&user=joe", "abc12345"),
        ("PASSWORD=Xy7&k=9qL", "Xy7&k=9qL"),
        ("export DB_PASSWORD=ab9;cD3x;k=9", "ab9;cD3x;k=9"),
        ("- Password: Tr0&x=ub4dor", "Tr0&x=ub4dor"),
        ("the password: 9a;b=cd", "9a;b=cd"),
        ("Password: ab9`cD3x", "ab9`cD3x"),
        ('password: "it\'s 9 xx"', "it's 9 xx"),
        ("password = 'a\\'b 9c'", "a\\'b 9c"),
        ('the password is "two words 9"', "two words 9"),
        ("PW=ab9&c", "ab9&c"),
        ("pass: x9!ab", "x9!ab"),
        ("pass phrase: correct horse battery", "correct horse battery"),
        ("password `x!y`", "x!y"),
        ('the password is "q9|w"', "q9|w"),
        ("pw: ab9|cD3", "ab9|cD3"),
        ("pass: hunter2!x", "hunter2!x"),
        ("passphrase: correct horse battery", "correct horse battery"),
        ("password='a b c d e'", "a b c d e"),
        ('{"password": "s3cr3t,xx"}', "s3cr3t,xx"),
    ],
)
def test_a_password_is_taken_out_whole_and_nothing_else(text: str, secret: str) -> None:
    scrubbed = scrub(text)
    assert scrubbed.text == text.replace(secret, "\u27e6password-1\u27e7")
    assert restore(scrubbed.text, scrubbed) == text


@pytest.mark.parametrize(
    "text",
    [
        "password: required",
        "password=get_pass(user)",
        "DB_PASSWORD=$SECRET",
        "the tests pass: all green",
        "pass: the tests pass",
        "passphrase: none",
        "Password <b>policy</b>",
        'it says the password is "too short"',
        "password: see 1Password",
        "ALTER ROLE kettle WITH PASSWORD 'RANDOM_PASSWORD';",
        "password: KetV1 of the vendor",
        "password: ask Jane, she knows",
        "the secret sauce of 3f2a9c1b0d4e5f60718293a4b5c6d7e8f9012345",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert scrub(text).text == text


@pytest.mark.parametrize(
    "form",
    [
        "AKIAIOSFODNN7ABCDEFG with secret {}",
        "AKIAIOSFODNN7ABCDEFG / {}",
        "AKIAIOSFODNN7ABCDEFG/{}",
        "AKIAIOSFODNN7ABCDEFG={}",
        "ASIAIOSFODNN7ABCDEFG\n{}",
        "the id is AKIAIOSFODNN7ABCDEFG; its other half follows: _{}_",
        "secret=/{}",
        "the key {}",
        "Secret key\n\n{}\n",
        "`{}` is the secret of it",
        "and the secret {}.",
        "| AKIAIOSFODNN7ABCDEFG | {} |",
    ],
)
def test_the_secret_of_an_aws_key_needs_no_name(form: str) -> None:
    letters = string.ascii_letters + string.digits + "/+"
    draw = random.Random(7)
    length = 36 if "/{" in form and "=" in form else 37  # the stroke is one of the forty
    for _ in range(100):
        secret = "aB3" + "".join(draw.choice(letters) for _ in range(length))
        assert secret not in scrub(form.format(secret)).text


@pytest.mark.parametrize(
    "value",
    [
        "3f2a9c1b0d4e5f60718293a4b5c6d7e8f9012345",
        "3F2A9C1B0D4E5F60718293A4B5C6D7E8F9012345",
        "Library/Application/Support/Kettle/Keys1",
    ],
)
@pytest.mark.parametrize("form", ["the secret key of {} is", "AKIAIOSFODNN7ABCDEFG is not in {}"])
def test_a_commit_and_a_path_are_no_aws_secret(form: str, value: str) -> None:
    assert len(value) == 40
    assert value in scrub(form.format(value)).text


@pytest.mark.parametrize("digit", ["a", "A"])
def test_a_commit_right_behind_an_aws_id_is_no_secret(digit: str) -> None:
    commit = digit + "0123456789" * 3 + "012345678"
    assert commit in scrub(f"AKIAIOSFODNN7ABCDEFG {commit}").text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("phone +49 30 901820, 0151 23456789.", 2),
        ("tel: 030 901820 or 0151 23456789", 2),
        ("call 030 901820 / 0151 23456789; 0171 1234567", 3),
        ("phone 030 901820 (office), 0151 23456789 (home)", 2),
        ("Phones: 030 901820\r\n- 0151 23456789", 2),
        ("tel 030 901820, office: 0151 23456789", 2),
    ],
)
def test_every_number_of_a_list_is_a_phone(text: str, numbers: int) -> None:
    scrubbed = scrub(text)
    assert scrubbed.kinds == {"phone": numbers}
    assert not any(c.isdigit() for c in PLACEHOLDER.sub("", scrubbed.text))
    assert restore(scrubbed.text, scrubbed) == text


def test_two_numbers_with_only_a_blank_between_are_not_left() -> None:
    assert "0151" not in scrub("tel 030 901820 0151 23456789 x").text


def test_each_number_of_a_list_has_a_placeholder_of_its_own() -> None:
    scrubbed = scrub("call 030 901820 / 0151 23456789")
    assert list(scrubbed.originals.values()) == ["030 901820", "0151 23456789"]


@pytest.mark.parametrize(
    "text", ["build 20261201, 20261202", "line 030 901820, then 0151 23456789", "1234567 / 7654321"]
)
def test_a_list_of_other_numbers_stays(text: str) -> None:
    assert scrub(text).text == text


def test_what_is_no_list_ends_at_the_phone() -> None:
    text = "Call +49 30 901820 about ticket 12345678, not 2026-12-01."
    assert scrub(text).text == text.replace("+49 30 901820", "\u27e6phone-1\u27e7")
