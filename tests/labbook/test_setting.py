import pytest

import thalweg as tw
from thalweg.labbook.setting import Setting


def test_sizes_go_with_the_budget():
    sizes = {"glance": 1, "quick": 2, "full": 3}
    assert [Setting(each).pick(**sizes) for each in sizes] == [1, 2, 3]
    assert Setting("glance").pick(quick=2, full=3) == 2
    assert Setting("full").is_full
    assert not Setting("quick").is_full


def test_numbers_are_decided_by_seed_and_purpose():
    first = Setting(seed=3).rng("start", 1).random(4).tolist()
    assert Setting(seed=3).rng("start", 1).random(4).tolist() == first
    for other in (Setting(seed=4).rng("start", 1), Setting(seed=3).rng("noise", 1)):
        assert other.random(4).tolist() != first


def test_bad_input():
    with pytest.raises(tw.InputError, match="budget must be a known name"):
        Setting("large")
    with pytest.raises(tw.InputError, match="seed must be"):
        Setting(seed=-1)


def test_a_seed_for_each_purpose():
    setting = Setting(seed=3)
    assert setting.seed_for("a", 1) == int(setting.rng("a", 1).integers(2**31))
    assert len({setting.seed_for("a"), setting.seed_for("b"), Setting(seed=4).seed_for("a")}) == 3
