"""Sums and maps of a loss in NumPy, against those of the same loss in kernels."""

import itertools
import math

import numpy as np
import pytest

from far_columns import STORAGES, N, P, matrix, rows_of, weights
from terms import LOSSES, quantile, squared
from thalweg.kernels import losses
from thalweg.objectives.one_score import OneScore
from thalweg.objectives.own_score import OwnScore

DELTA = 0.7
CASES = list(itertools.product(LOSSES, STORAGES))


def pair(name):
    """The same term, of kernels and of one's own."""
    y = 2.0 * np.random.default_rng(1).standard_normal(N)
    y = np.sign(y) if name == "logistic" else y
    return OneScore(losses.LOSSES[name], y, DELTA), OwnScore(LOSSES[name](), y)


def point():
    rng = np.random.default_rng(2)
    return rng.standard_normal(P) / 40.0, 0.3, rng.standard_normal(P), -0.8


def test_by_hand():
    # Scores 1·2 + 0·1 + 1 = 3 and 2·2 − 1·1 + 1 = 4: residuals 2 and −1.
    rows = rows_of(np.array([[1.0, 0.0], [2.0, -1.0]]), np.array([0.25, 0.75]))
    own = OwnScore(squared(), np.array([1.0, 5.0]))
    W, z = np.array([2.0, 1.0]), np.full(2, np.nan)
    assert own.value(rows, W, 1.0) == 0.25 * 2.0 + 0.75 * 0.5
    value, G, slopes = own.gradient(rows, W, 1.0, z)
    assert (value, slopes) == (0.875, 0.25 * 2 - 0.75 * 1)
    assert G.tolist() == [0.25 * 2 - 0.75 * 2, 0.75 * 1]
    assert z.tolist() == [3.0, 4.0]
    out, total = own.hessian_vector(rows, W, 1.0, np.array([1.0, 0.0]), 1.0)
    assert (out.tolist(), total) == ([0.25 * 2 + 0.75 * 6, -0.75 * 3], 0.25 * 2 + 0.75 * 3)


@pytest.mark.parametrize(("name", "storage"), CASES)
def test_it_is_what_kernels_make_of_the_same_loss(name, storage):
    kernel, own = pair(name)
    rows = rows_of(matrix(storage, 10.0), weights())
    W, b, V, v_b = point()
    z, d = rows.product(W, b), rows.product(V, v_b)
    r = kernel.weighted_slopes(rows, z)

    def found(term):
        h = term.bends(rows, z)
        theta = np.empty(N)
        return [
            term.value(rows, W, b), *term.gradient(rows, W, b), h, term.curvatures(rows, h),
            *term.hessian_vector(rows, W, b, V, v_b), *term.bent_vector(rows, h, V, v_b),
            *term.column_moments(rows, h), term.weighted_slopes(rows, z),
            *term.along(rows, z, d, r, 0.3), term.slopes(weights(), z, theta), theta,
            *term.shifted_slopes(weights(), z, 0.4), *term.conjugates(weights(), 0.5 * theta),
        ]  # fmt: skip

    for mine, theirs in zip(found(own), found(kernel), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    assert own.curvature_bound == kernel.curvature_bound


@pytest.mark.parametrize("floor", [0.0, 0.1, 1.0])
def test_curvatures_are_at_least_a_share_of_the_bound(floor):
    rows, own = rows_of(matrix(STORAGES[0], 1.0), weights()), OwnScore(quantile(), np.zeros(N))
    z = np.linspace(-3.0, 3.0, N)
    h = own.bends(rows, z, floor)
    expected = np.maximum(own.loss.curvatures(z, own.y), floor * own.loss.bound)
    np.testing.assert_array_equal(h, weights() * expected)


def test_a_point_is_stretched_to_the_edge_of_the_domain():
    own, c = OwnScore(quantile(0.8), np.zeros(3)), np.array([0.5, 0.5, 0.0])
    theta = np.array([0.1, -0.4, -5.0])  # the last of no weight; −0.8 is an edge, and 0.2
    assert own.stretch(c, theta) == pytest.approx(2.0, abs=1e-9)
    assert math.isfinite(own.conjugates(c, own.stretch(c, theta) * theta)[0])
    assert OwnScore(squared(), np.zeros(3)).stretch(c, theta) == math.inf


def test_some_samples_and_no_origin():
    own = OwnScore(squared(), np.arange(4.0))
    assert own.on(slice(1, 3)).y.tolist() == [1.0, 2.0]
    assert own.centred(np.full(4, 0.25)) is own
    assert (own.origin, own.outputs, own.is_matrix, own.has_kinks) == (0.0, 1, False, True)


def test_sums_lose_nothing():
    n = 100_001
    own = OwnScore(squared(), np.full(n, -math.sqrt(0.2)))
    c = np.full(n, 0.1)
    theta = np.empty(n)
    terms = c * own.loss.values(np.zeros(n), own.y)
    assert own.slopes(c, np.zeros(n), theta) == math.fsum(terms)


def test_a_sum_that_is_no_number_is_none():
    own = OwnScore(squared(), np.zeros(2))
    with np.errstate(all="ignore"):
        assert own.slopes(np.full(2, 0.5), np.array([1e200, 1.0]), np.empty(2)) == math.inf
