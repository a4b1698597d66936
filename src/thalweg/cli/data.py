"""Data by name: built-in sets, and files that need no guessing.

    @cancer, @digits, @diabetes, @iris, @wine     of scikit-learn
    .npz                                          arrays X and y, as np.savez writes them
    .svmlight, .libsvm, .svm (also .gz, .bz2)     sparse rows with their labels
    .csv                                          a header, numbers, and the target named

Only the target may be text. Anything else is refused with what to do about it.
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.errors import InputError, suggest

BUILT_IN = {
    "@cancer": "load_breast_cancer",
    "@diabetes": "load_diabetes",
    "@digits": "load_digits",
    "@iris": "load_iris",
    "@wine": "load_wine",
}
KNOWN = "@cancer, @diabetes, @digits, @iris, @wine, .npz, .svmlight, .libsvm, .svm or .csv"
UNREADABLE = (OSError, EOFError, UnicodeDecodeError, csv.Error, zipfile.BadZipFile, zlib.error)
MOST_CLASSES = 20  # distinct whole numbers that count as classes


class Data(NamedTuple):
    """What was read."""

    X: Any  # float[n, p], or sparse
    y: np.ndarray  # [n]
    names: list[str] | None  # of the columns

    @property
    def loss(self) -> str:
        """The loss that the target asks for, as far as can be told from it."""
        distinct = np.unique(self.y)
        is_number = self.y.dtype.kind in "iuf"
        if is_number and (distinct.size > MOST_CLASSES or np.any(distinct != np.round(distinct))):
            return "squared"
        return "logistic" if distinct.size <= 2 else "multinomial"


def read(source: str, target: str | None = None) -> Data:
    """The data that `source` names; `target` is the column, or the array of an .npz, to predict."""
    if source.startswith("@"):
        return _built_in(source, target)
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{source} must be a file of data, got a folder: name a file in it")
    if not path.exists():
        raise InputError(f"{source} must be a file that is there, got none: check its path")
    kind = path.name.removesuffix(".gz").removesuffix(".bz2")
    reader = READERS.get(Path(kind).suffix.lower())
    if reader is None or (kind != path.name and reader is not _svmlight):
        raise InputError(f"{source} must be data of a known kind, got another: use {KNOWN}")
    try:
        found = reader(path, target)
    except UNREADABLE as problem:
        raise InputError(
            f"{source} cannot be read ({type(problem).__name__}: {problem}): "
            "check that it is whole and of the kind that its name says"
        ) from problem
    if not len(found.y):
        raise InputError(f"{source} must have at least one sample, got none: check the file")
    return found


def _built_in(source: str, target: str | None) -> Data:
    if source not in BUILT_IN:
        raise InputError(f"data must be a known name, got {source!r}: {suggest(source, BUILT_IN)}")
    if target is not None:
        raise InputError(f"target must be left out for {source}, got {target!r}: it has its own")
    from sklearn import datasets

    found = getattr(datasets, BUILT_IN[source])()
    classes = getattr(found, "target_names", None)
    y = found.target if classes is None else np.asarray(classes)[found.target]
    return Data(found.data, y, [str(name) for name in found.feature_names])


def _npz(path: Path, target: str | None) -> Data:
    wanted = target or "y"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            missing = [name for name in ("X", wanted) if name not in arrays]
            if missing:
                raise InputError(
                    f"{path} must hold the arrays X and {wanted}, got "
                    f"{', '.join(arrays) or 'none'}: write it by np.savez(file, X=X, {wanted}=y)"
                )
            return Data(arrays["X"], np.atleast_1d(arrays[wanted]), None)
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"{path} must hold arrays of numbers, got something else ({problem}): "
            "write it by np.savez(file, X=X, y=y)"
        ) from problem


def _svmlight(path: Path, target: str | None) -> Data:
    if target is not None:
        raise InputError(f"target must be left out for {path}, got {target!r}: labels come first")
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as problem:
        raise InputError(
            f"{path} must have lines such as 1 3:0.5 7:1, got something else ({problem}): "
            "check the file"
        ) from problem
    return Data(X, y, None)


def _csv(path: Path, target: str | None) -> Data:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = [row for row in csv.reader(lines) if row]
    if not rows:
        raise InputError(f"{path} must have a header and at least one sample, got an empty file")
    header, rows = rows[0], rows[1:]
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{path} must begin with the names of its columns, got numbers: add them")
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError(f"{path} must name every column once, got {twice[0]!r} twice: rename one")
    if target is None:
        raise InputError(
            f"target must be given for {path}, which has the columns {', '.join(header)}: "
            "name the one to predict with --target"
        )
    if target not in header:
        hint = suggest(target, header)
        raise InputError(f"target must be a column of {path}, got {target!r}: {hint}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InputError(
                f"{path} must have {len(header)} cells in every line, got {len(row)} in line "
                f"{number}: check its commas"
            )
    place = header.index(target)
    labels = [row[place] for row in rows]
    y = np.array([float(cell) for cell in labels] if all(map(_is_number, labels)) else labels)
    names = [name for name in header if name != target]
    cells = [[cell for k, cell in enumerate(row) if k != place] for row in rows]
    return Data(_numbers(path, names, cells), y, names)


def _numbers(path: Path, names: list[str], cells: list[list[str]]) -> np.ndarray:
    try:
        numbers = [[float(cell) for cell in row] for row in cells]
    except ValueError:
        number, name, cell = next(
            (number, name, cell)
            for number, row in enumerate(cells, start=2)
            for name, cell in zip(names, row, strict=True)
            if not _is_number(cell)
        )
        came = f"{cell!r}" if cell else "nothing"
        raise InputError(
            f"{path} must hold numbers, got {came} in line {number}, column {name!r}: "
            "encode text as numbers and fill in what is missing first"
        ) from None
    return np.array(numbers, dtype=np.float64).reshape(len(cells), len(names))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


READERS: dict[str, Callable[[Path, str | None], Data]] = {
    ".csv": _csv,
    ".libsvm": _svmlight,
    ".npz": _npz,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
}
