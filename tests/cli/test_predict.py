import csv
import io

import numpy as np
import pytest

import thalweg as tw
from command import answer, sentence, thalweg


def test_csv_on_stdout_and_the_score_on_stderr(made):
    done = thalweg("predict", made / "newton", "@cancer")
    assert done.exit_code == 0
    head, *rows = csv.reader(io.StringIO(done.stdout))
    assert head == ["diagnosis", "p(malignant)", "p(benign)"]
    odds = np.array([row[1:] for row in rows], dtype=float)
    assert len(rows) == 569
    assert odds.sum(axis=1) == pytest.approx(np.ones(569))
    assert [row[0] for row in rows] == [head[1 + k][2:-1] for k in odds.argmax(axis=1)]
    table = tw.read("@cancer")
    right = np.mean([row[0] == table.class_names[y] for row, y in zip(rows, table.y, strict=True)])
    assert f"score: accuracy {right:.4g}" in done.stderr


def test_to_a_file(made, tmp_path):
    file = tmp_path / "p.csv"
    done = thalweg("predict", made / "newton", "@cancer", "--out", file)
    assert done.stdout == ""
    assert f"written: 569 predictions are in {file}" in done.stderr
    assert file.read_text() == thalweg("predict", made / "newton", "@cancer").stdout


def test_through_a_link(made, tmp_path):
    (tmp_path / "link.csv").symlink_to("p.csv")
    assert (
        thalweg("predict", made / "newton", "@cancer", "--out", tmp_path / "link.csv").exit_code
        == 0
    )
    assert (tmp_path / "link.csv").is_symlink()
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 570
    assert thalweg("predict", made / "newton", "@cancer", "--out", "/dev/null").exit_code == 0
    assert "No space left" in sentence("predict", made / "newton", "@cancer", "--out", "/dev/full")


def test_json(made):
    found = answer("predict", made / "race", "@cancer")
    assert found["classes"] == ["malignant", "benign"]
    assert len(found["predictions"]) == len(found["probabilities"]) == found["rows"] == 569
    assert 0.9 < found["scores"]["accuracy"] <= 1.0


def test_columns_by_name_and_without_a_target(made, tmp_path):
    table = tw.read("@cancer")
    order = np.random.default_rng(0).permutation(30)
    file = tmp_path / "new.csv"
    names = [table.feature_names[j] for j in order]
    lines = [",".join(names), *(",".join(map(repr, row)) for row in table.X[:5, order].tolist())]
    file.write_text("\n".join(lines))
    done = thalweg("predict", made / "newton", file)
    assert "score" not in done.stderr
    whole = thalweg("predict", made / "newton", "@cancer").stdout.splitlines()
    for line, same in zip(done.stdout.splitlines()[1:], whole[1:6], strict=True):
        assert line.split(",")[0] == same.split(",")[0]
        assert float(line.split(",")[1]) == pytest.approx(float(same.split(",")[1]))


def test_a_network(made):
    found = answer("predict", made / "network", "@iris")
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    told = [found["classes"][k] for k in np.argmax(found["probabilities"], axis=1)]
    assert found["predictions"] == told


def test_bad_input(made, tmp_path):
    assert "does not exist" in sentence("predict", tmp_path / "no", "@cancer")
    assert "column" in sentence("predict", made / "newton", "@iris")
    assert "cannot be written" in sentence(
        "predict", made / "newton", "@cancer", "--out", "/proc/no/p.csv"
    )
