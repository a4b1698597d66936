import numpy as np
import pytest

from thalweg.estimators.walk import Walk, mean_of_best, new_shapes, old_shapes

CS, RATIOS = np.array([0.1, 1.0, 10.0]), [0.0, 1.0]


def walked(rows):
    """Two folds of two ratios, every number another one."""
    rng = np.random.default_rng(0)
    walks = [
        [Walk(rng.random((3, rows, 5)), rng.integers(9, size=3), rng.random(3), np.ones(3, bool))
         for _ in RATIOS]
        for _ in range(2)
    ]  # fmt: skip
    return walks, rng.random((2, 2, 3))


def test_the_mean_of_the_folds_is_of_each_at_its_best():
    walks, scores = walked(1)
    scores[0, 1, 2] = scores[1, 0, 1] = 2.0
    W, C, ratio = mean_of_best(walks, scores, CS, RATIOS)
    np.testing.assert_array_equal(W, (walks[0][1].W[2] + walks[1][0].W[1]) / 2)
    assert (C, ratio) == (5.5, 0.5)


@pytest.mark.parametrize("rows", [1, 3])
def test_shapes_hold_the_same_numbers(rows):
    classes = np.arange(max(rows, 2))
    walks, scores = walked(rows)
    new = new_shapes(walks, scores, (1.0, 0.5))
    old, plain = (old_shapes(new, classes, is_plain) for is_plain in (False, True))
    told = list(classes[1:] if rows == 1 else classes)
    assert list(old["scores_"]) == list(plain["coefs_paths_"]) == told
    for f in range(2):
        for r in range(2):
            for k in range(3):
                assert new["n_iter_"][f, r, k] == walks[f][r].iterations[k]
                assert old["n_iter_"][0, f, k, r] == walks[f][r].iterations[k]
                for c, each in enumerate(told):
                    W = walks[f][r].W[k, c]
                    np.testing.assert_array_equal(new["coefs_paths_"][f, r, k, c], W)
                    np.testing.assert_array_equal(old["coefs_paths_"][each][f, k, r], W)
                    assert old["scores_"][each][f, k, r] == scores[f, r, k]
                    if r == 0:
                        np.testing.assert_array_equal(plain["coefs_paths_"][each][f, k], W)
                        assert plain["scores_"][each][f, k] == scores[f, r, k]
    assert (new["C_"], new["l1_ratio_"]) == (1.0, 0.5)
    assert old["C_"].tolist() == [1.0] * len(told)
