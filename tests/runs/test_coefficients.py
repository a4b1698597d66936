import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import thalweg as tw
from thalweg.jobs.linear import ready_linear, train_linear
from thalweg.jobs.rows import rows_of
from thalweg.runs.coefficients import coefficients_of, outputs_of
from thalweg.runs.job import Job
from thalweg.runs.linear_model import LinearModel
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding


def trained(source, **options):
    job = Job(source, tol=1e-10, **options)
    table = tw.read(source)
    rows = rows_of(job, table)
    ready = ready_linear(job, rows, table.encoding)
    return table, train_linear(job, ready, table.encoding, progress=False).model


def test_those_of_a_fit_by_hand_on_standardised_columns():
    table, model = trained("@diabetes", standardize=True, l2="1/n")
    scaled = (table.X - table.X.mean(0)) / table.X.std(0)
    by_hand = Ridge(alpha=1.0).fit(scaled, table.y).coef_
    found = coefficients_of(model, table.encoding)
    assert [each.size for each in found] == sorted((each.size for each in found), reverse=True)
    for each in found:
        j = table.feature_names.index(each.feature)
        assert each.per_deviation == pytest.approx(by_hand[j], rel=1e-6)
        assert each.per_unit == pytest.approx(by_hand[j] / table.X[:, j].std(), rel=1e-6)
    assert coefficients_of(model, table.encoding, most=3) == found[:3]


def test_one_a_class_of_several():
    table, model = trained("@iris", standardize=True, l2="0.01")
    scaled = (table.X - table.X.mean(0)) / table.X.std(0)
    theirs = LogisticRegression(C=1 / (0.01 * 150), tol=1e-10, max_iter=10_000).fit(scaled, table.y)
    found = coefficients_of(model, table.encoding)
    assert len(found) == 12
    for each in found:
        j, k = table.feature_names.index(each.feature), table.class_names.index(each.output)
        assert each.per_deviation == pytest.approx(theirs.coef_[k, j], abs=1e-4)


def test_a_category_is_measured_against_the_most_frequent():
    encoding = Encoding((Column("age"), Column("town", "text", ("Bern", "Zug", "a=b"))))
    share = np.array([0.2, 0.5, 0.3])
    model = LinearModel(
        np.array([2.0, 1.0, -3.0, 0.5]), np.array(0.0), np.empty(0, np.int64), "squared", (),
        tuple(encoding.feature_names), np.array([40.0, *share]),
        np.array([5.0, *np.sqrt(share * (1 - share))]),
    )  # fmt: skip
    found = {each.feature: each for each in coefficients_of(model, encoding)}
    assert set(found) == {"age", "town=Bern", "town=a=b"}
    assert found["age"][1:5] == ("", "", 2.0, 10.0)
    assert found["town=Bern"][1:5] == ("", "Zug", 4.0, pytest.approx(4.0 * 0.4))
    assert found["town=a=b"].reference == "Zug"
    assert found["town=a=b"].per_unit == 3.5


def test_what_a_category_says_is_what_predictions_differ_by(tmp_path):
    rng = np.random.default_rng(0)
    town = rng.choice(["A", "B", "C"], 300, p=[0.2, 0.5, 0.3])
    y = np.select([town == "A", town == "B"], [1.0, 2.0], 4.0) + 0.1 * rng.normal(size=300)
    source = {"town": town.tolist(), "y": y.tolist()}
    table = tw.read(source, "y")
    problem = tw.LinearProblem(table.X, table.y, l2=1e-3)
    w, b = problem.coefficients(tw.minimize(problem, tol=1e-10, progress=False).w)
    mean, deviation = table.mean_and_spread
    names = tuple(table.feature_names)
    model = LinearModel(w, b, np.empty(0, np.int64), "squared", (), names, mean, deviation)
    found = {each.feature: each.per_unit for each in coefficients_of(model, table.encoding)}
    told = model.answers(np.eye(3)).values
    assert found == pytest.approx({"town=A": told[0] - told[1], "town=C": told[2] - told[1]})


def test_models_of_first_versions_are_sorted_by_unit_and_have_no_reference():
    encoding = Encoding((Column("age"), Column("town", "text", ("Bern", "Zug"))))
    w = np.array([0.1, 1.0, -3.0])
    model = LinearModel(w, np.array(0.0), np.array([0, 1]), "logistic", ("no", "yes"))
    found = coefficients_of(model, encoding)
    assert [(each.feature, each.per_unit) for each in found] == [
        ("town=Zug", -3.0), ("town=Bern", 1.0), ("age", 0.1),
    ]  # fmt: skip
    assert all(each.per_deviation is None and each.reference == "" for each in found)
    assert {each.output for each in found} == {"yes"}


def test_the_class_of_each_score():
    two = LinearModel(np.ones(1), np.array(0.0), np.array([2, 0]), "logistic", ("a", "b", "c"))
    assert outputs_of(two) == ("a",)
    three = two._replace(coefficients=np.ones((1, 2)), loss="multinomial")
    assert outputs_of(three) == ("c", "a")
    assert outputs_of(two._replace(codes=np.empty(0, np.int64))) == ("",)
