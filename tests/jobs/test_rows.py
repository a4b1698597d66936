import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.jobs.rows import drawn, folds_of, rows_of
from thalweg.runs.job import Job


@pytest.fixture(scope="module")
def cancer():
    return tw.read("@cancer")


def test_without_validation_all_rows_are_trained_on_uncopied(cancer):
    rows = rows_of(Job("@cancer"), cancer)
    assert rows.X is cancer.X
    assert rows.held is None


def test_a_share_is_held_out_of_each_class(cancer):
    rows = rows_of(Job("@cancer", validation=0.25), cancer)
    assert len(rows.y) + len(rows.held.y) == cancer.rows
    for c in (0, 1):
        assert (rows.held.y == c).sum() == round(0.25 * (cancer.y == c).sum())
    together = np.vstack([rows.X, rows.held.X])
    assert sorted(map(tuple, together)) == sorted(map(tuple, cancer.X))


def test_the_seed_decides_which():
    y = np.arange(50.0)
    assert drawn(y, False, 0.2, 3).tolist() == drawn(y, False, 0.2, 3).tolist()
    assert drawn(y, False, 0.2, 3).tolist() != drawn(y, False, 0.2, 4).tolist()


def test_a_file_is_read_as_the_training_rows_were(tmp_path):
    (tmp_path / "a.csv").write_text("x,colour,y\n1,red,0.5\n2,blue,1.5\n3,red,2.5\n")
    (tmp_path / "b.csv").write_text("y,colour,x\n9.5,blue,7\n")
    table = tw.read(tmp_path / "a.csv", "y")
    rows = rows_of(Job("a.csv", "y", validation=str(tmp_path / "b.csv")), table)
    assert rows.held.y.tolist() == [9.5]
    assert dict(zip(table.feature_names, rows.held.X[0].tolist(), strict=True)) == {
        "x": 7.0, "colour=blue": 1.0, "colour=red": 0.0,
    }  # fmt: skip


def test_every_row_is_held_out_by_one_fold(cancer):
    parts = list(folds_of(Job("@cancer", folds=4), cancer))
    assert sorted(map(tuple, np.vstack([part.held.X for part in parts]))) == sorted(
        map(tuple, cancer.X)
    )
    assert all(len(part.y) + len(part.held.y) == cancer.rows for part in parts)


@pytest.mark.parametrize(
    ("job", "text", "sentence"),
    [
        (
            Job("t.csv", "y", folds=4),
            "x,y\n1,a\n2,a\n3,b\n4,b\n",
            "rows of the rarest class, 'a' with 2",
        ),
        (Job("t.csv", "y", folds=9), "x,y\n1,.1\n2,.2\n3,.3\n", "at most the number of rows, 3"),
        (Job("t.csv", "y", validation=0.01), "x,y\n1,.1\n2,.2\n3,.3\n", "rows on both sides"),
        (Job("t.csv", validation=0.5), "x,y\n1,.1\n2,.2\n3,.3\n", "target must be given"),
    ],
)
def test_bad_input(tmp_path, job, text, sentence):
    (tmp_path / "t.csv").write_text(text)
    table = tw.read(tmp_path / "t.csv", job.target)
    with pytest.raises(InputError, match=sentence):
        list(folds_of(job, table)) if job.folds else rows_of(job, table)
