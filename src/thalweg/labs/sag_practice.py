"""What makes SAG practical: six switches, each tried on and off.

Regularization. A penalty (l2/2)‖x‖² enters every step exactly, and needs no memory; l1‖x‖₁ enters
by a soft threshold S after the step:

    x ← S(x − α(d/m + l2·x), α·l1)

Sparse gradients. A row with few entries changes few coefficients of d, but the step moves all of x.
A coefficient that no row touches moves by a known sum, and catches up when it is next needed.

Automatic step. Every visited sample tests an estimate of L by its own decrease, raises it where it
is too small, and lets it sink slowly; the step is 1/2L.

Covered samples. In the first passes many gradients are still zero. Dividing d by the number m of
samples seen, not by n, keeps the first steps from being too short.

Acceleration. Catalyst lets SAG solve f(x) + (κ/2)‖x − yₖ‖², and moves yₖ with momentum.

Termination. A step is x⁺ = x − (α/n)d, so that ‖x⁺ − x‖/α = ‖d/n‖ costs nothing. Whether it is near
‖∇f(x)‖ is another matter. Along curvature λ the mean of SAG follows, with refreshes at rate 1/n,

    x′ = −αm,   m′ = (λx − m)/n          so that  s² + s/n + αλ/n = 0  for solutions e^(st)

Where 4αλn < 1 both roots are real, and on the slow one m is between λx and 2λx. Where 4αλn > 1 the
two swing out of step, with |m| = λ|x|/√(αλn), and all such curvatures shrink alike. So ‖d/n‖ tells
‖∇f‖ in the end where 4αμn < 1. With the longer steps of practice it may be a small part of it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

import thalweg as tw
from thalweg.labbook import (
    CONDITION,
    NOTED,
    WRITTEN,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import Samples, samples

THEORY: dict[str, Any] = {"step": "theory", "sampling": "uniform"}  # α = 1/16L
LONG: dict[str, Any] = {"sampling": "uniform"}  # α = 1/2L
HUES = {"1/16L": 3, "1/2L": 6, "searched": 5}  # of the steps, in both panels
FACTOR = 2.0  # within which two norms are called near
Row = tuple[str, str, str, str]  # switch, measure, off, on


class Tried(NamedTuple):
    """What came of one switch."""

    checks: list[Check]
    rows: list[Row]
    curves: dict[str, tuple[np.ndarray, np.ndarray]]


def experiment(setting: Setting, *, covered: str = "seen", kappa: float | None = None) -> Findings:
    """Each switch on and off; `covered` is the memory's start, `kappa` that of Catalyst."""
    data = samples("a9a", rows=setting.pick(glance=800, quick=6_000, full=None))
    data = data._replace(X=normalize(data.X))  # rows of length 1: every Lᵢ = 0.25 + l2
    tried = {
        "regularization": _regularization(setting, data),
        "sparse": _sparse(setting, data),
        "step": _automatic(setting, data),
        "covered": _covered(setting, data, covered),
        "acceleration": _acceleration(setting, data, kappa),
        "termination": _termination(setting, data),
    }
    checks = [check for each in tried.values() for check in each.checks]
    rows = [row for each in tried.values() for row in each.rows]
    heads = ("switch", "measure", "off", "on")
    return Findings(
        checks,
        [Sheet("Every switch, off and on", heads, tuple(rows))],
        [_drawn(tried)],
        [f"{data.note}, rows scaled to length 1, logistic; accelerated on the first "
         f"{_few(setting, data):,} of them", "l2 in units of L/n, with L = 0.25"],
    )  # fmt: skip


def _problem(
    data: Samples, share: float, *, l1: float = 0.0, rows: int | None = None, scale: float = 1.0
) -> tw.LinearProblem:
    """Logistic regression with l2 = share·L/n; features times `scale`, l2 to match."""
    X, y = data.X[:rows], data.y[:rows]
    l2 = share * 0.25 / X.shape[0]
    return tw.LinearProblem(
        scale * X, y, "logistic", l1=l1, l2=scale**2 * l2, fit_intercept=False
    )  # fmt: skip


