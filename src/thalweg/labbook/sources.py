"""Data of the labs: files of the folder that THALWEG_DATA names, else what ships with scikit-learn.

    samples   rows of a linear model: "a9a", "covtype", "imdb"
    images    pictures and their labels: "mnist" or "cifar"

Where there is no such folder, MNIST is fetched by scikit-learn's loader if there is a network, and
not if THALWEG_OFFLINE is set. What stands in for data that are not here says so in `note`, which
belongs into the findings.
"""

from __future__ import annotations

import functools
import os
import socket
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.scaling.z_score import ZScore
from thalweg.tables.read import read

VARIABLE, OFFLINE = "THALWEG_DATA", "THALWEG_OFFLINE"
PATIENCE = 5.0  # seconds without an answer, after which there is no network
FILES = {"a9a": "a9a", "covtype": "covtype.npz", "imdb": "imdb.npz", "cifar": "cifar10-small.npz"}
SIDES = {"mnist": 28, "cifar": 32, "digits": 8}


class Samples(NamedTuple):
    """Rows of two classes; dense columns have mean 0 and deviation 1."""

    name: str
    X: Any  # float64[n, d], or sparse rows
    y: np.ndarray  # int64[n], 0 or 1
    note: str  # what these data are, and what they stand in for


class Images(NamedTuple):
    """Pictures, float32[n, channels, side, side] from 0 to 1, and labels, int64[n]."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    note: str


def folder() -> Path | None:
    """The folder that the environment variable THALWEG_DATA names, if it is there."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


@functools.lru_cache(maxsize=4)
def samples(name: str, rows: int | None = None) -> Samples:
    """The data of that name, `rows` of them drawn at random; breast cancer where it is not here.

    Of several classes, class 2 is told from the rest.
    """
    place = folder()
    if place is None or not (place / FILES[name]).is_file():
        table = read("@cancer", dtype="float64")
        note = f"{name} is not here ({VARIABLE} names its folder): breast cancer, 569 × 30, instead"
        return Samples("cancer", ZScore().fit_transform(table.X), np.asarray(table.y), note)
    table = read(place / FILES[name], dtype="float64")
    X, y = table.X, np.asarray(table.y)
    if len(table.class_names or ()) > 2:
        y = (y == 1).astype(np.int64)
    n = X.shape[0]
    note = f"{name}, {n:,} × {X.shape[1]:,}"
    if rows is not None and rows < n:
        kept = np.sort(np.random.default_rng(0).choice(n, rows, replace=False))
        X, y, note = X[kept], y[kept], f"{name}, {rows:,} of {n:,} rows × {X.shape[1]:,}"
    return Samples(name, ZScore().fit_transform(X) if isinstance(X, np.ndarray) else X, y, note)


@functools.lru_cache(maxsize=2)
def images(name: str = "mnist") -> Images:
    """MNIST or CIFAR-10; scikit-learn's digits where they are not here."""
    place = folder()
    if place is not None and name == "mnist" and (place / "mnist").is_dir():
        train, test = (
            read(place / "mnist" / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")
        )
        return _images("mnist", train.X, train.y, test.X, test.y, "MNIST")
    if place is not None and name == "cifar" and (file := place / FILES["cifar"]).is_file():
        whole = read(file)
        with np.load(file, allow_pickle=False) as held:
            X_test, y_test = held["X_test"] / np.float32(255.0), held["y_test"].ravel()
        return _images("cifar", whole.X, whole.y, X_test, y_test, "CIFAR-10")
    if name == "mnist" and (fetched := _fetched()) is not None:
        X, y = fetched
        return _images("mnist", X[:60_000], y[:60_000], X[60_000:], y[60_000:], "MNIST by OpenML")
    digits = read("@digits")
    X, y = digits.X / np.float32(16.0), np.asarray(digits.y)
    order = np.random.default_rng(0).permutation(len(y))
    first, last = order[:1297], order[1297:]
    why = f"{name} is not here ({VARIABLE} names its folder); in its place digits"
    return _images("digits", X[first], y[first], X[last], y[last], why)


def _images(name: str, X: Any, y: Any, X_test: Any, y_test: Any, what: str) -> Images:
    side = SIDES[name]
    channels = X.reshape(len(X), -1).shape[1] // side**2
    shape = (-1, channels, side, side)
    size = f"{channels} × {side} × {side}" if channels > 1 else f"{side} × {side}"
    note = f"{what}, {len(X):,} and {len(X_test):,} pictures of {size}"
    rows = [np.ascontiguousarray(each, dtype=np.float32).reshape(shape) for each in (X, X_test)]
    labels = [np.asarray(each, dtype=np.int64) for each in (y, y_test)]
    return Images(name, rows[0], labels[0], rows[1], labels[1], note)


@functools.cache
def _fetched() -> tuple[np.ndarray, np.ndarray] | None:
    """MNIST from OpenML, the training part first, or None; asked once."""
    if os.environ.get(OFFLINE):
        return None
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        found = fetch_openml("mnist_784", version=1, as_frame=False, n_retries=0)
    except Exception:  # whatever kept it from coming, there are digits
        return None
    finally:
        socket.setdefaulttimeout(before)
    return found.data / np.float32(255.0), found.target.astype(np.int64)
