"""Data inside a prompt, between marks that the data can't contain."""

import hashlib


def fenced_data(name: str, text: str) -> str:
    """`text` between two lines that hold a hash of it: whoever writes the text can't know the mark
    that it will get, so can't close it early. The same text gets the same mark."""
    text = text.strip()
    salt = 0
    while True:
        seed = f"{salt}\n{text}".encode("utf-8", "surrogatepass")
        mark = hashlib.sha256(seed).hexdigest()[:16]
        if mark not in text:
            return f"<<<{name} {mark}>>>\n{text}\n<<<end of {name} {mark}>>>"
        salt += 1
