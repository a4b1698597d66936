import numpy as np
import pytest

from thalweg.rules import nadam, nadam_momentum


def test_momentum_by_hand():
    # 0.9·(1 − 0.5·0.96) = 0.468, at tψ = 1; β₁/2 at ψ = 0; towards β₁
    assert nadam_momentum(1, 0.9, 1.0) == pytest.approx(0.468, rel=1e-15)
    assert nadam_momentum(250, 0.9, 0.004) == pytest.approx(0.468, rel=1e-15)
    assert nadam_momentum(5, 0.9, 0.0) == pytest.approx(0.45, rel=1e-15)
    assert nadam_momentum(10**6, 0.9, 0.004) == pytest.approx(0.9, rel=1e-15)


def test_two_steps_by_hand():
    # μ = 0.5, 0.8, 0.9; Πμ = 0.5, 0.4, 0.36
    # m = 1, v = 1, v̂ = 4:    m̄ = 0.8·1/(1 − 0.4) + 0.5·2/(1 − 0.5) = 4/3 + 2 = 10/3
    #                          w = 1 − 0.1·(10/3)/(2 + 1) = 0.888888…
    # m = 1, v = 1, v̂ = 16/7: m̄ = 0.9·1/(1 − 0.36) + 0.2·1/(1 − 0.4) = 1.40625 + 1/3 = 1.739583…
    #                          w = 0.888888 − 0.1·1.739583/(4/√7 + 1) = 0.819634…
    w, m, v = nadam(1.0, 2.0, 0.0, 0.0, 1, 0.5, 0.8, 0.5, 0.1, 0.5, 0.75, 1.0)
    assert (w, m, v) == pytest.approx((0.8888888888888888, 1.0, 1.0), rel=1e-15)
    second = nadam(w, 1.0, m, v, 2, 0.8, 0.9, 0.4, 0.1, 0.5, 0.75, 1.0)
    assert second == pytest.approx((0.8196340421538025, 1.0, 1.0), rel=1e-15)


def test_all_kinds_agree(agree):
    hyper = (0.1, 0.9, 0.999, 1e-8)
    agree(nadam, [(1, 0.45, 0.46, 0.45, *hyper), (2, 0.46, 0.47, 0.207, *hyper)])


def nadam_path(gradients, w, lr, beta1, beta2, eps, decay):
    m = v = np.zeros_like(w)
    path, mu_product = [], 1.0
    for t, g in enumerate(gradients, 1):
        mu = nadam_momentum(t, beta1, decay)
        mu_next = nadam_momentum(t + 1, beta1, decay)
        mu_product *= mu
        w, m, v = nadam(w, g, m, v, t, mu, mu_next, mu_product, lr, beta1, beta2, eps)
        path.append(w)
    return np.array(path)


@pytest.mark.parametrize("decay", [0.004, 0.5])
def test_follows_torch(gradients, start, torch_path, decay):
    expected = torch_path("NAdam", lr=0.01, betas=(0.9, 0.999), eps=1e-3, momentum_decay=decay)
    got = nadam_path(gradients, start, 0.01, 0.9, 0.999, 1e-3, decay)
    # torch keeps Πμ in float32: 10⁻⁷ of a step, so a weight near 0 needs an absolute limit.
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
