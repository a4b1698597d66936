"""Ways to damage a file: each takes bytes and a generator and gives other bytes."""

from __future__ import annotations

import numpy as np

# What parsers trip over: signs, quotes, separators, numbers at the edge, bytes of no text.
TOKENS = (
    b"", b"\0", b"\xff", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b";", b"\t", b" ", b":", b"#",
    b"-", b"nan", b"inf", b"-Infinity", b"1e999", b"1,5", b"1.234", b"99999999999999999999",
    b"-1", b"0", b"True", b"\xc3", b"\xe2\x82\xac", b"(", b")", b"{", b"]", b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff", b"qid:1", b"1:1", b"0:1", b"PAR1", b"PK\x03\x04", b"O", b"csr",
)  # fmt: skip


def flip(content: bytes, rng: np.random.Generator) -> bytes:
    """One bit."""
    place = int(rng.integers(len(content)))
    changed = content[place] ^ (1 << int(rng.integers(8)))
    return content[:place] + bytes([changed]) + content[place + 1 :]


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    """The beginning alone."""
    return content[: int(rng.integers(len(content)))]


def insert(content: bytes, rng: np.random.Generator) -> bytes:
    """A token somewhere."""
    place = int(rng.integers(len(content) + 1))
    return content[:place] + TOKENS[int(rng.integers(len(TOKENS)))] + content[place:]


def overwrite(content: bytes, rng: np.random.Generator) -> bytes:
    """A token in the place of as many bytes."""
    token = TOKENS[int(rng.integers(len(TOKENS)))]
    place = int(rng.integers(len(content)))
    return content[:place] + token + content[place + len(token) :]


def repeat(content: bytes, rng: np.random.Generator) -> bytes:
    """A part of it twice."""
    start, end = sorted(int(each) for each in rng.integers(len(content) + 1, size=2))
    return content[:end] + content[start:end] + content[end:]


def leave_out(content: bytes, rng: np.random.Generator) -> bytes:
    """All but a part of it."""
    start = int(rng.integers(len(content)))
    return content[:start] + content[start + int(rng.integers(1, 9)) :]


MUTATORS = (flip, cut, insert, overwrite, repeat, leave_out)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Damaged one to three times."""
    for _ in range(int(rng.integers(1, 4))):
        if content:
            content = MUTATORS[int(rng.integers(len(MUTATORS)))](content, rng)
    return content
