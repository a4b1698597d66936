import csv
import re

import numpy as np

import thalweg as tw
from command import answer, sentence, thalweg


def test_what_is_kept_is_told_without_the_data(made):
    done = thalweg("explain", made / "newton", "--top", "3")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "coefficients  3 of 30, the largest first"
    saved = tw.load(made / "newton")
    for line, each in zip(lines[2:5], saved.coefficients(3), strict=True):
        assert line.startswith(each.feature)
        assert line.split()[-1] == f"{each.per_deviation:.4g}"
    kept = saved.explanation.importance
    assert f"5 times in {kept.rows} held out rows" in " ".join(done.stdout.split())
    assert kept.columns[0].column in done.stdout
    assert kept.columns[3].column not in done.stdout.partition("importance")[2]


def test_measured_anew_on_rows_that_are_given(made):
    found = answer("explain", made / "newton", "@cancer", "--repeats", "3")["importance"]
    assert (found["of"], found["rows"], found["repeats"]) == ("given", 569, 3)
    assert answer("explain", made / "newton", "--repeats", "4")["importance"]["repeats"] == 4
    means = [each["mean"] for each in found["columns"]]
    assert means == sorted(means, reverse=True)


def test_json_has_all_of_it(made):
    found = answer("explain", made / "race")
    assert len(found["coefficients"]) == len(found["importance"]["columns"]) == 30
    first = found["coefficients"][0]
    assert (first["class"], first["reference"], first["standard_error"]) == ("benign", None, None)
    assert found["run"] == str(tw.load(made / "race").best.folder)


def test_a_file_that_is_the_model(made, tmp_path):
    file = tmp_path / "c.csv"
    done = thalweg("explain", made / "newton", "--out", file)
    assert f"30 lines are in {file}" in done.stderr
    rows = list(csv.DictReader(file.read_text().splitlines()))
    w = {row["feature"]: float(row["per unit"]) for row in rows}
    model, table = tw.load(made / "newton").linear_model, tw.read("@cancer")
    z = table.X @ [w[name] for name in table.feature_names] + model.intercepts
    np.testing.assert_allclose(z, model.scores(table.X), rtol=1e-9)


def test_a_network_has_importance_alone(made, tmp_path):
    found = answer("explain", made / "network", "--out", tmp_path / "i.csv")
    assert found["coefficients"] == []
    columns = [each["column"] for each in found["importance"]["columns"]]
    assert {"petal length (cm)", "petal width (cm)"} & set(columns[:2])
    heads, *rows = csv.reader((tmp_path / "i.csv").read_text().splitlines())
    assert heads == ["column", "rise of log loss", "standard deviation"]
    assert [row[0] for row in rows] == columns
    assert "coefficients" not in thalweg("explain", made / "network").stdout


def test_a_category_says_against_which(tmp_path):
    lines = [f"{'ABB'[k % 3]},{(k * 7) % 10},{k % 3 + k % 10 / 10}" for k in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["town,=size,y", *lines]))
    done = thalweg(
        "train", tmp_path / "t.csv", "--target", "y", "--coefficients", "--no-report",
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert re.search(r"^town=A +B +-", done.stdout, re.M)
    assert "a category against the most frequent one" in " ".join(done.stdout.split())
    thalweg("explain", tmp_path / "run", "--out", tmp_path / "c.csv")
    assert "\n'=size,," in (tmp_path / "c.csv").read_text()


def test_a_training_tells_them_where_it_is_asked(runs, tmp_path):
    asked = ("@cancer", "--standardize", "--no-report", "--coefficients", "--out", tmp_path / "x")
    found = answer("train", *asked)
    assert len(found["coefficients"]) == 30
    again = thalweg("train", "--resume", runs / "stopped", "--coefficients", "--max-iter", "1")
    assert again.exit_code == 3
    assert "coefficients  20 of 30, the largest first" in again.stdout
    refused = sentence("train", "@iris", "--model", "mlp:4", "--coefficients")
    assert "thalweg explain RUN tells which columns matter to it" in refused


def test_bad_input(made, tmp_path):
    assert "does not exist" in sentence("explain", tmp_path / "no")
    assert "column" in sentence("explain", made / "newton", "@iris")
    assert "--repeats" in sentence("explain", made / "newton", "--repeats", "1")
    assert "cannot be written" in sentence("explain", made / "newton", "--out", "/proc/no/c.csv")
