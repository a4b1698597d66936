import math

import pytest

from thalweg.doctor.nets.instruments.budget import LONGEST, MARGIN, Budget


def simulate(budget, steps, seconds, cost, standing=0.0):
    """Steps of `seconds`, looks of `cost`: the steps that were looked at."""
    looked = []
    for step in range(1, steps + 1):
        due = budget.is_due(step)
        if step > 1:
            budget.took(seconds(step) if callable(seconds) else seconds)
        if due:
            looked.append(step)
            budget.looked(step, cost(step) if callable(cost) else cost)
        else:
            budget.stood_by(step, standing if budget.is_awake(step) else 0.1 * standing)
    return looked


def test_the_interval_by_hand():
    budget = Budget(0.04 / MARGIN)
    budget.took(1.0)
    budget.looked(1, 0.1)  # 0.1 ≤ 0.04·k from k = 4 on
    assert (budget.interval, budget.next) == (4, 5)
    budget.looked(5, 0.01)  # k = 1 will do
    assert budget.interval == 1
    budget.looked(6, 0.33)
    assert budget.interval == 16


def test_free_looks_come_at_every_step():
    assert simulate(Budget(0.05), 50, 1.0, 0.001) == [1, *range(3, 51)]


@pytest.mark.parametrize("cost", [0.01, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("standing", [0.0, 0.02])
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_the_share_is_kept_in_the_long_run(share, standing, cost):
    budget = Budget(share, first=(1, 2, 4, 8))
    looked = simulate(budget, 20_000, 1.0, cost, standing)
    assert budget.overhead <= share
    # and used: what is left unspent is less than three quarters, or all steps are looked at
    affordable = (MARGIN * share - standing) * 20_000 / cost
    assert len(looked) >= min(20_000, affordable) / 4 - 1


def test_looks_become_rarer_when_they_become_dear_and_come_back():
    budget = Budget(0.05)
    looked = simulate(budget, 30_000, 1.0, lambda step: 4.0 if 10_000 < step <= 20_000 else 0.04)
    counts = [sum(low < step <= low + 10_000 for step in looked) for low in (0, 10_000, 20_000)]
    assert counts[1] < counts[0] / 20
    assert counts[2] > 20 * counts[1]


def test_a_pause_is_no_reason_to_look_more_often():
    plain = simulate(Budget(0.05), 2_000, 1.0, 1.0)
    paused = simulate(Budget(0.05), 2_000, lambda step: 500.0 if step % 100 == 0 else 1.0, 1.0)
    assert len(paused) <= 1.3 * len(plain)


def test_first_looks_come_whatever_they_cost():
    assert simulate(Budget(0.05, first=(1, 2, 4)), 10, 1.0, 100.0) == [1, 2, 4]


def test_every_is_obeyed():
    budget = Budget(0.05, every=3)
    assert simulate(budget, 10, 1.0, 100.0) == [1, 4, 7, 10]
    assert budget.interval == 3


def test_the_interval_has_an_end():
    budget = Budget(0.05)
    budget.took(1e-9)
    budget.looked(1, 1e9)
    assert budget.interval == LONGEST
    assert math.isnan(Budget(0.05).overhead)


@pytest.mark.parametrize(("standing", "rest"), [(0.019, 1), (0.03, 2), (0.1, 8), (3.0, 64)])
def test_instruments_rest_where_standing_by_takes_more_than_half_of_the_share(standing, rest):
    budget = Budget(0.04 / MARGIN)
    for step in range(1, 500):
        budget.took(1.0)
        budget.stood_by(step, standing if budget.is_awake(step) else 0.001)
    assert budget.rest == rest
    awake = [step for step in range(1000, 1128) if budget.is_awake(step)]
    assert len(awake) == 128 // rest


def test_they_wake_up_when_steps_take_longer():
    budget = Budget(0.05)
    for step in range(1, 1000):
        budget.took(1.0 if step < 500 else 100.0)
        budget.stood_by(step, 0.1 if budget.is_awake(step) else 0.001)
    assert budget.rest == 1
    fixed = Budget(0.05, every=5)
    fixed.took(1.0)
    fixed.stood_by(2, 9.0)
    assert fixed.rest == 1
