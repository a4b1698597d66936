import numpy as np
import pytest

from thalweg.rules import adam, adam_uncorrected


def test_two_steps_by_hand():
    # m = 1, v = 1, m̂ = 1/0.5 = 2,   v̂ = 1/0.25 = 4,   w = 1 − 0.1·2/(2 + 1) = 0.933333…
    # m = 1, v = 1, m̂ = 1/0.75 = 4/3, v̂ = 1/0.4375 = 16/7, √v̂ = 4/√7,
    #               w = 0.933333 − 0.1·(4/3)/(4/√7 + 1) = 0.880251…
    w, m, v = adam(1.0, 2.0, 0.0, 0.0, 1, 0.1, 0.5, 0.75, 1.0)
    assert (w, m, v) == pytest.approx((0.9333333333333333, 1.0, 1.0), rel=1e-15)
    second = adam(w, 1.0, m, v, 2, 0.1, 0.5, 0.75, 1.0)
    assert second == pytest.approx((0.8802517741591354, 1.0, 1.0), rel=1e-15)


def test_two_steps_without_correction_by_hand():
    # m = 1, v = 1, w = 1 − 0.1·1/(1 + 1) = 0.95; m = 1, v = 1, w = 0.95 − 0.05 = 0.9
    w, m, v = adam_uncorrected(1.0, 2.0, 0.0, 0.0, 0.1, 0.5, 0.75, 1.0)
    assert (w, m, v) == pytest.approx((0.95, 1.0, 1.0), rel=1e-15)
    second = adam_uncorrected(w, 1.0, m, v, 0.1, 0.5, 0.75, 1.0)
    assert second == pytest.approx((0.9, 1.0, 1.0), rel=1e-15)


def test_all_kinds_agree(agree):
    agree(adam, [(t, 0.1, 0.9, 0.999, 1e-8) for t in (1, 2, 3)])


def test_all_kinds_agree_without_correction(agree):
    agree(adam_uncorrected, [(0.1, 0.9, 0.999, 1e-8)] * 3)


def adam_path(gradients, w, lr, beta1, beta2, eps):
    m = v = np.zeros_like(w)
    path = []
    for t, g in enumerate(gradients, 1):
        w, m, v = adam(w, g, m, v, t, lr, beta1, beta2, eps)
        path.append(w)
    return np.array(path)


def test_follows_torch(gradients, start, torch_path):
    expected = torch_path("Adam", lr=0.01, betas=(0.9, 0.999), eps=1e-3)
    got = adam_path(gradients, start, 0.01, 0.9, 0.999, 1e-3)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_first_step_without_correction_is_longer_by_the_ratio_of_biases(gradients, start, follow):
    corrected = adam_path(gradients, start, 0.01, 0.9, 0.999, 0.0)
    uncorrected = follow(adam_uncorrected, 0.01, 0.9, 0.999, 0.0, states=2)
    ratio = (uncorrected[0] - start) / (corrected[0] - start)
    np.testing.assert_allclose(ratio, 0.1 / np.sqrt(0.001), rtol=1e-10)  # 3.16


def test_correction_fades(gradients):
    g = gradients[0]
    m, v = 0.3 * g, g * g
    late, _, _ = adam(0.0, g, m, v, 10**5, 0.01, 0.9, 0.999, 1e-8)
    plain, _, _ = adam_uncorrected(0.0, g, m, v, 0.01, 0.9, 0.999, 1e-8)
    np.testing.assert_allclose(late, plain, rtol=1e-12)