def _run(problem: tw.LinearProblem, method: Any, tol: float, most: int, seed: int) -> tw.Run:
    return tw.minimize(problem, method, tol=tol, max_iter=most, seed=seed, progress=False)


def _least(problem: tw.LinearProblem) -> tw.Run:
    return tw.minimize(problem, "cd" if problem.l1 else "newton", tol=1e-13, progress=False)


def _gaps(
    problem: tw.LinearProblem, method: Any, passes: int, seeds: range, least: float
) -> np.ndarray:
    """Geometric means of f − f* over seeds, after every pass."""
    ways = [_run(problem, method, 1e-300, passes, seed).trace["value"] - least for seed in seeds]
    return np.exp(np.mean(np.log(np.maximum(ways, 1e-16)), axis=0))


def _regularization(setting: Setting, data: Samples) -> Tried:
    free = _problem(data, 0.0)
    most = float(np.max(np.abs(free.gradient(free.start))))  # from this l1 on, all are zero
    found = {}
    penalties = {"none": (0.01, 0.0), "l2": (10.0, 0.0), "l1": (1.0, 0.1 * most)}
    for name, (share, threshold) in penalties.items():
        problem = _problem(data, share, l1=threshold)
        best = _least(problem)
        run = _run(problem, tw.SAG(), 1e-7, 1_000 if name != "none" else 40, setting.seed)
        found[name] = (run, best, (run.value - best.value) / problem.value(problem.start))
    l2, l1 = found["l2"], found["l1"]
    sizes = {name: float(np.linalg.norm(each[0].w)) for name, each in found.items()}
    kept = {name: int(np.count_nonzero(each[0].w)) for name, each in found.items()}
    same = int(np.sum((l1[0].w != 0.0) != (l1[1].w != 0.0)))
    return Tried(
        [
            Check(
                "regularization, l2: SAG ends at the penalised minimum",
                l2[0].converged and l2[2] <= 1e-7,
                f"gap {l2[2]:.1g} of F(0) to Newton's, tolerance 1e-07; ‖x‖ {sizes['l2']:.3g}, "
                f"{sizes['none']:.3g} with a thousandth of the penalty",
            ),
            Check(
                "regularization, l1: SAG ends at the sparse minimum",
                l1[0].converged and l1[2] <= 1e-7 and same <= 2 and kept["l1"] < kept["none"],
                f"gap {l1[2]:.1g} of F(0) to coordinate descent's; {kept['l1']} coefficients of "
                f"{data.X.shape[1]} are not zero, {same} of them others; {kept['none']} without l1",
            ),
        ],
        [
            ("l2", "‖x‖", f"{sizes['none']:.3g}", f"{sizes['l2']:.3g}"),
            ("l1", "coefficients not zero", f"{kept['none']}", f"{kept['l1']}"),
        ],
        {},
    )  # fmt: skip


def _words(setting: Setting, n: int, p: int) -> tuple[Any, np.ndarray]:
    """n rows with 15 words each of p, drawn at random."""
    rng, each = setting.rng("words", p), 15
    columns = rng.integers(p, size=n * each)
    values = np.abs(rng.standard_normal(n * each)) / math.sqrt(each)
    X = scipy.sparse.csr_array(
        (values, (np.repeat(np.arange(n), each), columns)), shape=(n, p)
    )  # fmt: skip
    return X, rng.integers(2, size=n)


