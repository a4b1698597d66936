import dataclasses

import pytest

from thalweg.core.certificate import Certificate


def test_text_says_whether_it_holds_and_what_it_does_not_show():
    certificate = Certificate(
        kind="stationarity", holds=False, measured=1.0, limit=0.1, statement="1 > 0.1",
        shows="nothing", does_not_show="a minimum",
    )  # fmt: skip
    assert str(certificate).splitlines() == [
        "DOES NOT HOLD  stationarity: 1 > 0.1",
        "  shows: nothing",
        "  does not show: a minimum",
    ]
    assert str(dataclasses.replace(certificate, holds=True)).startswith("HOLDS")
    promised = dataclasses.replace(certificate, in_expectation="E f ≤ 1")
    assert str(promised) == f"{certificate}\n  in expectation: E f ≤ 1"


def test_a_certificate_cannot_be_changed():
    certificate = Certificate("gap", True, 0.0, 1.0, "0 ≤ 1", "f − f* ≤ 0", gap=0.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.gap = -1.0
