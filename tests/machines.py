"""The suite on other machines: under the arithmetic of other CPUs, and on other Pythons.

    python tests/machines.py            all of it, an hour or two on two cores
    python tests/machines.py --quick    a pass through it, at most five minutes
    python tests/machines.py NAME …     these settings alone

What a number is to its last bit depends on the CPU in five places, and each can be told to compute
as it would on another: BLAS, NumPy's loops, torch's, the C library, and Numba's compiler.

Under them runs the numeric part of the suite: all tests but those of `NOT_NUMERIC`, a list of what
computes nothing that a CPU could change. Another Python can change anything: there all tests run,
but those that need torch, which is not installed there (`tests/conftest.py` skips them). A Python
that is not on this machine is skipped, and said to be.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PYTHONS = ("3.11", "3.12", "3.13")

NOT_NUMERIC = (
    # folders: words and terminals, storage, pictures, pages, labs, files
    "cli", "core", "exports", "figures", "labbook", "reports", "tables",
    # and contracts on the same, on kills, and on the repository itself
    "contracts/test_bad_usage.py", "contracts/test_benchmarks.py", "contracts/test_docs.py",
    "contracts/test_kill_and_resume.py", "contracts/test_labbook_in_browser.py",
    "contracts/test_labs.py", "contracts/test_mnist_table.py",
    "contracts/test_report_in_browser.py", "contracts/test_repository.py",
    "contracts/test_terminal.py",
)  # fmt: skip

AGAINST = "contracts/test_against_scikit_learn.py::test_{}_equal_scikit_learns[{}-breast_cancer]"

# Files of the packages that compute most, and a few contracts: those that take seconds.
QUICK = (
    "kernels/test_scores.py", "kernels/test_losses.py", "kernels/test_exponential.py",
    "kernels/test_gram.py", "objectives/test_least_squares.py", "objectives/test_gram.py",
    "methods/test_cholesky.py", "methods/test_newton.py", "methods/test_dual_step.py",
    "methods/test_l1_quadratic.py", "certificates/test_least_squares.py",
    "certificates/test_dual_point.py", "certificates/test_decrement.py",
    "certificates/test_polished.py", "kernels/test_twofold.py", "estimators/test_ridge.py",
    "estimators/test_linear_svc.py", "contracts/test_train_and_predict.py",
    AGAINST.format("regressors", "ridge--no b"),
    AGAINST.format("classifiers", "logistic_regression-None--b"),
    AGAINST.format("classifiers", "linear_svc-None--no b"),
)  # fmt: skip

# What another Python does in the quick pass.
FIT = """
import sys, thalweg as tw
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
for model in (
    tw.LogisticRegression(method="newton"), tw.LinearSVC(method="newton"),
    tw.Ridge(method="cholesky"), tw.Lasso(0.01, method="cd"), tw.ElasticNet(0.01, method="cd"),
):
    assert all(run.certificate.holds for run in model.fit(X, y).runs_), model
    assert model.score(X, y) > 0.9, model
print("fitted by Python", sys.version.split()[0])
"""


def settings() -> dict[str, dict[str, str]]:
    """What to set for each CPU; the first two are the ages of AVX2, and of SSE alone."""
    beyond = _loops_of_numpy()
    return {
        "haswell": {
            "OPENBLAS_CORETYPE": "Haswell",
            "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in beyond if name != "X86_V3"),
            "ATEN_CPU_CAPABILITY": "avx2",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
        },
        "prescott": {
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": " ".join(beyond),
            "ATEN_CPU_CAPABILITY": "default",
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-FMA,-FMA4",
        },
        # A cache of its own: the kernels of one CPU are not read by another.
        "generic": {
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CACHE_DIR": str(ROOT / "build" / "kernels-generic"),
        },
        "one-thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    }


def main() -> int:
    """Run what was asked for; the exit code says whether all of it passed."""
    asked = argparse.ArgumentParser(description="The suite on other CPUs and Pythons.")
    others = [version for version in PYTHONS if version != _version_of(sys.executable)]
    asked.add_argument("names", nargs="*", help="settings or Pythons; all where none is named")
    asked.add_argument("--quick", action="store_true", help="a pass through it")
    asked.add_argument("-n", "--workers", default="2", help="processes at a time")
    given = asked.parse_args()
    cpus = settings()
    unknown = set(given.names) - {*cpus, *others}
    if unknown:
        asked.error(f"known are {', '.join([*cpus, *others])}, got {', '.join(sorted(unknown))}")
    results = {}
    for name in given.names or [*cpus, *others]:
        begun = time.monotonic()
        if name in cpus:
            passed = _on_cpu(cpus[name], given.quick, given.workers)
        else:
            passed = _on_python(name, given.quick, given.workers)
        word = {True: "passed", False: "FAILED", None: "skipped: it is not on this machine"}[passed]
        results[name] = passed
        print(f"machines: {name} {word}, {time.monotonic() - begun:.0f} s", flush=True)
    return int(False in results.values())


def _on_cpu(variables: dict[str, str], quick: bool, workers: str) -> bool:
    chosen = [str(TESTS / name) for name in QUICK] if quick else _numeric()
    return _pytest(sys.executable, chosen, workers, variables)


def _numeric() -> list[str]:
    return [str(TESTS), *(f"--ignore={TESTS / name}" for name in NOT_NUMERIC)]


def _on_python(version: str, quick: bool, workers: str) -> bool | None:
    """None where that Python is not here."""
    found = _python(version)
    if found is None:
        return None
    try:
        python = _environment(version, found, extra="" if quick else "[dev]")
    except subprocess.CalledProcessError as problem:
        print(f"machines: Python {version} cannot be set up: {problem}")
        return None if quick else False
    if quick:
        return subprocess.run([python, "-W", "error", "-c", FIT], cwd=ROOT).returncode == 0
    return _pytest(python, [str(TESTS)], workers, {})


def _pytest(python: str, chosen: list[str], workers: str, variables: dict[str, str]) -> bool:
    command = [python, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", *chosen]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables})
    if done.returncode < 0:
        print(f"machines: the tests were ended by signal {-done.returncode}")
    return done.returncode == 0


def _python(version: str) -> str | None:
    """The interpreter of a version, if it is here and runs."""
    name = f"python{version}"
    # pyenv has a command for every version it knows, which runs the one that is asked for.
    asking = {**os.environ, "PYENV_VERSION": version}
    try:
        code = "import sys; print(sys.executable)"
        done = subprocess.run([name, "-c", code], env=asking, capture_output=True, text=True)
    except OSError:
        return None
    found = done.stdout.strip()
    return found if done.returncode == 0 and _version_of(found) == version else None


def _version_of(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def _environment(version: str, found: str, extra: str) -> str:
    """The Python of `.venv-<version>`, made where it is not there or is older than its pins."""
    place = ROOT / f".venv-{version}"
    python, ready = str(place / "bin" / "python"), place / f".ready{extra}"
    pins = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    if ready.exists() and all(ready.stat().st_mtime > pin.stat().st_mtime for pin in pins):
        return python
    subprocess.run([found, "-m", "venv", str(place)], check=True)
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "-c",
        "constraints.txt",
        "-e",
        f".{extra}",
    ]
    subprocess.run(install, cwd=ROOT, check=True)
    ready.touch()
    return python


def _loops_of_numpy() -> list[str]:
    """The instruction sets that NumPy has loops for here, beyond those it takes for granted."""
    import numpy as np

    return np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


if __name__ == "__main__":
    sys.exit(main())
