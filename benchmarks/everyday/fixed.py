"""The fixed cases: ordinary tables, bundled data sets and textbook shapes, by model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.datasets
from sklearn.preprocessing import StandardScaler

from .case import Case, Data, lay_out
from .columns import labels, response, table, text

PEOPLE = "years cents ages kelvin percent flag counts incomes"
SHOP = "timestamps cents ids category flag counts"
LAB = "nano*3 kelvin pascals latitudes normal*4"


def cases() -> list[Case]:
    """All of them."""
    return [*_ridge(), *_lasso(), *_elastic_net(), *_logistic(), *_svc()]


def _case(name: str, model: str, make: Callable[..., Data], quick: bool = False, **params) -> Case:
    rng = partial(np.random.default_rng, zlib.crc32(name.encode()))
    return Case(name, model, params, lambda: make(rng()), quick)


def _numbers(recipe: str, n: int, layout: str = "C", dtype: str = "float64", **kwargs: Any):
    """A table and a response; `weighted` for weights of the samples."""
    weighted = kwargs.pop("weighted", False)

    def make(rng: np.random.Generator) -> Data:
        X = table(rng, n, recipe)
        y = response(rng, X, **kwargs)
        return Data(lay_out(X, layout, dtype), y, rng.uniform(0.1, 3, n) if weighted else None)

    return make


def _classes(recipe: str, n: int, layout: str = "C", dtype: str = "float64", **kwargs: Any):
    """A table and labels; `weighted` for weights of the samples, `shift` for an offset of all."""
    weighted, shift = kwargs.pop("weighted", False), kwargs.pop("shift", 0.0)

    def make(rng: np.random.Generator) -> Data:
        X = table(rng, n, recipe) + shift
        y = labels(rng, X, **kwargs)
        return Data(lay_out(X, layout, dtype), y, rng.uniform(0.1, 3, n) if weighted else None)

    return make


def _bundled(name: str, layout: str = "C", dtype: str = "float64", standardize: bool = False):
    """One of scikit-learn's own data sets."""

    def make(rng: np.random.Generator) -> Data:
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        X = StandardScaler().fit_transform(X) if standardize else X
        return Data(lay_out(X, layout, dtype), y)

    return make


def _made(name: str, scale: float = 1.0, layout: str = "C", dtype: str = "float64", **kwargs: Any):
    """One of scikit-learn's generators."""

    def make(rng: np.random.Generator) -> Data:
        seed = int(rng.integers(2**31))
        X, y = getattr(sklearn.datasets, f"make_{name}")(random_state=seed, **kwargs)
        return Data(lay_out(scale * X, layout, dtype), y)

    return make


def _words(n: int, words: int, classes: int = 0, length: int = 60):
    """Documents by tf-idf, and a number or a label for each."""

    def make(rng: np.random.Generator) -> Data:
        X = text(rng, n, words, length)
        y = labels(rng, X, classes=classes, strength=3.0) if classes else response(rng, X)
        return Data(X, y)

    return make


def _one_hot(n: int, classes: int = 0):
    """Five categories with a column for each level, as CSR."""

    def make(rng: np.random.Generator) -> Data:
        X = table(rng, n, "towns*3 category*2")
        y = labels(rng, X, classes=classes) if classes else response(rng, X)
        return Data(scipy.sparse.csr_matrix(X), y)

    return make


def _offset_column(rng: np.random.Generator) -> Data:
    """50 rows, 59 ordinary columns, and one that is about 10,000."""
    X = rng.standard_normal((50, 60))
    X[:, 0] += 10_000
    return Data(X, response(rng, X, noise=0.1))


def _integers(rng: np.random.Generator) -> Data:
    """A table of whole numbers, as a data base gives it."""
    X = table(rng, 3_000, "years cents ids counts flag").astype(np.int64)
    return Data(X, response(rng, X.astype(float), scale=100.0, offset=5_000.0))


