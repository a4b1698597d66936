"""LogisticRegressionCV: scores of every fold by hand, the choice, and scikit-learn's shapes."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

import thalweg as tw

CS = [0.01, 1.0, 100.0]


def data(classes=2, n=90):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) + 1.0
    z = X @ [1.0, -2.0, 0.5, 0.0] + rng.logistic(size=n)
    names = np.array(["no", "so", "yes"])
    return X, names[np.digitize(z, [-2.0, 0.5])] if classes == 3 else np.where(z > 0, "yes", "no")


def theirs(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sklearn.linear_model.LogisticRegressionCV(**options)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scores_of_folds_are_those_of_fits_of_their_own(classes, fit_intercept):
    X, y = data(classes)
    s = np.random.default_rng(1).random(len(y)) + 0.5
    ratios, cv = [0.0, 0.5], StratifiedKFold(3)
    model = tw.LogisticRegressionCV(
        Cs=CS, l1_ratios=ratios, cv=cv, tol=1e-11, scoring="neg_log_loss",
        fit_intercept=fit_intercept, use_legacy_attributes=False, max_iter=1000,
    ).fit(X, y, s)  # fmt: skip
    slow, left = np.empty((3, 2, 3)), np.empty((len(y), classes, 2, 3))
    for f, (train, test) in enumerate(cv.split(X, y)):
        for r, ratio in enumerate(ratios):
            for k, C in enumerate(CS):
                one = tw.LogisticRegression(
                    C=C, l1_ratio=ratio, tol=1e-11, fit_intercept=fit_intercept, max_iter=1000
                ).fit(X[train], y[train], s[train])
                left[test, :, r, k] = one.predict_proba(X[test])
                slow[f, r, k] = -log_loss(y[test], left[test, :, r, k], sample_weight=s[test])
                kept = model.coefs_paths_[f, r, k]
                np.testing.assert_allclose(kept[:, :4], one.coef_, atol=1e-4)
    np.testing.assert_allclose(model.scores_, slow, atol=1e-5)
    means = slow.mean(axis=0)
    r, k = np.unravel_index(np.argmax(means), means.shape)
    assert (model.l1_ratio_, model.C_) == (ratios[r], CS[k])
    assert model.choice_.score == pytest.approx(means[r, k], abs=1e-5)
    assert model.choice_.error == pytest.approx(slow[:, r, k].std(ddof=1) / 3**0.5, rel=1e-3)
    np.testing.assert_allclose(model.out_of_fold_, left[:, :, r, k], atol=1e-5)
    one = tw.LogisticRegression(
        C=CS[k], l1_ratio=ratios[r], tol=1e-11, fit_intercept=fit_intercept, max_iter=1000
    ).fit(X, y, s)
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, one.intercept_, atol=1e-5)
    assert model.certificate_.holds
    assert model.gaps_.shape == (3, 2, 3)
    assert model.gaps_.max() <= 1e-11


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratios", [None, [0.0]])
@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("refit", [True, False])
def test_attributes_are_scikit_learns(classes, ratios, is_old, refit):
    X, y = data(classes)
    asked = {
        "Cs": 4, "cv": 3, "l1_ratios": ratios, "use_legacy_attributes": is_old, "refit": refit,
        "scoring": "neg_log_loss",
    }  # fmt: skip
    ours = tw.LogisticRegressionCV(**asked, tol=1e-11).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = theirs(**asked, tol=1e-8, solver="newton-cholesky").fit(X, y)
    for name in ("Cs_", "C_", "l1_ratios_", "coef_", "intercept_"):
        mine, given = (np.asarray(getattr(each, name)) for each in (ours, other))
        assert mine.shape == given.shape, name
        if given.dtype != object:
            np.testing.assert_allclose(mine, given, atol=1e-4, err_msg=name)
    for name in ("scores_", "coefs_paths_"):
        mine, given = getattr(ours, name), getattr(other, name)
        assert type(mine) is type(given)
        parts = [(mine[key], given[key]) for key in given] if is_old else [(mine, given)]
        for one, two in parts:
            np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-3, err_msg=name)
    assert ours.n_iter_.shape == other.n_iter_.shape
    assert ours.score(X, y) == pytest.approx(other.score(X, y), abs=1e-6)


def test_the_strongest_penalty_within_one_error():
    X, y = data(n=60)
    best, simple = (
        tw.LogisticRegressionCV(Cs=20, scoring="neg_log_loss", rule=rule).fit(X, y)
        for rule in ("best", "one-standard-error")
    )
    assert simple.choice_.best_penalty == best.choice_.penalty
    assert simple.C_[0] < best.C_[0]
    assert simple.choice_.score >= best.choice_.score - best.choice_.error
    assert "the strongest penalty within one standard error of the best" in str(simple.choice_)


def test_storage_and_weights_of_classes_change_nothing_else():
    X, y = data()
    asked = {"Cs": CS, "cv": 3, "class_weight": "balanced", "tol": 1e-11}
    dense = tw.LogisticRegressionCV(**asked).fit(X, y)
    sparse = tw.LogisticRegressionCV(**asked).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    counts = {name: np.sum(y == name) for name in ("no", "yes")}
    asked["class_weight"] = {name: len(y) / (2 * count) for name, count in counts.items()}
    np.testing.assert_allclose(tw.LogisticRegressionCV(**asked).fit(X, y).coef_, dense.coef_)


def test_accuracy_is_what_scores_by_default():
    X, y = data()
    model = tw.LogisticRegressionCV(Cs=CS, cv=3).fit(X, y)
    found = model.scores_["yes"]
    train, test = next(iter(StratifiedKFold(3).split(X, y)))
    one = tw.LogisticRegression(C=CS[0]).fit(X[train], y[train])
    assert found[0, 0] == accuracy_score(y[test], one.predict(X[test]))
    assert "the accuracy of 3 folds" in str(model.choice_)


def test_a_class_that_a_fold_has_not_seen_has_no_chance_there():
    X, y = data(classes=3)
    order = np.argsort(y, kind="stable")  # the last fold holds the third class alone
    X, y = X[order], y[order]
    last = int(np.flatnonzero(y == "yes")[0])
    folds = [(np.arange(last), np.arange(last, len(y)))]
    model = tw.LogisticRegressionCV(Cs=[1.0], cv=folds).fit(X, y)
    assert model.classes_.tolist() == ["no", "so", "yes"]
    assert model.out_of_fold_[last:, 2].max() < 1e-3
    assert model.scores_["yes"].ravel().tolist() == [0.0]


def test_by_liblinear_the_intercept_is_penalised():
    X, y = data()
    asked = {"solver": "liblinear", "intercept_scaling": 3.0, "tol": 1e-11}
    model = tw.LogisticRegressionCV(Cs=CS, cv=3, scoring="neg_log_loss", **asked).fit(X, y)
    one = tw.LogisticRegression(C=model.C_[0], **asked).fit(X, y)
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, one.intercept_, atol=1e-5)


@pytest.mark.parametrize(("penalty", "ratio"), [("l1", 1.0), ("l2", 0.0)])
def test_the_old_penalty_is_read(penalty, ratio):
    X, y = data()
    with pytest.warns(FutureWarning, match="old way to write l1_ratios"):
        old = tw.LogisticRegressionCV(Cs=CS, penalty=penalty).fit(X, y)
    new = tw.LogisticRegressionCV(Cs=CS, l1_ratios=[ratio]).fit(X, y)
    np.testing.assert_array_equal(old.coef_, new.coef_)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"l1_ratios": []}, "l1_ratios must be an array-like of numbers between 0 and 1"),
        ({"l1_ratios": [0.5, 2.0]}, r"l1_ratios must be .*got \[0.5, 2.0\]: use l1_ratios="),
        ({"Cs": [1.0, -1.0]}, r"Cs must be .*got \[1.0, -1.0\]: use Cs=10"),
        ({"Cs": []}, "Cs must be a number of Cs or a list"),
        ({"dual": True}, "dual must not be True here"),
    ],
)
def test_bad_input_is_a_sentence(asked, sentence):
    with pytest.raises(tw.InputError, match=sentence):
        tw.LogisticRegressionCV(**asked).fit(*data())


def test_what_does_not_arrive_is_told_and_what_was_chosen_has_no_summary():
    X, y = data()
    with pytest.warns(ConvergenceWarning) as told:
        tw.LogisticRegressionCV(Cs=[1e4], l1_ratios=[0.5], max_iter=1, method="saga").fit(X, y)
    of_folds, of_all = (str(each.message) for each in told)
    assert of_folds.startswith("5 of 5 fits along the paths did not reach tol=1e-06, see gaps_")
    assert of_all.startswith("The iteration limit came before the tolerance")
    model = tw.LogisticRegressionCV(Cs=CS).fit(X, y)
    with pytest.raises(tw.InputError, match="that was chosen: use LogisticRegression"):
        model.summary(X, y)
