import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thalweg.jobs.linear import ready_linear, train_linear
from thalweg.jobs.rows import rows_of
from thalweg.jobs.source import table_of
from thalweg.runs.estimator import estimator_of
from thalweg.runs.job import Job


@pytest.mark.parametrize(
    ("source", "options", "kind", "fits_alike"),
    [
        ("@cancer", {"standardize": True}, "LogisticRegression", False),
        ("@iris", {"l2": "0.1"}, "LogisticRegression", True),
        ("@iris", {"l2": "0", "l1": "0.05"}, "LogisticRegression", True),
        ("@diabetes", {"l2": "0.1"}, "Ridge", True),
        ("@diabetes", {"l2": "0", "l1": "0.1"}, "Lasso", True),
        ("@diabetes", {"l2": "0.1", "l1": "0.1"}, "ElasticNet", True),
        ("@diabetes", {"loss": "huber", "l2": "0.1"}, "HuberRegressor", False),
        ("@cancer", {"loss": "squared-hinge", "standardize": True}, "LinearSVC", False),
    ],
)
def test_it_predicts_what_the_model_does(source, options, kind, fits_alike):
    job = Job(source, tol=1e-8, **options)
    table = table_of(job)
    rows = rows_of(job, table)
    trained = train_linear(
        job, ready_linear(job, rows, table.encoding), table.encoding, progress=False
    )
    fitted = estimator_of(trained.model, job, len(rows.y), trained.run)
    assert type(fitted).__name__ == kind
    check_is_fitted(fitted)
    assert fitted.feature_names_in_.tolist() == table.feature_names
    X = pl.DataFrame(rows.X, schema=table.feature_names)
    values, odds = trained.model.answers(rows.X)
    expected = np.asarray(trained.model.classes)[values] if trained.model.classes else values
    told = fitted.predict(X)
    if trained.model.classes:
        assert told.tolist() == expected.tolist()
    else:
        assert told == pytest.approx(expected)
    if odds is not None:
        assert fitted.predict_proba(X) == pytest.approx(odds)
    if fits_alike:
        y = np.asarray(trained.model.classes)[rows.y] if trained.model.classes else rows.y
        again = clone(fitted).set_params(max_iter=100_000).fit(X, y)
        if odds is None:
            assert again.coef_ == pytest.approx(fitted.coef_, rel=1e-2, abs=1e-2)
        else:  # the order of scikit-learn's classes is that of their names
            order = [again.classes_.tolist().index(name) for name in trained.model.classes]
            assert again.predict_proba(X)[:, order] == pytest.approx(odds, abs=1e-3)