def _ridge() -> Iterator[Case]:
    ridge = partial(_case, model="Ridge")
    tall = "normal*10 cents years kelvin percent"
    yield ridge("ridge/diabetes", make=_bundled("diabetes"), quick=True)
    yield ridge("ridge/diabetes-alpha-1e-8", make=_bundled("diabetes"), alpha=1e-8)
    yield ridge("ridge/linnerud", make=_bundled("linnerud"), quick=True)
    yield ridge("ridge/people", make=_numbers(PEOPLE, 2_000), quick=True)
    yield ridge(
        "ridge/years-no-intercept",
        make=_numbers("years normal*5", 2_000, offset=50.0),
        fit_intercept=False,
    )
    yield ridge("ridge/timestamps", make=_numbers("timestamps normal*3 flag", 5_000), alpha=1.0)
    yield ridge("ridge/milliseconds", make=_numbers("milliseconds normal*3", 5_000), alpha=1e-3)
    yield ridge(
        "ridge/cents-y-in-cents",
        make=_numbers("cents*4 counts", 5_000, scale=3e5, offset=2e6),
        alpha=10.0,
    )
    yield ridge("ridge/nano", make=_numbers("nano*5 normal*2", 1_000), alpha=1.0)
    yield ridge("ridge/nano-alpha-1e-8", make=_numbers("nano*5 normal*2", 1_000), alpha=1e-8)
    yield ridge("ridge/shop", make=_numbers(SHOP, 8_000), alpha=1.0)
    yield ridge("ridge/lab-weighted", make=_numbers(LAB, 1_500, weighted=True), alpha=1e-6)
    yield ridge("ridge/constant-columns", make=_numbers("constant*3 normal*6", 500), quick=True)
    yield ridge("ridge/copies", make=_numbers("normal*8 copy*3", 1_000), alpha=1e-2)
    yield ridge("ridge/one-hot-dense", make=_numbers("towns*3 category*2", 5_000), alpha=1.0)
    yield ridge("ridge/one-hot-csr", make=_one_hot(20_000), alpha=1.0)
    yield ridge("ridge/integers", make=_integers, alpha=1.0)
    yield ridge("ridge/50x60-offset", make=_offset_column, alpha=1.0, quick=True)
    yield ridge("ridge/50x60-offset-alpha-1e-6", make=_offset_column, alpha=1e-6)
    wide = {"n_samples": 100, "n_features": 4_000, "n_informative": 20, "noise": 1.0}
    yield ridge("ridge/100x4000", make=_made("regression", **wide), alpha=1.0)
    small = {"n_samples": 20, "n_features": 50, "noise": 1.0}
    yield ridge("ridge/20x50-times-1e7", make=_made("regression", 1e7, **small), alpha=1.0)
    yield ridge("ridge/20x50-times-1e8", make=_made("regression", 1e8, **small), alpha=1.0)
    yield ridge("ridge/40000x30", make=_numbers(tall + " normal*16", 40_000), alpha=1.0)
    yield ridge(
        "ridge/40000x30-f32-F",
        make=_numbers(tall + " normal*16", 40_000, "F", "float32"),
        alpha=1.0,
    )
    yield ridge("ridge/13000x200", make=_numbers(tall + " normal*186", 13_000), alpha=1e3)
    yield ridge("ridge/200000x20", make=_numbers(tall + " normal*6", 200_000), alpha=1.0)
    yield ridge("ridge/100-targets", make=_numbers("normal*100", 3_000, targets=100), alpha=1.0)
    yield ridge("ridge/text", make=_words(8_000, 20_000), alpha=1.0)
    uncorrelated = {"n_samples": 5_000, "n_features": 100}
    yield ridge(
        "ridge/sparse-uncorrelated", make=_made("sparse_uncorrelated", **uncorrelated), alpha=1e-4
    )


def _lasso() -> Iterator[Case]:
    lasso = partial(_case, model="Lasso")
    yield lasso("lasso/diabetes", make=_bundled("diabetes"), alpha=0.1, quick=True)
    yield lasso("lasso/diabetes-alpha-1e-8", make=_bundled("diabetes"), alpha=1e-8)
    yield lasso("lasso/linnerud", make=_bundled("linnerud"), alpha=1.0)
    yield lasso("lasso/people", make=_numbers(PEOPLE, 2_000), alpha=0.01, quick=True)
    yield lasso("lasso/timestamps", make=_numbers("timestamps cents normal*5", 5_000), alpha=0.01)
    yield lasso("lasso/prices", make=_numbers(PEOPLE, 10_000, scale=3e5, offset=2e6), alpha=1e3)
    yield lasso("lasso/nano", make=_numbers("nano*4 normal*4", 1_000), alpha=1e-4)
    yield lasso("lasso/copies", make=_numbers("normal*8 copy*2 constant", 1_000), alpha=0.01)
    yield lasso("lasso/nearly-copies", make=_numbers("nearly*6 normal*8", 2_000), alpha=1e-3)
    yield lasso("lasso/one-hot-csr", make=_one_hot(20_000), alpha=1e-3)
    yield lasso("lasso/50x60-offset", make=_offset_column, alpha=0.01)
    wide = {"n_samples": 100, "n_features": 4_000, "n_informative": 20, "noise": 1.0}
    yield lasso("lasso/100x4000", make=_made("regression", **wide), alpha=1.0)
    yield lasso("lasso/100x4000-alpha-0.01", make=_made("regression", **wide), alpha=0.01)
    small = {"n_samples": 20, "n_features": 50, "noise": 1.0}
    yield lasso("lasso/20x50-times-1e7", make=_made("regression", 1e7, **small), alpha=1.0)
    yield lasso(
        "lasso/40000x30-F",
        make=_numbers("normal*24 cents years kelvin percent flag counts", 40_000, "F"),
        alpha=0.01,
    )
    yield lasso(
        "lasso/13000x200-f32", make=_numbers("normal*200", 13_000, "C", "float32"), alpha=0.01
    )
    yield lasso("lasso/20-targets", make=_numbers("normal*60", 2_000, targets=20), alpha=0.01)
    yield lasso(
        "lasso/no-intercept-weighted",
        make=_numbers("normal*20 kelvin", 2_000, weighted=True),
        alpha=0.01,
        fit_intercept=False,
    )
    yield lasso("lasso/text", make=_words(8_000, 20_000), alpha=1e-4)
    coded = {"n_samples": 1, "n_components": 300, "n_features": 200, "n_nonzero_coefs": 15}
    yield lasso("lasso/sparse-coded-signal", make=partial(_signal, coded), alpha=1e-4)


