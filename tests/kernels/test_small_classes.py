import math

import numpy as np
import pytest

from thalweg.kernels import small_classes as classes

N, P, K, L2 = 41, 3, 4, 0.01


def data():
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.standard_normal((N, P)) * [1.0, 50.0, 0.02], np.ones(N)])
    labels = np.digitize(A[:, 0] + rng.standard_normal(N), [-1.0, 0.0, 1.0]).astype(np.int64)
    c = rng.random(N)
    c[5] = 0.0
    return A, labels, c / c.sum()


def slowly(A, labels, c, W):
    """F, ∇F and ∇²F of the variables class by class, from their definitions."""
    Z = A @ W
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    p = E / E.sum(axis=1, keepdims=True)
    held = np.append(np.ones(P), 0.0)
    value = -c @ np.log(p[np.arange(N), labels]) + 0.5 * L2 * float(held @ (W**2).sum(axis=1))
    G = A.T @ (c[:, None] * (p - np.eye(K)[labels])) + L2 * held[:, None] * W
    H = sum(
        c[i] * np.kron(np.diag(p[i]) - np.outer(p[i], p[i]), np.outer(A[i], A[i])) for i in range(N)
    )
    return value, p, G, H + L2 * np.diag(np.tile(held, K))


def begun(A, labels, c, W):
    probabilities, G = np.empty((N, K)), np.empty(W.shape)
    value = classes.look(A, labels, c, L2, P, W, probabilities, G)
    return value, probabilities, G


def test_at_zero_by_hand():
    # Two samples, one of each class: p = ½, and the slopes are ∓½ times the entry.
    A, labels, c = np.array([[2.0], [4.0]]), np.array([0, 1]), np.array([0.5, 0.5])
    probabilities, G = np.empty((2, 2)), np.empty((1, 2))
    value = classes.look(A, labels, c, 1.0, 1, np.zeros((1, 2)), probabilities, G)
    assert value == pytest.approx(math.log(2.0))
    assert probabilities.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert G.tolist() == [[0.5, -0.5]]  # ½(½·4 − ½·2) = ½ for the first


def test_a_look_is_the_definition():
    A, labels, c = data()
    W = np.random.default_rng(1).standard_normal((P + 1, K)) * [[1.0], [0.02], [10.0], [1.0]]
    value, probabilities, G = begun(A, labels, c, W)
    slow, p, slope, _ = slowly(A, labels, c, W)
    assert value == pytest.approx(slow, rel=1e-13)
    np.testing.assert_allclose(probabilities, p, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(G, slope, rtol=1e-10, atol=1e-13)


def test_a_step_that_is_solved_to_the_end_is_newtons():
    A, labels, c = data()
    W = np.zeros((P + 1, K))
    W[0] = [-1.0, -0.3, 0.3, 1.0]  # from where the whole step is taken
    value, probabilities, G = begun(A, labels, c, W)
    _, _, slope, H = slowly(A, labels, c, W)
    newton = W - np.linalg.lstsq(H, slope.T.ravel(), rcond=1e-12)[0].reshape(K, P + 1).T
    # `null` so large that the share η² is nothing.
    after, _, products, looks = classes.newton_step(
        A, labels, c, L2, P, 1e30, 0.0, W, probabilities, G, value
    )
    assert after < value
    assert looks == 1.0
    assert products <= 4 * W.size
    W[P] -= W[P].mean()  # no loss sees what all intercepts share
    newton[P] -= newton[P].mean()
    np.testing.assert_allclose(W, newton, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("least", [0.0, 0.01])
def test_steps_descend_to_where_the_slope_is_zero(least):
    A, labels, c = data()
    W = np.zeros((P + 1, K))
    value, probabilities, G = begun(A, labels, c, W)
    for _ in range(40):
        before = value
        value, left, _, _ = classes.newton_step(
            A, labels, c, L2, P, math.log(K), least, W, probabilities, G, value
        )
        assert value <= before + 1e-14
        if left <= 1e-24:
            break
    slow, _, slope, _ = slowly(A, labels, c, W)
    assert value == pytest.approx(slow, rel=1e-13)
    np.testing.assert_allclose(G, slope, atol=1e-12)
    assert np.abs(slope / [[1.0], [50.0], [0.02], [1.0]]).max() <= 1e-9


def test_a_column_of_no_entries_and_no_penalty_is_told():
    A, labels, c = data()
    A[:, 1] = 0.0
    W = np.zeros((P + 1, K))
    probabilities, G = np.empty((N, K)), np.empty(W.shape)
    value = classes.look(A, labels, c, 0.0, P, W, probabilities, G)
    _, left, _, _ = classes.newton_step(A, labels, c, 0.0, P, 1.0, 0.0, W, probabilities, G, value)
    assert math.isnan(left)
    assert not W.any()
