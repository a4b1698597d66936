"""Wild problems beside the peers: all are told one F, and what came of it is summed up rightly."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from peers import tools
from peers.problems import Problem
from peers.timing import Fit, Sweep
from scipy import sparse
from wild import beside, beside_table
from wild.cases import LOSSES, problem
from wild.told import told

import thalweg as tw

SMALL = 4_000  # entries
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "wild_peers.py"


@pytest.fixture(scope="module")
def drawn():
    return [problem(seed, SMALL) for seed in range(0, 300, 2)]


@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic net"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_peers_are_told_thalwegs_objective(loss, penalty, drawn):
    some = [case for case in drawn if (case.loss, case.penalty) == (loss, penalty)]
    assert some
    rng = np.random.default_rng(0)
    for case in some:
        given = told(case)
        own = tw.LinearProblem(case.X, case.y, **case.arguments)
        # Coefficients that matter in the units of their columns.
        largest = abs(case.X).max(axis=0)
        largest = largest.toarray()[0] if sparse.issparse(largest) else largest
        spread = 1.0 if case.standardize else np.maximum(largest, 1e-6)
        W, b = own.split(rng.standard_normal(own.dim))
        w = own.features.join((W.T / spread).T, b)
        found = given.value(tools.point(given, own, w))
        assert found == pytest.approx(own.value(w), rel=1e-9), case.description


@pytest.mark.parametrize("loss", LOSSES)
def test_at_zero_the_intercept_is_the_best(loss, drawn):
    case = next(c for c in drawn if c.loss == loss and c.fit_intercept and c.sample_weight is None)
    given = told(case)
    b = np.atleast_1d(given.constant())
    at = lambda step: given.value(np.vstack([np.zeros((given.p, len(b))), b + step]))  # noqa: E731
    assert at(0.0) == given.at_zero
    for step in (0.01 * max(1.0, np.ptp(case.y)) * np.eye(len(b))).tolist():
        assert at(step) > given.at_zero
        assert at(-np.array(step)) > given.at_zero


def test_a_slice_has_every_class(drawn):
    rare = next(c for c in drawn if c.loss == "multinomial" and len(c.y) > 50)
    part = told(rare).slice(rows=3)
    assert len(part.y) < len(rare.y)
    assert np.array_equal(np.unique(part.y), np.unique(rare.y))
    assert part.exact.shape == part.X.shape


def tiny(loss, *, l1=0.0, l2=0.0, intercept=True, weights=None, is_sparse=False):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3)) * (rng.random((60, 3)) < 0.7)
    scores = X @ np.arange(-1.0, 2.0) + rng.standard_normal(60) + 0.5
    y = {
        "squared": scores,
        "logistic": np.where(scores > 0, 1.0, -1.0),
        "squared-hinge": np.where(scores > 0, 1.0, -1.0),
        "multinomial": np.digitize(scores, [-1.0, 1.0]).astype(float),  # K = p
    }[loss]
    s = {None: None, "all": rng.random(60) + 0.5, "classes": 2.0 + y}[weights]
    X = sparse.csr_matrix(X) if is_sparse else X
    return Problem(loss, X, y, loss, l1, l2, intercept, s)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    ("tool", "loss", "penalty"),
    [
        (tools.sklearn_logistic("lbfgs"), "logistic", {"l2": 0.03}),
        (tools.sklearn_logistic("newton-cholesky"), "multinomial", {"l2": 0.03}),
        (tools.sklearn_ridge("sparse_cg"), "squared", {"l2": 0.03}),
        (tools.sklearn_coordinates(), "squared", {"l1": 0.03, "l2": 0.1}),
        (tools.sklearn_svc(dual=False), "squared-hinge", {"l2": 0.03, "intercept": False}),
        (tools.sklearn_svc(dual=False), "squared-hinge", {"l1": 0.03, "intercept": False}),
        (tools.thalweg(), "multinomial", {"l1": 0.03}),
    ],
    ids=lambda value: value.name if isinstance(value, tools.Tool) else None,
)
def test_a_tool_minimises_with_weights_and_an_intercept(tool, loss, penalty, is_sparse):
    given = tiny(loss, weights="all", is_sparse=is_sparse, **penalty)
    assert tool.takes(given)
    w = tool.fit(tool.prepare(given), given, tol=1e-9)
    own = tools.as_own(given)
    assert tw.certify(own, w.ravel()).gap <= 1e-6 * given.at_zero


@pytest.mark.parametrize("is_sparse", [False, True])
def test_least_squares_without_a_penalty_have_no_slope_left(is_sparse):
    given, tool = tiny("squared", weights="all", is_sparse=is_sparse), tools.sklearn_least_squares()
    w = tool.fit(tool.prepare(given), given, tol=1e-9)
    np.testing.assert_allclose(tools.as_own(given).gradient(w), 0.0, atol=1e-8)


def test_elastic_net_of_a_classifier_is_told_rightly():
    given = tiny("logistic", l1=0.02, l2=0.05)
    tool = tools.sklearn_logistic("saga")
    w = tool.fit(tool.prepare(given), given, tol=1e-9)
    assert tw.certify(tools.as_own(given), w).gap <= 1e-6 * given.at_zero


def test_weights_are_known_by_their_kind():
    kind = lambda **options: tools.weights_of(tiny("logistic", l2=0.1, **options))  # noqa: E731
    assert kind() is tools.Weights.NONE
    assert kind(weights="all") is tools.Weights.ALL
    assert kind(weights="classes") is tools.Weights.CLASSES
    free = tiny("logistic", l2=0.1)
    counts = {sign: np.sum(free.y == sign) for sign in (-1.0, 1.0)}
    balanced = np.array([60 / (2 * counts[sign]) for sign in free.y])
    assert tools.weights_of(replace(free, sample_weight=balanced)) is tools.Weights.BALANCED


def names(given):
    return {tool.name for tool in tools.peers_for(given)}


def test_only_tools_that_can_be_told_the_problem_are_peers():
    # liblinear's primal solvers can leave the intercept free, its dual ones and LinearSVC cannot.
    free = names(tiny("squared-hinge", l2=0.1))
    assert free == {"cyanure qning-miso", "cyanure catalyst-miso", "liblinear primal"}
    assert names(tiny("squared-hinge", l2=0.1, weights="all")) == set()
    assert names(tiny("squared-hinge", l2=0.1, weights="classes")) == {"liblinear primal"}
    bare = tiny("squared-hinge", l2=0.1, weights="all", intercept=False)
    assert names(bare) == {"sklearn LinearSVC", "sklearn LinearSVC dual"}
    assert "snapml" not in names(tiny("logistic", l2=0.1))
    assert "snapml" in names(tiny("logistic", l2=0.1, intercept=False))
    huber = replace(tiny("squared", l2=0.1), loss="huber")
    assert names(huber) == {"skglm huber"}
    assert names(replace(huber, sample_weight=np.ones(60))) == set()


def bench(own=0.1, peers=(), left=60.0):
    found = beside.Beside(tiny("squared", l2=0.1), allowance=left, best=0.0)
    found.own = [Sweep("thalweg", [Fit({}, own, 0.0)])]
    found.peers = [Sweep(str(s), [Fit({}, s, 0.0)]) for s in peers]
    return found


def test_a_peer_is_given_what_could_make_it_the_fastest_within_what_is_left():
    assert bench().cap(10) == pytest.approx(1.0)  # ten times auto's
    assert bench(peers=[0.7, 0.6]).cap(10) == pytest.approx(0.72)
    assert bench(own=0.001).cap(10) == beside.SHORTEST
    assert bench(own=3.0).cap(10) == pytest.approx(6.0, rel=1e-2)
    assert bench(own=2.0, left=0.0).cap(10) == pytest.approx(4.0)


def test_who_ended_above_a_least_value_that_fell_is_swept_again(monkeypatch):
    given = tiny("squared", l2=0.1)
    found = beside.Beside(given, best=0.1 * given.at_zero)
    # One that ends at what is the least so far, one that gets below, and one that is cut.
    ends = {"early": (0.1, ""), "deep": (0.0, ""), "slow": (0.5, "cut after 1 s")}
    asked = []

    def sweep(tool, problem, best, cap, clock, **ends_of):
        asked.append(tool.name)
        share, note = ends[tool.name] if asked.count(tool.name) == 1 else (0.0, "")
        return Sweep(tool.name, [Fit({}, 1.0, share * given.at_zero)], note)

    monkeypatch.setattr(beside, "sweep", sweep)
    for name in ends:
        found.time(found.peers, tools.Tool(name, ({}, {}), None, None), given, 1.0)
    found.time_again()
    assert asked == [*ends, "early"]
    assert [found.seconds(done) for done in found.peers] == [1.0, 1.0, None]


def test_a_problem_without_a_peer_or_without_a_fall_has_no_record(monkeypatch):
    assert beside.measure(tiny("squared-hinge", l2=0.1, weights="all")) == "no peer"
    monkeypatch.setattr(beside, "reference", lambda problem, clock: problem.at_zero)
    assert beside.measure(tiny("squared", l2=0.1)) == "w = 0 is as good as any"


def test_a_problem_is_measured(monkeypatch):
    peers = [tools.sklearn_ridge("cholesky", ({},)), tools.sklearn_ridge("lsqr")]
    monkeypatch.setattr(beside, "peers_for", lambda problem: peers)
    record = beside.measure(tiny("squared", l2=0.1))
    assert json.loads(json.dumps(record))["own"] == record["own"]
    assert set(record["peers"]) == {"sklearn Ridge cholesky", "sklearn Ridge lsqr"}
    seconds, name = record["peer"]["1e-06"]
    assert seconds == min(record["peers"].values()) == record["peers"][name]
    assert record["own"]["0.01"] <= record["own"]["1e-06"] < 1.0
    assert record["bound"] is None
    assert record["method"]


def record(**changes):
    usual = {
        "seed": 2,
        "description": "a case",
        "loss": "squared",
        "entries": 5_000,
        "own": {"0.01": 0.1, "1e-06": 0.2},
        "own_note": "",
        "method": "newton",
        "peer": {"0.01": (0.3, "a"), "1e-06": (0.1, "b")},
        "bound": None,
        "spent": 1.0,
    }
    return usual | changes


NOBODY = {"0.01": (0.3, "a"), "1e-06": (None, "")}
NOT_THERE = {"0.01": 0.1, "1e-06": None}


def test_ratio_by_hand():
    assert beside_table.ratio(record()) == pytest.approx(0.5)
    assert beside_table.ratio(record(), 1e-2) == pytest.approx(3.0)
    assert beside_table.ratio(record(peer=NOBODY, bound=0.8)) == pytest.approx(4.0)
    assert beside_table.ratio(record(peer=NOBODY)) is None
    assert beside_table.ratio(record(own=NOT_THERE)) == pytest.approx(0.1 / beside.LONGEST)
    assert beside_table.ratio(record(own=NOT_THERE, peer=NOBODY)) is None


def test_the_page_has_the_mean_and_those_behind():
    records = [record(), record(seed=4, peer=NOBODY, bound=1.6), record(seed=6, peer=NOBODY)]
    text = beside_table.page(records)
    all_row = next(row for row in text.splitlines() if row.startswith("  all"))
    assert all_row.split() == ["all", "3", "problems", "2.00", "3.00", "1"]  # √(½·8)
    assert "no peer before it was cut: 1, no peer at all: 1" in text
    assert "behind, below 0.8: 1" in text
    assert "       4" not in text[text.index("behind, below") :]


def test_records_that_were_written_are_summed_up(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([record()]))
    done = subprocess.run(
        [sys.executable, SCRIPT, "--read", tmp_path / "a.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1 problems in 1 s" in done.stdout
