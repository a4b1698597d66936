"""LassoCV: the elastic net's choice with nothing but l1."""

import numpy as np
from sklearn.datasets import load_diabetes

import thalweg as tw


def test_it_is_the_elastic_net_with_nothing_but_l1():
    X, y = load_diabetes(return_X_y=True)
    lasso = tw.LassoCV(alphas=15, rule="one-standard-error").fit(X, y)
    net = tw.ElasticNetCV(alphas=15, l1_ratio=1.0, rule="one-standard-error").fit(X, y)
    assert lasso.alpha_ == net.alpha_
    for name in ("alphas_", "mse_path_", "coef_", "out_of_fold_", "gaps_"):
        np.testing.assert_array_equal(getattr(lasso, name), getattr(net, name))
    assert not hasattr(lasso, "l1_ratio_")
    assert lasso.choice_.penalty == {"alpha": lasso.alpha_}


def test_one_standard_error_keeps_fewer_coefficients():
    X, y = load_diabetes(return_X_y=True)
    best, simple = (tw.LassoCV(rule=rule).fit(X, y) for rule in ("best", "one-standard-error"))
    assert np.count_nonzero(simple.coef_) < np.count_nonzero(best.coef_)
