import io

import pytest

from thalweg.cli.letters import STAND_INS, encoding_of, prepare, spelled


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("‖∇f‖∞ ≤ 1e-6", "||grad f||inf <= 1e-6"),
        ("▸ κ = 3 — μ × 2", "> kappa = 3 - mu x 2"),
        ("F(w) − F*", "F(w) - F*"),
        ("409 µs", "409 us"),
        ("Fᵗ, café", "Ft, cafe"),  # by what Unicode says of them
        ("中", "\\u4e2d"),  # nothing is lost
    ],
)
def test_ascii(text, plain):
    assert spelled(text, "ascii") == plain
    assert spelled(text, "utf-8") == text


def test_what_an_encoding_has_stays():
    assert spelled("569 × 30, ½, κ", "latin-1") == "569 × 30, ½, kappa"


def test_every_stand_in_is_plain_and_no_question_mark():
    for letter, plain in STAND_INS.items():
        assert not letter.isascii()
        assert plain.isascii()
        assert "?" not in plain


def test_a_stream_writes_stand_ins():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    prepare(stream, io.StringIO())
    stream.write("κ ≤ 2")
    stream.flush()
    assert raw.getvalue() == b"kappa <= 2"
    assert encoding_of(stream) == "ascii"
    assert encoding_of(io.StringIO()) == "utf-8"