def _sparse(setting: Setting, data: Samples) -> Tried:
    """The same iterates from sparse and dense rows, and the time of a pass."""
    rows = 400
    X = scipy.sparse.csr_array(data.X[:rows])
    ends = []
    for each in (X, X.toarray()):
        problem = tw.LinearProblem(
            each, data.y[:rows], "logistic", l1=1e-3, l2=1e-3, fit_intercept=False
        )
        ends.append(_run(problem, tw.SAG(), 1e-300, 5, setting.seed).w)
    off = float(np.max(np.abs(ends[0] - ends[1])))

    def seconds(X: Any, y: np.ndarray, passes: int = 30) -> float:
        problem = tw.LinearProblem(X, y, "logistic", l2=1e-3, fit_intercept=False)
        run = _run(problem, tw.SAG(), 1e-300, passes, setting.seed)
        return float(np.min(np.diff(run.trace["seconds"])[1:]))  # others may share the machine

    X, y = _words(setting, 800, 3_000)
    lag, plain = seconds(X, y), seconds(X.toarray(), y, passes=6)
    narrow, wide = (seconds(*_words(setting, 2_000, p)) for p in (3_000, 30_000))
    return Tried(
        [
            Check(
                "sparse gradients: lagged updates give the iterates of dense rows",
                off <= 1e-10, f"after 5 passes they differ by at most {off:.1g}, l1 and l2 on",
            ),
            Check(
                "sparse gradients: a step costs the entries of its row, not p",
                # If dense, 200 and 10 times the entries.
                lag <= plain / 3.0 and wide <= 5.0 * narrow,
                f"800 rows of 15 words of 3,000: {1e3 * lag:.2f} ms a pass, dense "
                f"{1e3 * plain:.2f} ms; ten times the words, sparse: {wide / narrow:.2f} times "
                "the time",
            ),
        ],
        [("sparse rows", "ms a pass, 800 × 3,000", f"{1e3 * plain:.2f}", f"{1e3 * lag:.2f}")],
        {},
    )  # fmt: skip


def _automatic(setting: Setting, data: Samples) -> Tried:
    problem, tol, most = _problem(data, 0.1), 1e-5, setting.pick(glance=70, quick=500, full=5_000)
    least = _least(problem).value
    methods = {
        "1/16L": tw.SAG(step="theory"), "1/2L": tw.SAG(), "searched": tw.SAG(step="search"),
    }  # fmt: skip
    seeds = range(10 * setting.seed, 10 * setting.seed + setting.pick(glance=2, quick=3, full=10))
    counts = {
        name: float(np.mean([_run(problem, each, tol, most, seed).iterations for seed in seeds]))
        for name, each in methods.items()
    }
    written = {
        name: f"{count:.0f}" if count < most else f"{most} or more"
        for name, count in counts.items()
    }  # fmt: skip
    # A hundredfold scale: L is 10⁴ times as large, and nothing tells the search.
    scaled = _problem(data, 0.1, scale=100.0)
    again = _run(scaled, tw.SAG(step="search"), tol, most, seeds[0])
    once = _run(problem, tw.SAG(step="search"), tol, most, seeds[0])
    step = 0.5 / float(problem.row_smoothness.max())
    blind = _run(scaled, tw.SAG(step=min(step, 0.9 / scaled.l2)), tol, 30, seeds[0])
    passes = setting.pick(glance=10, quick=30, full=60)
    ways = {
        name: _gaps(problem, each, passes, seeds, least) for name, each in methods.items()
    }  # fmt: skip
    return Tried(
        [
            Check(
                "automatic step: the search needs no L, and no more passes than 1/2L or 1/16L",
                # A tenth of room: passes to a tolerance jump, as gaps are looked at now and then.
                counts["searched"] <= 1.1 * counts["1/2L"]
                and counts["searched"] <= counts["1/16L"],
                ", ".join(f"{name} {count}" for name, count in written.items())
                + f" passes to {tol:g}",
            ),
            Check(
                "automatic step: it finds its own after a change of scale",
                again.converged and again.iterations <= 1.2 * once.iterations
                and not blind.converged,
                f"features times 100: {again.iterations} passes, {once.iterations} before; the old "
                f"step: {blind.outcome.word.lower()}, F rose to "
                f"{np.max(blind.trace['value']):.2g}",
            ),
        ],
        [
            ("automatic step", f"passes to {tol:g}, beside 1/16L", written["1/16L"],
             written["searched"]),
            ("automatic step", f"passes to {tol:g}, beside 1/2L", written["1/2L"],
             written["searched"]),
        ],
        {name: (np.arange(passes + 1), way) for name, way in ways.items()},
    )  # fmt: skip


