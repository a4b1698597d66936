import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.jobs.linear import loss_of, problem_of, ready_linear, train_linear
from thalweg.jobs.rows import rows_of
from thalweg.runs.job import Job


def asked(source, **options):
    job = Job(source, **options)
    table = tw.read(source)
    return job, rows_of(job, table), table.encoding


@pytest.mark.parametrize(
    ("source", "loss"),
    [("@cancer", "logistic"), ("@iris", "multinomial"), ("@diabetes", "squared")],
)
def test_the_target_decides_the_loss(source, loss):
    job, _, encoding = asked(source)
    assert loss_of(job, encoding) == loss
    assert loss_of(job.changed(loss="huber"), encoding) == "huber"


def test_the_problem_is_what_was_asked():
    job, rows, encoding = asked("@cancer", l1="0.5/n", l2="0.25", standardize=True, intercept=False)
    problem = problem_of(job, rows, encoding)
    assert (problem.l1, problem.l2) == (0.5 / 569, 0.25)
    assert problem.standardize
    assert not problem.fit_intercept


def test_a_model_in_the_units_of_the_data():
    job, rows, encoding = asked("@cancer", standardize=True)
    problem = ready_linear(job, rows, encoding)
    trained = train_linear(job, problem, encoding, progress=False)
    assert trained.run.converged
    z = trained.model.scores(rows.X)
    value = np.log1p(np.exp(-np.where(rows.y == 1, z, -z))).mean()
    assert value == pytest.approx(trained.run.value - problem.ridge(trained.run.w[:30]), rel=1e-9)
    assert trained.model.classes == ("malignant", "benign")


def test_what_was_predicted_stands_beside_what_a_given_method_took():
    job, rows, encoding = asked("@cancer", standardize=True, method="lbfgs[memory=5]")
    trained = train_linear(job, ready_linear(job, rows, encoding), encoding, progress=False)
    assert trained.run.plan.row("lbfgs").actual_iterations == trained.run.iterations


def test_a_plan_in_the_folder_is_followed(tmp_path):
    job, rows, encoding = asked("@cancer", standardize=True)
    problem = ready_linear(job, rows, encoding)
    first = train_linear(job, problem, encoding, folder=tmp_path, progress=False)
    (tmp_path / "checkpoint.npz").unlink()
    again = train_linear(job, problem, encoding, folder=tmp_path, progress=False)
    assert again.run.plan.seconds == first.run.plan.seconds  # not made anew
    assert again.run.w.tobytes() == first.run.w.tobytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "sagg"}, "did you mean"),
        ({"method": "lbfgs", "l1": "0.1"}, "needs a smooth objective"),
        ({"method": "cholesky"}, "needs the squared loss"),
        ({"method": "sag[stepp=1]"}, "stepp"),
    ],
)
def test_a_method_that_cannot_is_refused_before_anything_runs(options, sentence):
    with pytest.raises(InputError, match=sentence):
        ready_linear(*asked("@cancer", **options))


def test_the_model_knows_names_and_what_its_columns_vary_by(tmp_path):
    (tmp_path / "t.csv").write_text(
        "town,age,metal\n"
        + "".join(f"{'ABBB'[k % 4]},{k % 9},{'gold' if k < 3 else 'iron'}\n" for k in range(120))
    )
    table = tw.read(tmp_path / "t.csv", "metal")
    job = Job(str(tmp_path / "t.csv"), "metal")
    ready = ready_linear(job, rows_of(job, table), table.encoding)
    trained = train_linear(job, ready, table.encoding, progress=False)
    assert trained.model.features == ("town=A", "town=B", "age")
    mean, deviation = table.mean_and_spread
    np.testing.assert_allclose(trained.model.means, mean, rtol=1e-12)
    np.testing.assert_allclose(trained.model.deviations, deviation, rtol=1e-12)
    assert any("Class 'gold' has 2.50%" in finding.claim for finding in trained.findings)
