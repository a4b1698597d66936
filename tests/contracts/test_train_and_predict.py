"""`train`, then `predict` on rows that were held out, whatever shape they come in."""

import csv
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thalweg as tw
from thalweg.cli.program import main
from thalweg.runs.saved import load

TRAIN = "train rows.csv --target sold --impute median --standardize --l2 0.01 --tol 1e-12"


def said(*typed):
    result = CliRunner().invoke(main, typed)
    return result.exit_code, result.stdout, result.stderr


def predicted(data):
    """Classes and the probability of the second, by the command; and its notes."""
    code, out, err = said("predict", "run", data)
    assert code == 0, err
    head, *rows = csv.reader(io.StringIO(out))
    assert head == ["sold", "p(no)", "p(yes)"]
    return [row[0] for row in rows], np.array([float(row[2]) for row in rows]), err


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """A table with text and gaps, its last rows held out, and a run on the others."""
    place = tmp_path_factory.mktemp("trained")
    rng = np.random.default_rng(0)
    n = 300
    size = rng.normal(100.0, 30.0, n)
    town = rng.choice(["Aarau", "Bern", "Chur"], n)
    age = rng.integers(0, 90, n).astype(float)
    score = (size - 100) / 30 + (town == "Bern") - age / 50 + rng.normal(0, 0.5, n)
    frame = pl.DataFrame(
        {
            "size": size,
            "town": town,
            "age": [None if k % 17 == 0 else value for k, value in enumerate(age)],
            "garden": rng.random(n) < 0.4,
            "sold": np.where(score > -0.5, "yes", "no"),
        }
    )
    rows, held = frame[:240], frame[240:]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        rows.write_csv("rows.csv")
        assert said(*TRAIN.split(), "--out", "run", "--no-report")[0] == 0
        yield rows, held


@pytest.fixture
def held(frames):
    frames[1].write_csv("held.csv")
    return frames[1]


def test_held_out_rows_are_predicted_as_by_the_estimator_in_memory(frames, held):
    names, odds, notes = predicted("held.csv")
    table = tw.read(frames[0], "sold", impute="median")
    X = table.encoding.apply(held)
    problem = tw.LinearProblem(table.X, table.y, "logistic", l2=0.01, standardize=True)
    w, b = problem.coefficients(tw.minimize(problem, "newton", tol=1e-12, progress=False).w)
    by_hand = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    np.testing.assert_allclose(odds, by_hand, rtol=1e-6)
    assert names == np.where(by_hand > 0.5, "yes", "no").tolist()
    saved = load("run")
    ours = saved.estimator().predict_proba(saved.encoding.frame(held))
    np.testing.assert_allclose(odds, ours[:, 1], rtol=1e-14)
    dense = X.toarray() if hasattr(X, "toarray") else X
    full = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    theirs = LogisticRegression(C=1 / (0.01 * len(full)), tol=1e-10, max_iter=10_000)
    theirs = make_pipeline(StandardScaler(), theirs).fit(full, table.y)
    np.testing.assert_allclose(odds, theirs.predict_proba(dense)[:, 1], rtol=1e-4)
    score = np.mean(np.array(names) == held["sold"].to_numpy())
    assert f"accuracy {score:.4g}" in notes


def test_columns_in_any_order_without_the_target_and_with_others(held):
    names, odds, _ = predicted("held.csv")
    held.select("garden", "age", "town", "size").write_csv("reordered.csv")
    again = predicted("reordered.csv")
    assert again[0] == names
    np.testing.assert_array_equal(again[1], odds)
    assert "score" not in again[2]
    held.with_columns(colour=pl.lit("red"), number=1).write_csv("more.csv")
    again = predicted("more.csv")
    np.testing.assert_array_equal(again[1], odds)
    assert "'colour', 'number' were not there at first and were left out" in again[2]


def test_a_category_that_is_new_counts_for_nothing_and_is_told(held):
    held.with_columns(town=pl.lit("Davos")).write_csv("unseen.csv")
    _, odds, notes = predicted("unseen.csv")
    assert "'town' has categories that were not there at first ('Davos') in 60 rows" in notes
    saved = load("run")
    X = saved.encoding.apply(held)
    X = X.toarray() if hasattr(X, "toarray") else X
    X[:, [name.startswith("town=") for name in saved.encoding.feature_names]] = 0.0
    X = pl.DataFrame(X, schema=saved.encoding.feature_names)
    np.testing.assert_allclose(odds, saved.estimator().predict_proba(X)[:, 1], rtol=1e-12)


def test_a_column_that_is_missing_is_an_error_that_names_it(held):
    held.drop("age").write_csv("less.csv")
    code, out, err = said("predict", "run", "less.csv", "--out", "predictions.csv")
    assert (code, out) == (2, "")
    assert "'age' missing" in err
    assert not Path("predictions.csv").exists()


def test_one_row_and_a_file_of_another_kind(held):
    _, odds, _ = predicted("held.csv")
    held[:1].write_csv("one.csv")
    assert predicted("one.csv")[1].tolist() == odds[:1].tolist()
    held.write_parquet("held.parquet")
    np.testing.assert_array_equal(predicted("held.parquet")[1], odds)
