"""Wild problems: they are what they say, and what is measured on them is computed rightly."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import laws
import numpy as np
import pytest
import scipy.sparse
from wild import columns, measure, penalties, sizes, table
from wild.cases import LOSSES, Case, problem
from wild.targets import TWICE

import thalweg as tw

SMALL = 4_000  # entries
SEEDS = range(300)
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "wild.py"


@pytest.fixture(scope="module")
def drawn():
    return [problem(seed, SMALL) for seed in SEEDS]


def storage(X):
    if scipy.sparse.issparse(X):
        return f"csr {X.dtype}"
    return f"{'C' if X.flags.c_contiguous else 'F'} {X.dtype}"


def arrays(case):
    X = (case.X.data, case.X.indices, case.X.indptr) if scipy.sparse.issparse(case.X) else (case.X,)
    return (*X, case.y, np.zeros(0) if case.sample_weight is None else case.sample_weight)


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_a_seed_is_one_case(seed):
    first, again, other = problem(seed, SMALL), problem(seed, SMALL), problem(seed + 1, SMALL)
    assert all(np.array_equal(a, b) for a, b in zip(arrays(first), arrays(again), strict=True))
    assert first.arguments.keys() == again.arguments.keys()
    assert (first.description, first.l1, first.l2) == (again.description, again.l1, again.l2)
    assert first.description != other.description


def test_all_that_is_promised_occurs(drawn):
    assert {case.loss for case in drawn} == set(LOSSES)
    assert {case.penalty for case in drawn} == {"none", "l2", "l1", "elastic net"}
    kinds = {f"{way} {dtype}" for way in ("C", "F", "csr") for dtype in ("float64", "float32")}
    assert {storage(case.X) for case in drawn} == kinds
    for flag in ("fit_intercept", "standardize"):
        assert {getattr(case, flag) for case in drawn} == {True, False}
    assert {case.sample_weight is None for case in drawn} == {True, False}
    assert {case.X.shape[0] > case.X.shape[1] for case in drawn} == {True, False}
    words = " ".join(case.description for case in drawn)
    for word in (
        *("flat spectrum", "spectrum j^", "rank ", "blocks of", "one-hot", "tf-idf", "hashed"),
        *("year", "timestamp", "cents", "units 1e-6 to 1e6", "offsets of", "% positive"),
        *("separable classes", "pure noise", "balanced weights", "outliers", "shares k^"),
    ):
        assert word in words


def test_every_case_is_within_its_bounds_and_says_what_it_is(drawn):
    for case in drawn:
        n, p = case.X.shape
        assert f"{case.loss} {n:,}×{p:,}; " in case.description
        assert "\n" not in case.description
        assert n >= sizes.ROWS[0]
        values = case.X.data if scipy.sparse.issparse(case.X) else case.X
        assert np.all(np.isfinite(values))
        assert case.y.shape == (n,)
        assert np.all(np.isfinite(case.y))
        if case.penalty == "l2":
            assert case.l2 >= 0.999e-3 / n


def test_labels_are_classes_that_all_occur(drawn):
    for case in drawn:
        if case.loss in ("squared", "huber"):
            continue
        labels, counts = np.unique(case.y, return_counts=True)
        assert counts.min() >= TWICE
        if case.loss == "multinomial":
            assert np.array_equal(labels, np.arange(len(labels)))
            assert 3 <= len(labels) <= sizes.CLASSES[1]
            assert f"{len(labels)} classes" in case.description
        else:
            assert labels.tolist() in ([0, 1], [-1, 1])


def test_sizes_fill_their_ranges_and_keep_their_bounds():
    rng = np.random.default_rng(0)
    for is_sparse in (False, True):
        for is_multinomial in (False, True):
            found = [sizes.size(rng, is_sparse, is_multinomial, sizes.MOST) for _ in range(2000)]
            assert all(sizes.fits(size, sizes.MOST) for size in found)
            n, p, K, per_row = np.array(found).T
            assert n.min() < 60
            assert n.max() > 300_000
            assert p.min() == 2
            assert p.max() > (20_000 if is_multinomial else 100_000)
            assert (K.min(), K.max() > 40) == ((3, True) if is_multinomial else (1, False))
            assert np.max(n * per_row) * 12 <= 400e6  # bytes: an entry of CSR has 12
            # Log-uniform: small ones are common.
            assert np.mean(n * per_row < 100_000) > 0.3


@pytest.mark.parametrize("is_sparse", [False, True])
def test_moments_scores_and_slopes_are_those_of_centred_columns(is_sparse, monkeypatch):
    monkeypatch.setattr(columns, "CHUNK", 16)  # of three rows each
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 5)) * (rng.random((20, 5)) < 0.7) + (0 if is_sparse else 1e6)
    X[:, 3] = 0.0
    c, W, U = rng.random(20), rng.standard_normal((5, 2)), rng.standard_normal((20, 3))
    c /= c.sum()
    given = scipy.sparse.csr_matrix(X) if is_sparse else X
    means, spreads = columns.moments(given, c)
    centred = X - c @ X
    np.testing.assert_allclose(means, c @ X, rtol=1e-14)
    np.testing.assert_allclose(spreads, np.sqrt(c @ centred**2), rtol=1e-9, atol=1e-12)
    assert spreads[3] == 0.0
    np.testing.assert_allclose(columns.scores(given, means, W), centred @ W, atol=1e-8)
    np.testing.assert_allclose(columns.slopes(given, means, U), centred.T @ U, atol=1e-8)


@pytest.mark.parametrize("is_standardized", [False, True])
@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_above_the_largest_l1_all_is_zero_and_below_it_is_not(
    loss, has_intercept, is_standardized, drawn
):
    kind = (loss, has_intercept, is_standardized)
    case = next(c for c in drawn if (c.loss, c.fit_intercept, c.standardize) == kind)
    largest = penalties.l1_max(case)
    for factor, is_zero in ((1.0001, True), (0.9, False)):
        arguments = case.arguments | {"l1": factor * largest, "l2": 0.0}
        built = tw.LinearProblem(case.X, case.y, **arguments)
        run = tw.minimize(built, "auto", tol=1e-9, progress=False)
        W, _ = built.split(run.w)
        assert run.certificate.holds
        assert (not np.any(W)) is is_zero, case.description


def tiny(loss):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + rng.standard_normal(60)
    y = y if loss == "squared" else (y > 0).astype(int)
    return Case(X, y, loss, 0.0, 0.1, True, None, 1.0, False, f"{loss} 60×4")


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_case_is_measured(loss, monkeypatch):
    monkeypatch.setattr(measure, "METHODS", ("cholesky", "lbfgs", "newton"))
    record = measure.measure(tiny(loss))
    assert json.loads(json.dumps(record)) == record
    assert record["ending"] == ""
    certified = {"lbfgs", "newton"} | ({"cholesky"} if loss == "squared" else set())
    assert set(record["times"]) == certified
    assert record["fastest"] == min(record["times"], key=record["times"].get)
    assert record["planned"] is not None
    assert 0 < record["plan_seconds"] < record["auto"]
    assert 0 < record["actual"] <= record["auto"]
    assert record["predicted"] > 0
    refused = record["endings"].get("cholesky", "")
    assert refused.startswith("refused: cholesky needs the squared loss") is (loss == "logistic")


def bench(**seconds):
    found = {name: measure.Timing([s]) for name, s in seconds.items()}
    return measure.Bench(tiny("squared"), 1e-6, 60.0, lambda: 0.0, found)


def test_a_method_is_given_four_times_autos_time_within_what_is_left():
    assert bench(auto=0.01).cap(10) == measure.SHORTEST
    assert bench(auto=1.0).cap(10) == 4.0
    assert bench(auto=2.0).cap(10) == 6.0  # a tenth of 60
    assert bench(auto=9.0).cap(10) == 9.0
    failed = bench()
    failed.found["auto"] = measure.Timing(ending="TIME_LIMIT")
    assert failed.cap(10) == 6.0


def test_those_near_the_fastest_are_timed_again():
    assert bench(auto=5.0, newton=1.0, lbfgs=1.9, saga=2.1).contenders() == [
        *("auto", "newton", "lbfgs"),
    ]


def ended(holds):
    named = SimpleNamespace(name="CONVERGED" if holds else "TIME_LIMIT")
    return SimpleNamespace(certificate=SimpleNamespace(holds=holds), outcome=named)


def test_a_run_without_a_certificate_has_no_time():
    timing = measure.Timing()
    timing.add(0.1, ended(holds=False))
    assert (timing.seconds, timing.ending) == (None, "TIME_LIMIT")


def test_the_median_counts_and_the_shortest_run_is_told():
    timing, runs = measure.Timing(), [ended(holds=True) for _ in range(3)]
    for seconds, run in zip((0.3, 0.1, 0.2), runs, strict=True):
        timing.add(seconds, run)
    assert timing.seconds == 0.2
    assert timing.run is runs[1]


def test_a_run_that_compiled_is_made_again(monkeypatch):
    runs = [(9.0, ended(holds=False), False), (0.1, ended(holds=True), True)]
    monkeypatch.setattr(measure.Bench, "once", lambda self, method, cap: runs.pop(0))
    timed = bench()
    timed.time("cd", 1.0)
    assert timed.found["cd"].times == [0.1]


@pytest.mark.parametrize(("unit", "repeats"), [(0.001, 7), (0.01, 3)])
def test_repeats_take_turns_and_what_breaks_ends_nothing(unit, repeats, monkeypatch):
    asked = []
    lasts = {"auto": 20 * unit, "newton": 10 * unit, "lbfgs": 12 * unit, "cd": 30 * unit}

    def once(self, method, cap):
        asked.append(method)
        if method == "svrg":
            raise ZeroDivisionError("by zero")
        return lasts[method], ended(holds=True), True

    monkeypatch.setattr(measure.Bench, "once", once)
    monkeypatch.setattr(measure, "METHODS", ("newton", "svrg", "lbfgs", "cd"))
    monkeypatch.setattr(measure, "told", lambda bench: bench.found)
    found = measure.measure(tiny("squared"))
    turn = ["auto", "newton", "lbfgs"]
    assert asked == ["auto", "auto", "newton", "svrg", "lbfgs", "cd", *(repeats - 1) * turn]
    assert found["svrg"].ending == "broke: ZeroDivisionError: by zero"
    assert found["auto"].times == [20 * unit] * repeats


def record(**changes):
    usual = {
        "seed": 1,
        "description": "a case",
        "auto": 0.3,
        "ending": "",
        "planned": "newton",
        "method": "newton",
        "changes": [],
        "plan_seconds": 0.01,
        "predicted": 0.05,
        "actual": 0.2,
        "times": {"newton": 0.2, "cd": 0.1},
        "endings": {},
        "fastest": "cd",
        "spent": 1.0,
    }
    return usual | changes


def test_ratio_error_and_planning_by_hand():
    assert table.ratio(record()) == pytest.approx(3.0)
    assert table.error(record()) == pytest.approx(4.0)
    assert table.planning(record()) == pytest.approx(0.1)
    assert table.ratio(record(times={})) == 1.0
    assert table.ratio(record(auto=None)) == float("inf")
    assert table.ratio(record(auto=None, times={})) is None
    assert table.error(record(auto=None)) is None


def test_the_page_counts_and_shows_the_worst_first():
    records = [record(seed=7), record(seed=8, auto=0.1), record(seed=9, auto=None, times={})]
    text = table.page(records)
    assert "auto within 1.25× of the fastest: 1 of 2 (50 %)" in text
    assert "auto within 4× of the fastest: 2 of 2 (100 %)" in text
    assert "auto not certified in 1: [9]" in text
    assert text.index("       7      3") < text.index("       8      1")


def test_records_that_were_written_are_summed_up(tmp_path):
    for name, seed in (("a.json", 1), ("b.json", 3)):
        (tmp_path / name).write_text(json.dumps([record(seed=seed)]))
    done = subprocess.run(
        [sys.executable, SCRIPT, "--read", tmp_path / "a.json", tmp_path / "b.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "2 problems in 2 s" in done.stdout


def test_a_law_is_found_again_and_runs_that_were_cut_off_are_longer():
    rng = np.random.default_rng(0)
    k, r = np.exp(rng.uniform(0.0, 5.0, 300)), np.exp(rng.uniform(-3.0, 3.0, 300))
    passes = 7.0 * k**0.5 * r**0.1 * np.exp(0.3 * rng.standard_normal(300))
    Z = np.column_stack([np.ones(300), np.log(k), np.log(r)])
    most = 40.0
    seen, is_done = np.log(np.minimum(passes, most)), passes <= most
    powers, off = laws.fitted(Z, seen, is_done)
    assert np.exp(powers[0]) == pytest.approx(7.0, rel=0.2)
    assert powers[1:] == pytest.approx([0.5, 0.1], abs=0.06)
    naive = np.linalg.lstsq(Z[is_done], seen[is_done], rcond=None)[0]
    assert abs(powers[1] - 0.5) < abs(naive[1] - 0.5)
    assert np.std(off) < 0.4
