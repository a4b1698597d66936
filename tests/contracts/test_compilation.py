"""Compile time is kept in hand: one specialisation a kernel, storage and dtype, whatever is asked.

A process of its own visits every loss, penalty, sampling, step and batch on four storages, with
scalars and arrays of many dtypes, and counts what Numba has compiled or read from its cache.
"""

import importlib
import inspect
import itertools
import json
import pkgutil
import subprocess
import sys

import numpy as np
import scipy.sparse

import thalweg as tw
import thalweg.kernels

N, P = 30, 4
LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")
MEANS = ("poisson", "gamma", "tweedie")
STORAGES = list(itertools.product(("dense", "sparse"), (np.float32, np.float64)))

# On the same problems: whole numbers and scalars of NumPy where a float is meant.
PENALTIES = (
    {"l2": 1, "fit_intercept": True},
    {"l1": np.float32(0.1), "l2": np.float64(0.1), "fit_intercept": False},
)
RULES = (
    {"sampling": "uniform"},
    {"sampling": "shuffled", "step": "search", "batch": np.int32(4)},
    {"sampling": "cyclic", "step": np.float32(1e-3), "batch": 2},
    {"sampling": "lipschitz", "step": "search", "batch": np.int64(3)},
    {"sampling": "lipschitz", "step": "theory"},
)
INCREMENTAL = ("sag", "saga", "svrg", "catalyst")
SGD_RULES = ({"batch": np.int32(2)}, {"sampling": "lipschitz", "radius": 3}, {"schedule": "1/t"})

# Kernels that only one kind of storage comes to.
ONE_STORAGE = {
    "gather.count_entries", "gram.pairs_pass", "linear.class_value_and_gradient_pass",
    "linear.class_scores_pass", "duality.class_dual_sum_pass", "margins.class_scored_gradient_pass",
    "margins.class_curved_vector_pass",
}  # fmt: skip


def matrix(storage, dtype, writeable):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.7)).astype(dtype)
    if storage == "sparse":
        X = scipy.sparse.csr_array(X)
        X.indices.flags.writeable = X.indptr.flags.writeable = writeable
    (X.data if storage == "sparse" else X).flags.writeable = writeable
    return X


def targets(loss):
    scores = np.random.default_rng(1).standard_normal(N)
    return {
        "squared": (10 * scores).astype(np.int32),
        "huber": scores.astype(np.float32),
        "multinomial": np.digitize(scores, [-0.5, 0.5]),
    }.get(loss, scores > 0)


def visit_all():
    """Ask everything of linear problems that passes over their rows."""
    for (storage, dtype), loss, penalty in itertools.product(STORAGES, LOSSES, PENALTIES):
        X = matrix(storage, dtype, writeable=penalty["fit_intercept"])
        weight = None if penalty["fit_intercept"] else np.arange(N)
        data = tw.LinearProblem(X, targets(loss), loss, delta=1, sample_weight=weight, **penalty)
        for variables in (np.float32, np.float64):
            w = np.ones(data.dim, dtype=variables)
            data.value(w)
            data.hessian_vector(data.gradient(w), w)
            data.scores(w)
            tw.certify(data, w)
        for number, (name, rule) in enumerate(itertools.product(INCREMENTAL, RULES)):
            if number % len(LOSSES) == LOSSES.index(loss):  # they take turns
                run(data, tw.METHODS[name](**rule))
        run(data, "iag")
        run(data, tw.METHODS["sgd"](**SGD_RULES[LOSSES.index(loss) % len(SGD_RULES)]))
        run(data, "sdca")
        if loss != "multinomial":
            run(data, "cd")
    for (storage, dtype), loss, penalty in itertools.product(STORAGES, MEANS, PENALTIES):
        X = matrix(storage, dtype, writeable=penalty["fit_intercept"])
        data = tw.LinearProblem(X, np.exp(targets("huber")), loss, **penalty)
        tw.certify(data, np.ones(data.dim))
        run(data, "cd")


def run(data, method):
    tw.minimize(data, method, max_iter=2, progress=False)


def compiled():
    """How many signatures each kernel has, and what it is given: rows of X, features, or none."""
    counts = {}
    for file in pkgutil.iter_modules(thalweg.kernels.__path__):
        module = importlib.import_module(f"thalweg.kernels.{file.name}")
        for name, thing in vars(module).items():
            if name.startswith("_") or not hasattr(thing, "signatures"):
                continue  # a part of the kernels that call it
            if thing.targetoptions.get("forceinline"):
                continue  # likewise
            if thing.py_func.__module__ == module.__name__:
                names = set(inspect.signature(thing.py_func).parameters)
                given = "rows" if names & {"X", "data", "samples"} else "none"
                given = "features" if "A" in names and file.name == "cd" else given
                counts[f"{file.name}.{name}"] = (len(thing.signatures), given)
    return counts


def called_by_kernels():
    """The names that compiled code calls."""
    modules = [
        importlib.import_module(f"thalweg.kernels.{file.name}")
        for file in pkgutil.iter_modules(thalweg.kernels.__path__)
    ]
    kernels = [t for m in modules for t in vars(m).values() if hasattr(t, "signatures")]
    return {name for kernel in kernels for name in kernel.py_func.__code__.co_names}


def signatures(name, given):
    """How many there are to be: features are gathered in float64, dense or sparse."""
    is_for_one = "dense" in name or "sparse" in name or name in ONE_STORAGE
    return {"rows": len(STORAGES) // (2 if is_for_one else 1), "features": 2, "none": 1}[given]


def test_one_specialisation_a_kernel_storage_and_dtype():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts = {name: tuple(count) for name, count in json.loads(done.stdout).items()}
    used = {name: count for name, count in counts.items() if count[0]}
    expected = {name: (signatures(name, given), given) for name, (_, given) in used.items()}
    # What kernels call is counted where they are compiled, not where they are read from the cache,
    # and another worker may have compiled some of them: there may be fewer, but never more.
    callees = called_by_kernels()
    by_python = {name for name in used if name.split(".")[1] not in callees}
    assert {n: used[n] for n in by_python} == {n: expected[n] for n in by_python}
    assert {n: count for n, count in used.items() if count[0] > expected[n][0]} == {}
    assert used.keys() >= {
        "incremental.dense_pass", "incremental.sparse_pass", "incremental.snapshot_pass",
        "linear.value_pass", "linear.class_value_and_gradient_pass", "alias.alias_draws",
        "sgd.dense_pass", "sgd.sparse_pass", "sdca.dual_pass", "sdca.class_dual_pass",
        "cd.descend", "duality.slopes_pass",
    }  # fmt: skip


if __name__ == "__main__":
    visit_all()
    print(json.dumps(compiled()))
