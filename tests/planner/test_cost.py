"""What is counted grows with the data as the work does, and with the machine's rates."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.planner.cost import CALL, NS, Cost
from thalweg.planner.machine import Rates

KINDS = (
    *("call", "gradient", "hessian", "factor", "ridge", "row_products", "blocks"),
    *("dual", "visits", "sweep"),
)


def problem(n=300, p=5, loss="logistic", storage=np.asarray, **options):
    X = np.random.default_rng(0).standard_normal((n, p))
    y = np.arange(n) % 4 if loss == "multinomial" else X[:, 0] > 0
    return tw.LinearProblem(storage(X), y, loss, **{"l2": 0.1, **options})


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_price_that_grows_with_the_rows(kind, loss, storage):
    few, many = (Cost(problem(n, 20, loss, storage), Rates()) for n in (100, 10_000))
    assert 0.0 < getattr(few, kind) <= getattr(many, kind)


def test_a_gradient_by_hand():
    cost = Cost(problem(n=1_000, p=50), Rates())
    assert cost.call == pytest.approx(CALL * NS)
    assert cost.gradient == pytest.approx(NS * (2 * CALL + 9 * 1_000 + 2 * 51 + 0.2 * 50_000))
    both = cost.of({"gradient": 2.0, "call": 3.0})
    assert both == pytest.approx(2 * cost.gradient + 3 * CALL * NS)


def test_a_slow_machine_takes_longer_at_what_it_is_slow_at():
    data = problem(n=2_000, p=300)
    usual = Cost(data, Rates())
    for rates, slower in (
        (Rates(calling=2.0), "call"),
        (Rates(reading=2.0), "dual"),
        (Rates(multiplying=2.0), "hessian"),
    ):
        assert getattr(Cost(data, rates), slower) > 1.2 * getattr(usual, slower)
    assert Cost(data, Rates(2.0, 2.0, 2.0)).gradient == pytest.approx(2.0 * usual.gradient)


def test_a_hessian_grows_with_the_square_of_the_features():
    thin, wide = (Cost(problem(n=4_000, p=p), Rates()).hessian for p in (500, 2_000))
    assert 8.0 < wide / thin <= 16.0


def test_the_smaller_system_is_priced():
    wide = tw.LinearProblem(np.ones((20, 3_000)), np.arange(20.0), l2=0.1)
    assert Cost(wide, Rates()).ridge < 1e-2
    assert Cost(wide, Rates()).hessian == 0.0  # newton solves for samples there
