import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import LinearChain


@pytest.mark.parametrize("n", [1, 2, 10, 50])
def test_the_lecture_s_exploding_case(n):
    chain = LinearChain(layers=n)
    np.testing.assert_array_equal(chain.output([1.0, 2.0]), [1.0, 2.0**n])
    np.testing.assert_array_equal(chain.output_gradient([1.0, 2.0]), [n, n * 2.0 ** (n - 1)])


def test_the_lecture_s_vanishing_case():
    sizes = [np.abs(LinearChain(n).output_gradient([0.5, 0.9])).max() for n in (10, 100, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-40
    # Below the precision of the numbers it is zero.
    assert (LinearChain(2000).output_gradient(np.array([0.5, 0.9], np.float32)) == 0).all()


def test_output_is_the_chain_layer_by_layer():
    chain = LinearChain(layers=7, x=(2.0, -1.0))
    w = np.array([0.8, -1.3])
    h = np.array([2.0, -1.0])
    for _ in range(7):
        h = np.diag(w) @ h
    np.testing.assert_allclose(chain.output(w), h)
    np.testing.assert_allclose(chain.output(np.stack([w, w])), [h, h])


def test_value_and_gradient_by_hand():
    # n = 2, h = (4, 9), t = (1, 1): r = (3, 8), f = (9 + 64)/2, ∂f = (3·2·2, 8·2·3)
    chain = LinearChain(layers=2)
    assert chain.value([2.0, 3.0]) == 36.5
    np.testing.assert_array_equal(chain.gradient([2.0, 3.0]), [12.0, 48.0])


@pytest.mark.parametrize(
    ("layers", "x", "target", "minimizer", "minimum"),
    [
        (4, (1.0, 1.0), (16.0, 81.0), (2.0, 3.0), 0.0),
        (3, (1.0, -1.0), (-8.0, 8.0), (-2.0, -2.0), 0.0),
        (2, (1.0, 1.0), (-3.0, 4.0), (0.0, 2.0), 4.5),  # no real square root of −3
        (2, (0.0, 2.0), (1.0, 2.0), (0.0, 1.0), 0.5),
    ],
)
def test_minimizer(layers, x, target, minimizer, minimum):
    chain = LinearChain(layers, x, target)
    np.testing.assert_allclose(chain.minimizer, minimizer)
    assert chain.minimum == pytest.approx(minimum, abs=1e-20)


def test_one_layer_has_no_curvature_of_its_own():
    np.testing.assert_array_equal(LinearChain(1).hessian_vector([0.0, 0.0], [1.0, 2.0]), [1.0, 2.0])


def test_refusals():
    with pytest.raises(InputError, match="layers must be a whole number, at least 1, got 0"):
        LinearChain(layers=0)
    with pytest.raises(InputError, match="target must have 2 entries"):
        LinearChain(target=(1.0, 2.0, 3.0))
