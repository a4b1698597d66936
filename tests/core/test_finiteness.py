import numpy as np
import pytest

from thalweg.core import finiteness
from thalweg.core.finiteness import first_not_finite


@pytest.mark.parametrize("shape", [(7,), (7, 5), (7, 2, 3, 4), (7, 0), (0, 3), (0,)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_is_well(shape, order):
    assert first_not_finite(np.ones(shape, order=order)) is None


@pytest.mark.parametrize("block", [1, 7, 100_000])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_in_the_order_of_rows(monkeypatch, block, order, bad):
    monkeypatch.setattr(finiteness, "BLOCK", block)
    rng = np.random.default_rng(0)
    for shape in ((9,), (9, 4), (5, 3, 2)):
        array = np.zeros(shape, dtype=np.float32, order=order)
        places = sorted(tuple(int(rng.integers(n)) for n in shape) for _ in range(3))
        for place in places:
            array[place] = bad
        assert first_not_finite(array) == places[0]