def _signal(shape: dict[str, int], rng: np.random.Generator) -> Data:
    """A dictionary of 300 atoms and one signal of a few of them."""
    seed = int(rng.integers(2**31))
    y, atoms, _ = sklearn.datasets.make_sparse_coded_signal(random_state=seed, **shape)
    return Data(np.ascontiguousarray(atoms.T), np.ravel(y))


def _elastic_net() -> Iterator[Case]:
    net = partial(_case, model="ElasticNet")
    yield net("elastic-net/diabetes", make=_bundled("diabetes"), alpha=0.01, quick=True)
    yield net("elastic-net/people", make=_numbers(PEOPLE, 2_000), alpha=0.1, l1_ratio=0.9)
    yield net("elastic-net/shop", make=_numbers(SHOP, 8_000), alpha=0.01, l1_ratio=0.5)
    yield net("elastic-net/lab", make=_numbers(LAB, 1_500), alpha=1e-6, l1_ratio=0.1)
    yield net("elastic-net/copies", make=_numbers("normal*8 copy*3", 1_000), alpha=0.01)
    wide = {"n_samples": 100, "n_features": 4_000, "n_informative": 20, "noise": 1.0}
    yield net("elastic-net/100x4000", make=_made("regression", **wide), alpha=0.1, l1_ratio=0.9)
    yield net(
        "elastic-net/200000x20",
        make=_numbers("normal*14 cents years kelvin percent flag counts", 200_000),
        alpha=0.01,
    )
    yield net(
        "elastic-net/40000x30-f32",
        make=_numbers("normal*30", 40_000, "C", "float32"),
        alpha=1e-3,
        l1_ratio=0.2,
    )
    yield net("elastic-net/20-targets", make=_numbers("normal*30", 3_000, targets=20), alpha=0.1)
    yield net(
        "elastic-net/years-no-intercept",
        make=_numbers("years normal*5", 1_000, offset=50.0),
        alpha=0.01,
        fit_intercept=False,
    )
    low = {
        "n_samples": 1_000,
        "n_features": 300,
        "effective_rank": 10,
        "tail_strength": 0.3,
        "noise": 0.1,
    }
    yield net("elastic-net/low-rank", make=_made("regression", **low), alpha=1e-4, l1_ratio=0.5)