def _covered(setting: Setting, data: Samples, covered: str) -> Tried:
    problem, passes = _problem(data, 1.0), setting.pick(glance=3, quick=8, full=20)
    least = _least(problem).value
    count = setting.pick(glance=5, quick=8, full=20)
    seeds = range(100 * setting.seed, 100 * setting.seed + count)
    ways = {
        start: _gaps(problem, tw.SAG(start=each, **THEORY), passes, seeds, least)
        for start, each in (("d/n", "zero"), ("d/m", covered))
    }
    ratio = ways["d/m"][1] / ways["d/n"][1]
    longer = [
        _gaps(problem, tw.SAG(start=start, **LONG), 1, seeds, least)[1]
        for start in ("zero", covered)
    ]
    return Tried(
        [
            Check(
                "covered samples: with d/m for d/n the first pass of 1/16L goes further",
                ratio <= 0.85,
                f"the gap after it is {ratio:.2f} of that with d/n, mean over {len(seeds)} seeds",
            ),
            Check(
                "covered samples: so it does with the longer step 1/2L",
                longer[1] <= 0.85 * longer[0],
                f"{longer[1] / longer[0]:.2f} of that with d/n: a step that is long enough gains "
                "little, or overshoots",
                NOTED,
            ),
        ],
        [("covered samples", "f − f* after a pass of 1/16L", f"{ways['d/n'][1]:.3g}",
          f"{ways['d/m'][1]:.3g}")],
        {name: (np.arange(passes + 1), way) for name, way in ways.items()},
    )  # fmt: skip


def _few(setting: Setting, data: Samples) -> int:
    """Rows on which SAG itself can be waited for where it is ill conditioned."""
    return min(setting.pick(glance=300, quick=1_000, full=2_000), data.X.shape[0])


def _acceleration(setting: Setting, data: Samples, kappa: float | None) -> Tried:
    problem = _problem(data, 0.002, rows=_few(setting, data))
    tol = setting.pick(glance=1e-5, quick=1e-6, full=1e-6)
    least = _least(problem).value
    fast = _run(problem, tw.Catalyst("sag", kappa=kappa), tol, 1_000, setting.seed)
    # SAG gets a quarter more than acceleration took, and the rest is not waited for.
    slow = _run(problem, tw.SAG(), tol, math.ceil(1.25 * fast.evaluations), setting.seed)
    easy = _problem(data, 4.0)
    ends = [
        _run(easy, each, 1e-300, 5, setting.seed).w
        for each in (tw.Catalyst("sag", kappa=kappa), tw.SAG(start="full"))
    ]
    off = float(np.max(np.abs(ends[0] - ends[1])))
    told = "not there after" if not slow.converged else "there after"
    curves = {
        name: (run.trace["evaluations"], run.trace["value"] - least)
        for name, run in (("sag", slow), ("catalyst", fast))
    }
    return Tried(
        [
            Check(
                "acceleration: where L/n > μ Catalyst needs at most 0.8 of SAG's sample gradients",
                fast.converged and not slow.converged,
                f"{fast.evaluations:,} passes to {tol:g} with l2 = 0.002·L/n; SAG is {told} "
                f"{slow.evaluations:,}, at a gap of {curves['sag'][1][-1]:.1g}",
            ),
            Check(
                "acceleration: where L/n < μ it is switched off, and SAG runs as it is",
                off == 0.0, f"l2 = 4·L/n: the same iterates to {off:.1g}",
            ),
        ],
        [("acceleration", f"passes to {tol:g}, l2 = 0.002·L/n",
          f"{slow.evaluations:,}" if slow.converged else f"more than {slow.evaluations:,}",
          f"{fast.evaluations:,}")],
        curves,
    )  # fmt: skip


