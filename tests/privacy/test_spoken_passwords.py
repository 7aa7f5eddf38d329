"""Passwords as people write them down, and AWS secrets beside their id."""

import random
import string

import pytest

from agentm_assets.privacy.scrub import restore, scrub


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Password: ab9&cD3x", "ab9&cD3x"),
        ("PASSWORD=Xy7,kL9q and more", "Xy7,kL9q"),
        ("the password: Tr0ub4dor&3x.", "Tr0ub4dor&3x"),
        ("(password: Zz9;xx1)", "Zz9;xx1"),
        ("Server=x;Password=ab9(c)D;Database=z", "ab9(c)D"),
        ("password=abc12345&user=joe", "abc12345"),
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
        "and the secret {}.",
        "| AKIAIOSFODNN7ABCDEFG | {} |",
    ],
)
def test_the_secret_of_an_aws_key_needs_no_name(form: str) -> None:
    letters = string.ascii_letters + string.digits + "/+"
    draw = random.Random(7)
    for _ in range(100):
        secret = "aB3" + "".join(draw.choice(letters) for _ in range(37))
        assert secret not in scrub(form.format(secret)).text
