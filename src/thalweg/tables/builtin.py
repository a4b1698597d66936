"""Data that ships with scikit-learn, by name: @cancer, @diabetes, @digits, @iris, @wine.

Its files are read where they lie: importing scikit-learn takes a second, more than most commands
on these data. Numbers and names are those of its loaders.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thalweg.core.errors import InputError, suggest
from thalweg.tables.raw import Raw

MEASURED = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
    "concave points", "symmetry", "fractal dimension",
)  # fmt: skip


class Contents(NamedTuple):
    """What the files of one name hold."""

    X: np.ndarray  # float64[n, p]
    y: np.ndarray  # int64[n], or float64[n]
    class_names: list[str] | None


class Builtin(NamedTuple):
    """One name."""

    contents: Callable[[Path], Contents]  # of the folder with the files
    target: str
    names: tuple[str, ...]
    sample_shape: tuple[int, ...] = ()


def _with_header(file: str) -> Callable[[Path], Contents]:
    """Rows, columns and names of classes in the first line, the class in the last column."""

    def contents(folder: Path) -> Contents:
        text = (folder / file).read_text("utf-8").splitlines()
        rows = np.loadtxt(text[1:], delimiter=",")
        return Contents(rows[:, :-1], rows[:, -1].astype(np.int64), text[0].split(",")[2:])

    return contents


def _digits(folder: Path) -> Contents:
    rows = np.loadtxt(folder / "digits.csv.gz", delimiter=",")
    return Contents(rows[:, :-1], rows[:, -1].astype(np.int64), [str(k) for k in range(10)])


def _diabetes(folder: Path) -> Contents:
    """Columns of mean 0 and length 1, as the loader gives them."""
    X = np.loadtxt(folder / "diabetes_data_raw.csv.gz")
    X = (X - X.mean(axis=0)) / X.std(axis=0) / len(X) ** 0.5
    return Contents(X, np.loadtxt(folder / "diabetes_target.csv.gz"), None)


BUILTINS = {
    "@cancer": Builtin(
        _with_header("breast_cancer.csv"),
        "diagnosis",
        (
            *(f"mean {each}" for each in MEASURED),
            *(f"{each} error" for each in MEASURED),
            *(f"worst {each}" for each in MEASURED),
        ),
    ),
    "@diabetes": Builtin(
        _diabetes, "progression", ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    ),
    "@digits": Builtin(
        _digits,
        "digit",
        tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        (8, 8),
    ),
    "@iris": Builtin(
        _with_header("iris.csv"),
        "species",
        ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"),
    ),
    "@wine": Builtin(
        _with_header("wine_data.csv"),
        "cultivar",
        (
            "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols",
            "flavanoids", "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue",
            "od280/od315_of_diluted_wines", "proline",
        ),
    ),
}  # fmt: skip


def read_builtin(name: str, dtype: str | None = None) -> Raw:
    """Features with their names, and labels with theirs."""
    if name not in BUILTINS:
        raise InputError(f"source {name!r} is no built-in data: {suggest(name, BUILTINS)}")
    known = BUILTINS[name]
    sklearn = find_spec("sklearn")  # found, not imported
    assert sklearn is not None
    assert sklearn.origin is not None
    X, y, class_names = known.contents(Path(sklearn.origin).parent / "datasets" / "data")
    return Raw(
        np.ascontiguousarray(X, dtype or np.float64),
        "built-in",
        y=y,
        names=list(known.names),
        class_names=class_names,
        target=known.target,
        sample_shape=known.sample_shape,
    )