def _termination(setting: Setting, data: Samples) -> Tried:
    problem, passes = _problem(data, 1.0), 40
    kept = slice(passes // 2 - 1, None)  # the swings of what the start left fade first
    ways, shares = {}, {}
    for name, options in (("1/16L", THEORY), ("1/2L", LONG)):
        pairs: list[tuple[float, float]] = []

        def note(seen: tw.Step, pairs: list[tuple[float, float]] = pairs) -> None:
            exact = float(np.max(np.abs(problem.gradient(np.array(seen.w)))))
            pairs.append((seen.gradient_norm, exact))

        tw.minimize(
            problem, tw.SAG(start="zero", **options), tol=1e-300, max_iter=passes,
            seed=setting.seed, progress=False, callback=note,
        )  # fmt: skip
        known = np.array(pairs)
        shares[name] = known[:, 0] / known[:, 1]
        ways[name] = (np.arange(1, passes + 1), shares[name])
    near = {
        name: bool(np.all((share[kept] >= 1.0 / FACTOR) & (share[kept] <= FACTOR)))
        for name, share in shares.items()
    }
    told = {
        name: f"‖d/n‖/‖∇f‖ from {share[kept].min():.3g} to {share[kept].max():.3g} from pass "
        f"{passes // 2} to {passes}"
        for name, share in shares.items()
    }
    short, long = shares
    return Tried(
        [
            _identity(setting, data),
            Check(f"termination: ‖d/n‖ ≈ ‖∇f‖, here within a factor of {FACTOR:g}, with the step "
                  "1/2L of practice", near[long], told[long], WRITTEN),
            Check(f"termination: ‖d/n‖ ≈ ‖∇f‖, within a factor of {FACTOR:g}, where 4αμn < 1: with "
                  "the step 1/16L", near[short], told[short], CONDITION),
            _trusted(setting, data),
        ],
        [("termination", "median ‖d/n‖/‖∇f‖, 1/2L and 1/16L",
          f"{np.median(shares[long][kept]):.2g}", f"{np.median(shares[short][kept]):.2g}")],
        ways,
    )  # fmt: skip


def _identity(setting: Setting, data: Samples) -> Check:
    """‖x⁺ − x‖/α = ‖d/n‖ where a pass is one step, so that both of its ends are seen."""
    n, step = min(300, data.X.shape[0]), 0.5
    problem = _problem(data, 0.0, rows=n)
    ways, sizes = [problem.start], []

    def note(seen: tw.Step) -> None:
        ways.append(np.array(seen.w))
        sizes.append(seen.gradient_norm)

    tw.minimize(
        problem, tw.SAG(step=step, batch=n, sampling="cyclic", start="zero"), tol=1e-300,
        max_iter=10, seed=setting.seed, progress=False, callback=note,
    )  # fmt: skip
    moved = np.max(np.abs(np.diff(ways, axis=0)), axis=1) / step
    off = float(np.max(np.abs(moved / np.array(sizes) - 1.0)))
    return Check(
        "termination: ‖xᵗ⁺¹ − xᵗ‖/α = ‖d/n‖, which a run knows without a look at the data",
        off <= 1e-9, f"they differ by at most {off:.1g} of it over {len(sizes)} steps",
    )  # fmt: skip


def _trusted(setting: Setting, data: Samples) -> Check:
    """A run that stops is as near as was asked: ‖d/n‖ only says when to look."""
    problem = _problem(data, 1.0)
    least, scale = _least(problem).value, problem.value(problem.start)
    shares, looks = {}, {}
    for tol in (1e-3, 1e-5, 1e-7):
        run = _run(problem, tw.SAG(**LONG), tol, 400, setting.seed)
        shares[tol] = (run.value - least) / (tol * scale) if run.converged else math.inf
        looks[tol] = run.iterations
    return Check(
        "termination: a run stops on its duality gap, and ‖d/n‖ only tells when to look at it",
        all(share <= 1.0 for share in shares.values()),
        ", ".join(f"tol {tol:g}: {looks[tol]} passes, f − f* {share:.2g} of what is allowed"
                  for tol, share in shares.items()),
    )  # fmt: skip


def _drawn(tried: dict[str, Tried]) -> Figure:
    covered, steps = tried["covered"].curves, tried["step"].curves
    ratio, fast = tried["termination"].curves, tried["acceleration"].curves
    last = {name: way[1][-1] for name, way in steps.items()}
    return figure(
        "SAG's switches",
        (
            panel("passes", "f − f*",
                  [curve(name, *way, hue) for hue, (name, way) in enumerate(covered.items(), 1)],
                  log="y", title="Covered samples, α = 1/16L"),
            panel("passes", "f − f*",
                  [curve(name, *way, HUES[name]) for name, way in steps.items()],
                  log="y", title="Automatic step"),
            panel("passes", "‖d/n‖/‖∇f‖",
                  [Guide("equal", 1.0),
                   *(curve(name, *way, HUES[name]) for name, way in ratio.items())],
                  log="y", title="Termination"),
            panel("full gradients' worth", "f − f*",
                  [curve(name, *way) for name, way in fast.items()],
                  log="y", title="Acceleration, l2 = 0.002·L/n"),
        ),
        f"Dividing by the covered samples leaves {covered['d/m'][1][1] / covered['d/n'][1][1]:.2f} "
        f"of the gap after a pass. After {len(steps['1/2L'][0]) - 1} passes the searched step is "
        f"at {last['searched']:.1g}, 1/2L at {last['1/2L']:.1g}, 1/16L at {last['1/16L']:.1g}. "
        "With 1/16L ‖d/n‖ settles near ‖∇f‖, with 1/2L it stays a fraction of it. "
        "Where ill conditioned, Catalyst overtakes SAG.",
        columns=2,
    )  # fmt: skip


LAB = Lab(
    name="sag-practice",
    claim="Practical variants of SAG allow regularization, sparse gradients, an automatic step, a "
    "stop on ‖xᵗ⁺¹ − xᵗ‖/α = ‖d/n‖ ≈ ‖∇f‖, acceleration, and a count of covered samples.",
    formula="x ← S(x − α(d/m + l2·x), α·l1)        ‖xᵗ⁺¹ − xᵗ‖/α = ‖d/n‖ ≈ ‖∇f(xᵗ)‖",
    places=("B, SAG Implementation",),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("covered", "sums divided by n from the start", {"covered": "zero"}),
        Break("acceleration", "an acceleration with κ = 0", {"kappa": 0.0}),
    ),
    condition="‖d/n‖ is near ‖∇f‖ if the step is short, 4αμn < 1. With the longer steps of "
    "practice the remembered gradients swing, and ‖d/n‖ may be a small part of ‖∇f‖. All other "
    "variants hold as they are.",
    fails_if="a variant that does not do its work: a penalised minimum missed by more than the "
    "tolerance, sparse iterates that differ from dense ones, a searched step that needs more "
    "passes than 1/2L, a first pass that d/m does not bring further, an acceleration that takes "
    "more than 0.8 of SAG's sample gradients, or ‖d/n‖ off ‖∇f‖ by a factor of 2 with a short step",
    code="""\
import numpy as np
import thalweg as tw
from sklearn.preprocessing import normalize

table = tw.read("@cancer", dtype="float64")
X = normalize(tw.scaling.ZScore().fit_transform(table.X))
f = tw.LinearProblem(X, table.y, "logistic", l2=0.025 / len(X), fit_intercept=False)
plain, searched = (tw.minimize(f, tw.SAG(step=step), tol=1e-5) for step in ("theory", "search"))
print(f"passes: 1/16L {plain.iterations}, searched {searched.iterations}")
sparse = tw.LinearProblem(X, table.y, "logistic", l1=0.01, l2=0.25 / len(X), fit_intercept=False)
print("coefficients left by l1:", np.count_nonzero(tw.minimize(sparse, "sag").w), "of", X.shape[1])
assert searched.iterations < plain.iterations
""",
    seconds=8.6,
    remark="The lecture gives ‖d/n‖ ≈ ‖∇f‖ without a condition, and with its step 1/16L on weakly "
    "penalised problems it is right. The library's step is 1/2L; its runs end on a duality gap and "
    "use ‖d/n‖ to choose when to look. Adaptive non-uniform sampling, the last of the slide's "
    "variants, has a lab of its own: sag-sampling.",
)
