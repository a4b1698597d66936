import json

import pytest

from thalweg.core.errors import StorageError
from thalweg.core.explanation import (
    EXPLAINED,
    Baseline,
    Bin,
    Explanation,
    Importance,
    Shuffled,
    importance_csv,
)
from thalweg.core.kinds import check_kinds

KNOWN = Explanation(
    "held out", 20, Shuffled("log loss", 0.5, 20, 5, (Importance("age", 0.25, 0.125),)),
    ("no", "yes"), ((8, 2), (1, 9)), "yes", (Bin(20, 0.5, 0.3, 0.5, 0.7),), (),
    (Baseline("constant", {"accuracy": 0.5}),), ("a note",),
)  # fmt: skip


def test_to_json_and_back():
    content = json.loads(json.dumps(KNOWN.to_dict()))
    check_kinds(content, EXPLAINED, source="x")
    assert Explanation.from_dict(content) == KNOWN
    bare = Explanation("training", 3)
    assert Explanation.from_dict(json.loads(json.dumps(bare.to_dict()))) == bare


@pytest.mark.parametrize("key", ["count", "importance", "confusion", "calibration", "baselines"])
def test_what_is_no_explanation_is_damage(key):
    with pytest.raises(StorageError, match=key):
        check_kinds({**KNOWN.to_dict(), key: "x"}, EXPLAINED, source="x")


@pytest.mark.parametrize(
    ("mean", "spread", "is_clear"), [(1.0, 0.4, True), (1.0, 0.6, False), (-1.0, 0.4, True)]
)
def test_clear_is_farther_from_zero_than_twice_the_spread(mean, spread, is_clear):
    assert Importance("a", mean, spread).is_clear is is_clear


def test_csv():
    assert importance_csv(KNOWN.importance) == (
        "column,rise of log loss,standard deviation\nage,0.25,0.125\n"
    )
    falls = Shuffled("R²", 0.5, 20, 5, (Importance("=a", 0.0, 1.0),))
    assert importance_csv(falls).splitlines() == [
        "column,fall of R²,standard deviation",
        "'=a,0.0,1.0",
    ]
