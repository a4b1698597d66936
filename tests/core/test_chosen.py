import pytest

from thalweg.core.chosen import Chosen, Tried

POINTS = tuple(
    Tried(str(l1), f"{l2}/n", (l1, l2 / 50), 1.0 + abs(l1 - 0.1) + l2, 0.1)
    for l1 in (1.0, 0.1, 0.01)
    for l2 in (1, 2)
)


def of(index):
    return Chosen("log loss", 5, "best", index, index, POINTS)


def test_a_record_and_back():
    assert Chosen.from_dict(of(2).to_dict()) == of(2)
    with pytest.raises(ValueError, match="none is number 6"):
        Chosen.from_dict(of(6).to_dict())


def test_what_varied_and_where_the_grid_ends():
    assert of(2).varied == ("l1", "l2")
    assert [of(k).is_at_an_end for k in (0, 4)] == ["strongest l1", "weakest l1"]
    assert of(2).is_at_an_end == "weakest l2"
    alone = Chosen("log loss", 5, "best", 1, 1, POINTS[::2])
    assert alone.varied == ("l1",)
    assert alone.is_at_an_end == ""
    assert str(alone).startswith("l1 = 0.1: log loss 2 ± 0.1")
