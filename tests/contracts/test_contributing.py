"""CONTRIBUTING's worked example, followed to the letter.

A copy of the repository gets the files and the lines that the text shows, and nothing else. In it
the new method is run, explained, planned, listed, completed, documented and checked like any other.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FENCED = re.compile(r"^(```|~~~)(?P<kind>\w+)\n(?P<body>.*?)^\1$", re.M | re.S)
# With what compilers and type checkers left there, or it would take minutes.
COPIED = (".mypy_cache", "src", "tests", "docs", "README.md", "pyproject.toml")
METHOD, PAGE = (
    re.search(rf"\*\*{title}\*\*: `([^`]+)`", TEXT)[1] for title in ("The method", "Its page")
)


def snippets(kind):
    return [found["body"] for found in FENCED.finditer(TEXT) if found["kind"] == kind]


def patch(root, diff):
    """Make the changes of a diff whose hunks are found by their lines alone."""
    for part in diff.split("--- ")[1:]:
        name, *hunks = part.split("\n@@\n")
        file = root / name
        for hunk in hunks:
            lines = hunk.rstrip("\n").split("\n")
            before, after = (
                "".join(f"{line[1:]}\n" for line in lines if line[0] in marks)
                for marks in (" -", " +")
            )
            text = file.read_text("utf-8")
            assert f"\n{text}".count(f"\n{before}") == 1, f"{name} has no such lines:\n{before}"
            file.write_text(f"\n{text}".replace(f"\n{before}", f"\n{after}")[1:], "utf-8")


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A copy of the repository, with compiled kernels if it has some, after all five steps."""
    root = tmp_path_factory.mktemp("followed")
    for name in filter(lambda name: (ROOT / name).exists(), COPIED):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, root / name)
    (method,), (page,) = snippets("python"), snippets("markdown")
    for name, text in ((METHOD, method), (PAGE, page)):
        assert not (root / name).exists()
        (root / name).write_text(text, "utf-8")
    for diff in snippets("diff"):
        patch(root, diff)
    return root


def run(root, *command, **environment):
    """What a command printed in the copy."""
    there = {**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "100", **environment}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=root, env=there, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


USE = """
import json
import numpy as np
import thalweg as tw

X = np.random.default_rng(0).standard_normal((60, 4))
def problem(**penalty):
    return tw.LinearProblem(X, X @ [1.0, 2.0, 3.0, 4.0] > 0, "logistic", **penalty)
def told(objective, method="sign-descent", **options):
    run = tw.minimize(objective, method, progress=False, **options)
    return run.outcome.name, run.reason
def planned(**penalty):
    row = tw.plan(problem(**penalty)).row("sign-descent")
    return row.eligible, row.remark, row.bound

bowl = tw.surfaces.Quadratic((1.0, 3.0), center=(1.02, -0.5))
print(json.dumps({
    "home": tw.__file__,
    "equal": tw.METHODS["sign-descent"] is tw.SignDescent,
    "ends": {
        "arrives": told(bowl, w0=[0.0, 0.0]),
        "circles": told(bowl, "sign-descent[shrink=1]", w0=[0.0, 0.0], max_iter=100),
        "stalls": told(bowl, tw.SignDescent(shrink=1.0), w0=[0.0, 0.0]),
        "runs out": told(bowl, tw.SignDescent(lr=1e-3), w0=[0.0, 0.0], max_iter=50),
        "leaves": told(tw.surfaces.Rosenbrock(), "sign-descent[lr=1e6]"),
        "a linear problem": told(problem(l2=1e-3)),
        "runs out on it": told(problem(l2=1e-3), max_iter=5),
    },
    "plans": {"l2": planned(l2=1e-3), "l1": planned(l1=1e-3), "none": planned()},
}))
"""


@pytest.fixture(scope="module")
def used(followed):
    found = json.loads(run(followed, "-c", USE))
    assert Path(found["home"]).is_relative_to(followed)
    return found


def test_the_method_runs_and_explains_itself(used):
    ends = used["ends"]
    assert used["equal"]
    assert {name: outcome for name, (outcome, _) in ends.items()} == {
        "arrives": "CONVERGED",
        "circles": "ITERATION_LIMIT",
        "stalls": "STALLED",
        "runs out": "ITERATION_LIMIT",
        "leaves": "DIVERGED",
        "a linear problem": "CONVERGED",
        "runs out on it": "ITERATION_LIMIT",
    }
    for name in ("circles", "stalls"):
        assert "steps of about lr = 0.1 circle the minimum" in ends[name][1]
        assert ends[name][1].endswith("Try method='lbfgs', or a smaller lr.")
    assert "Try method='lbfgs'." in ends["runs out"][1]
    assert "a smaller lr (now 1e+06)" in ends["leaves"][1]
    assert "is predicted to need" in ends["runs out on it"][1]


def test_it_is_planned(used):
    assert used["plans"]["l2"] == [True, used["plans"]["l2"][1], None]
    for penalty, remark in (("l1", "needs a smooth objective"), ("none", "no rate is known")):
        eligible, why, _ = used["plans"][penalty]
        assert not eligible
        assert remark in why


def test_it_is_listed_and_completed(followed):
    every = json.loads(run(followed, "-m", "thalweg", "methods", "--json"))["methods"]
    (one,) = [each for each in every if each["name"] == "sign-descent"]
    assert one["takes"] == ["linear", "functions"]
    assert one["options"] == {"lr": 0.1, "shrink": 0.5}
    assert one["summary"].startswith("steps of equal length in every coordinate")
    page = run(followed, "-m", "thalweg", "methods", "sign-descent")
    assert page.startswith("sign-descent, a method\n")
    assert "w⁺ = w − η sign(∇f(w))" in page
    words = {"COMP_WORDS": "thalweg train @iris -m sig", "COMP_CWORD": "4"}
    main = "from thalweg.cli import main; main(prog_name='thalweg')"
    offered = run(followed, "-c", main, _THALWEG_COMPLETE="bash_complete", **words)
    assert offered.split() == ["plain,sign-descent"]


# All that is about the method, and what is said of all of them at once.
WHICH = "sign-descent or every_option_of_every_method or lazy_names or colour_and_dash_of_its_own"


def test_it_keeps_the_contracts_and_has_its_page(followed):
    files = [
        *(f"tests/contracts/test_{name}.py" for name in ("methods", "linear", "repository")),
        *(f"tests/{name}.py" for name in ("methods/test_method", "methods/test_expectation")),
        "tests/figures/test_styles.py",
        "tests/contracts/test_docs.py",
    ]
    said = run(followed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", WHICH, *files)
    assert int(re.search(r"(\d+) passed", said)[1]) > 20
    assert "failed" not in said


def test_it_passes_the_linter_and_the_type_checker(followed):
    pytest.importorskip("ruff")
    pytest.importorskip("mypy")
    changed = [METHOD, "src/thalweg/methods/registry.py", "src/thalweg/__init__.pyi"]
    run(followed, "-m", "ruff", "check", "--no-cache", *changed)
    run(followed, "-m", "ruff", "format", "--check", "--no-cache", *changed)
    run(followed, "-m", "mypy", METHOD)