def _logistic() -> Iterator[Case]:
    logistic = partial(_case, model="LogisticRegression")
    yield logistic("logistic/breast-cancer", make=_bundled("breast_cancer"), quick=True)
    yield logistic(
        "logistic/breast-cancer-standardized",
        make=_bundled("breast_cancer", standardize=True),
        quick=True,
    )
    for C in (1e-10, 1e-4, 1e4):
        yield logistic(
            f"logistic/breast-cancer-standardized-C-{C:g}",
            make=_bundled("breast_cancer", standardize=True),
            C=C,
        )
    yield logistic("logistic/iris", make=_bundled("iris"), quick=True)
    yield logistic("logistic/iris-C-1e4", make=_bundled("iris"), C=1e4)
    yield logistic("logistic/wine", make=_bundled("wine"))
    yield logistic("logistic/digits", make=_bundled("digits"))
    yield logistic("logistic/digits-csr-C-0.01", make=_bundled("digits", "csr"), C=0.01)
    yield logistic("logistic/people", make=_classes(PEOPLE, 2_000), quick=True)
    yield logistic("logistic/people-C-inf", make=_classes(PEOPLE, 2_000), C=np.inf)
    yield logistic("logistic/shop-names", make=_classes(SHOP, 8_000, names=("no", "yes")))
    yield logistic("logistic/timestamps", make=_classes("timestamps normal*4", 5_000))
    yield logistic("logistic/nano-C-1e10", make=_classes("nano*3 normal*3", 2_000), C=1e10)
    yield logistic("logistic/lab-3-classes", make=_classes(LAB, 3_000, classes=3))
    yield logistic(
        "logistic/plus-1e6-C-inf", make=_classes("normal*10", 3_000, shift=1e6), C=np.inf
    )
    yield logistic("logistic/plus-1e6", make=_classes("normal*10", 3_000, shift=1e6))
    yield logistic("logistic/copies-constant", make=_classes("normal*6 copy*2 constant*2", 1_000))
    yield logistic("logistic/one-hot-csr", make=_one_hot(20_000, classes=2))
    yield logistic(
        "logistic/rare-weighted",
        make=_classes("normal*8 percent rare", 10_000, balance=5.0, weighted=True),
    )
    yield logistic(
        "logistic/years-no-intercept", make=_classes("years normal*5", 2_000), fit_intercept=False
    )
    wide = {"n_samples": 100, "n_features": 2_000, "n_informative": 20}
    yield logistic("logistic/100x2000", make=_made("classification", **wide))
    yield logistic(
        "logistic/40000x30",
        make=_classes("normal*24 cents years kelvin percent flag counts", 40_000),
    )
    yield logistic(
        "logistic/40000x30-standard-f32", make=_classes("normal*30", 40_000, "C", "float32")
    )
    yield logistic("logistic/13000x200-F", make=_classes("normal*200", 13_000, "F"))
    yield logistic(
        "logistic/200000x20",
        make=_classes("normal*14 cents years kelvin percent flag counts", 200_000),
    )
    hard = {
        "n_samples": 5_000,
        "n_features": 40,
        "n_informative": 10,
        "n_redundant": 10,
        "n_repeated": 2,
        "flip_y": 0.1,
    }
    yield logistic("logistic/make-classification", make=_made("classification", **hard), C=0.1)
    yield logistic("logistic/10-classes", make=_classes("normal*40", 5_000, classes=10))
    yield logistic("logistic/20-classes", make=_classes("normal*30", 5_000, classes=20))
    yield logistic(
        "logistic/3-classes-C-inf",
        make=_classes("normal*6 years percent", 3_000, classes=3),
        C=np.inf,
    )
    yield logistic("logistic/text", make=_words(8_000, 20_000, classes=2))
    yield logistic("logistic/text-4-classes", make=_words(4_000, 3_000, classes=4))
    l1 = {"l1_ratio": 1.0, "solver": "saga"}
    yield logistic("logistic/l1-saga", make=_classes("normal*30", 3_000), C=0.05, **l1)


def _svc() -> Iterator[Case]:
    svc = partial(_case, model="LinearSVC")
    yield svc("svc/breast-cancer", make=_bundled("breast_cancer"), quick=True)
    yield svc(
        "svc/breast-cancer-standardized",
        make=_bundled("breast_cancer", standardize=True),
        quick=True,
    )
    for C in (1e-10, 1e-4, 1e4):
        yield svc(
            f"svc/breast-cancer-standardized-C-{C:g}",
            make=_bundled("breast_cancer", standardize=True),
            C=C,
        )
    yield svc("svc/iris", make=_bundled("iris"), quick=True)
    yield svc("svc/wine-standardized", make=_bundled("wine", standardize=True))
    yield svc("svc/digits", make=_bundled("digits"))
    yield svc("svc/people", make=_classes(PEOPLE, 2_000))
    yield svc("svc/shop", make=_classes(SHOP, 5_000), C=0.1)
    yield svc("svc/plus-1e6", make=_classes("normal*6", 2_000, shift=1e6))
    yield svc("svc/copies-constant", make=_classes("normal*6 copy*2 constant*2", 1_000))
    wide = {"n_samples": 100, "n_features": 2_000, "n_informative": 20}
    yield svc("svc/100x2000", make=_made("classification", **wide))
    yield svc("svc/100x2000-C-1e4", make=_made("classification", **wide), C=1e4)
    yield svc("svc/20-classes", make=_classes("normal*30", 5_000, classes=20))
    yield svc(
        "svc/10-classes-csr", make=_classes("towns category counts", 5_000, "csr", classes=10)
    )
    yield svc("svc/40000x30", make=_classes("normal*30", 40_000))
    yield svc("svc/200000x20-f32", make=_classes("normal*20", 200_000, "C", "float32"))
    yield svc("svc/13000x200-F", make=_classes("normal*200", 13_000, "F"), C=0.01)
    yield svc("svc/text", make=_words(8_000, 20_000, classes=2))
    yield svc(
        "svc/weighted-no-intercept",
        make=_classes("normal*20", 3_000, weighted=True),
        fit_intercept=False,
    )
    yield svc("svc/l1", make=_classes("normal*30", 3_000), C=0.01, penalty="l1", dual=False)
