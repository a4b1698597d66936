import numpy as np
import pytest

from thalweg.rules import plain_step


def test_two_steps_by_hand():
    # 1 − 0.1·2 = 0.8; 0.8 − 0.1·1 = 0.7
    w = plain_step(1.0, 2.0, 0.1)
    assert w == pytest.approx(0.8, rel=1e-15)
    assert plain_step(w, 1.0, 0.1) == pytest.approx(0.7, rel=1e-15)


def test_all_kinds_agree(agree):
    agree(plain_step, [(0.1,)] * 3)


def test_follows_torch(follow, torch_path):
    np.testing.assert_allclose(
        follow(plain_step, 0.03, states=0), torch_path("SGD", lr=0.03), rtol=1e-6
    )
