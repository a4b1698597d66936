import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.jobs.source import MOST_SCALES, fingerprint, placed, scales, table_of, task_of
from thalweg.runs.job import Job


def test_the_loss_says_what_the_target_is(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,y\n" + "".join(f"{k},{k % 3}\n" for k in range(9)))
    assert table_of(Job(str(file), "y")).class_names == ["0", "1", "2"]
    assert table_of(Job(str(file), "y", loss="squared")).class_names is None
    assert task_of(Job("@iris", recipe={"loss": "squared"})) == "regression"
    assert task_of(Job("@iris", recipe={})) is None
    given = Job(str(file), "y", {"task": "classification"}, loss="squared")
    assert table_of(given).class_names is not None


def test_a_fingerprint_is_of_the_numbers():
    X, y = np.arange(6.0).reshape(2, 3), np.zeros(2)
    first = fingerprint(X, y)
    assert fingerprint(X.copy(), y.copy()) == first
    changed = X.copy()
    changed[1, 2] += 1e-12
    others = [
        fingerprint(changed, y),
        fingerprint(X, y + 1),
        fingerprint(X.reshape(3, 2), y),
        fingerprint(X.astype(np.float32), y),
        fingerprint(scipy.sparse.csr_array(X), y),
    ]
    assert len({first, *others}) == 6


def test_a_path_is_meant_from_where_it_was_typed():
    assert placed("@iris", "/data") == "@iris"
    assert placed("a.csv", "/data") == "/data/a.csv"
    assert placed("/b/a.csv", "/data") == "/b/a.csv"


def test_scales_of_many_features_are_the_most_extreme():
    rng = np.random.default_rng(0)
    wanted = np.geomspace(1e-3, 1e3, 3 * MOST_SCALES)
    table = tw.read({f"f{j}": scale * rng.normal(size=40) for j, scale in enumerate(wanted)})
    found = scales(table)
    assert len(found) == MOST_SCALES
    deviations = [deviation for _, _, deviation in found]
    assert deviations == sorted(deviations, reverse=True)
    assert found[0][0] in ("f599", "f598", "f597", "f596", "f595")
    name, mean, deviation = found[-1]
    column = table.X[:, table.feature_names.index(name)]
    assert (mean, deviation) == pytest.approx((column.mean(), column.std()))
