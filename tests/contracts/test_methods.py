"""What every method promises. A new method gets all of it by being in the table `METHODS`."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import thalweg as tw
from thalweg.kernels.elementwise import PASSES

# Those for linear problems alone have promises of their own (test_linear.py).
ALL = sorted(name for name, method in tw.METHODS.items() if not method.only_linear)
NOISE_TOLERANT = [name for name in ALL if tw.METHODS[name].takes_noise]
DTYPES = [np.float32, np.float64]

# Where a method's default is chosen by the surface, noise needs a step of its own.
NOISY_OPTIONS = {name: {"step": 1e-4} for name in ALL if "step" in tw.METHODS[name]().options}


def trace_without_clock(run):
    return {name: run.trace[name] for name in tw.Trace.COLUMNS if name != "seconds"}


def assert_same_bits(a, b):
    assert a.w.tobytes() == b.w.tobytes()
    assert a.value == b.value
    assert a.outcome is b.outcome
    assert a.counts == b.counts
    for column, numbers in trace_without_clock(a).items():
        np.testing.assert_array_equal(numbers, b.trace[column], err_msg=column)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_reaches_the_minimum_of_a_quadratic_and_keeps_the_dtype(name, dtype):
    surface = tw.surfaces.Quadratic((1.0, 3.0, 10.0), center=(1.0, -2.0, 0.5))
    tol = 1e-3 if dtype == np.float32 else 1e-6
    run = tw.minimize(surface, name, np.zeros(3, dtype=dtype), tol=tol)
    assert run.w.dtype == dtype
    assert run.outcome is tw.Outcome.CONVERGED, run
    np.testing.assert_allclose(run.w, [1.0, -2.0, 0.5], atol=30 * tol)
    assert run.certificate.holds
    assert run.certificate.gap == pytest.approx(surface.value(run.w), abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_every_state_array_has_the_dtype_of_w(name):
    from thalweg.methods.problem import Problem

    method = tw.METHODS[name]()
    w0 = np.array([-1.5, 2.0], dtype=np.float32)
    problem = Problem(tw.surfaces.Rosenbrock(), 2, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    for _ in range(3):
        for field, value in state._asdict().items():
            assert not isinstance(value, np.ndarray) or value.dtype == np.float32, field
        state = method.advance(problem, state)


@pytest.mark.parametrize("name", ALL)
def test_start_is_left_alone(name):
    w0 = np.array([-1.5, 2.0])
    run = tw.minimize(tw.surfaces.Rosenbrock(), name, w0, max_iter=5)
    np.testing.assert_array_equal(w0, [-1.5, 2.0])
    np.testing.assert_array_equal(run.w0, w0)
    run.w[:] = 7.0
    np.testing.assert_array_equal(run.w0, w0)


@pytest.mark.parametrize("name", ALL)
def test_advance_leaves_the_point_it_was_given_alone(name):
    from thalweg.methods.problem import Problem

    method = tw.METHODS[name]()
    w0 = np.array([-1.5, 2.0])
    problem = Problem(tw.surfaces.Rosenbrock(), 2, w0.dtype)
    state = method.init(problem, w0, np.random.default_rng(0))
    for _ in range(3):
        kept = state.w.copy(), state.gradient.copy()
        following = method.advance(problem, state)
        np.testing.assert_array_equal(state.w, kept[0])
        np.testing.assert_array_equal(state.gradient, kept[1])
        state = following


@pytest.mark.parametrize("name", ALL)
def test_a_run_replays(name):
    first, second = (
        tw.minimize(tw.surfaces.Rosenbrock(), name, max_iter=40, seed=3) for _ in range(2)
    )
    assert_same_bits(first, second)


@pytest.mark.parametrize("name", NOISE_TOLERANT)
def test_the_seed_decides_the_noise(name):
    method = tw.METHODS[name](**NOISY_OPTIONS.get(name, {}))
    surface = tw.surfaces.Rosenbrock().noisy(0.5)
    runs = [tw.minimize(surface, method, max_iter=30, seed=seed) for seed in (1, 1, 2)]
    assert_same_bits(runs[0], runs[1])
    assert runs[0].w.tobytes() != runs[2].w.tobytes()


@pytest.mark.parametrize("name", sorted(set(ALL) - set(NOISE_TOLERANT)))
def test_methods_that_need_exact_gradients_say_so(name):
    with pytest.raises(tw.InputError, match=f"{name} needs exact gradients.*adam"):
        tw.minimize(tw.surfaces.Rosenbrock().noisy(0.5), name)


@pytest.mark.parametrize("name", [name for name in ALL if not tw.METHODS[name].takes_penalty])
def test_methods_that_need_a_smooth_objective_say_so(name):
    with pytest.raises(tw.InputError, match=f"{name} needs a smooth objective.*use method='fista'"):
        tw.minimize(tw.Regularized(tw.surfaces.Quadratic(), l1=0.1), name)


@pytest.mark.parametrize("name", ALL)
def test_evaluations_are_what_the_objective_was_asked(name):
    rosenbrock = tw.surfaces.Rosenbrock()
    asked = {"gradients": 0, "hessian_vectors": 0}

    def value_and_gradient(w):
        asked["gradients"] += 1
        return rosenbrock.value_and_gradient(w)

    def hessian_vector(w, v):
        asked["hessian_vectors"] += 1
        return rosenbrock.hessian_vector(w, v)

    objective = tw.Objective(
        rosenbrock.value, hessian_vector=hessian_vector, value_and_gradient=value_and_gradient,
        check_gradient=False, minimum=0.0,
    )  # fmt: skip
    seen = []
    tw.minimize(
        objective, name, [-1.5, 2.0], max_iter=15,
        callback=lambda step: seen.append((step.evaluations, sum(asked.values()))) and None,
    )  # fmt: skip
    assert len(seen) == 15
    assert all(counted == true for counted, true in seen)


@pytest.mark.parametrize("name", ALL)
def test_a_second_call_compiles_nothing(name):
    def signatures():
        return {rule: len(dispatcher.signatures) for rule, dispatcher in PASSES.items()}

    def run():
        tw.minimize(tw.surfaces.Rosenbrock(), name, max_iter=3)
        tw.minimize(tw.surfaces.Quadratic((1.0,) * 5), name, max_iter=3)

    run()
    before = signatures()
    run()
    assert signatures() == before


USE_EVERY_METHOD = """
import json, sys
import numpy as np
import thalweg as tw
from thalweg.kernels.elementwise import PASSES

for name, method in tw.METHODS.items():
    if method.only_linear:
        continue
    for dtype in (np.float32, np.float64):
        tw.minimize(tw.surfaces.Quadratic(), name, np.ones(2, dtype=dtype), max_iter=3)
used = {rule: d for rule, d in PASSES.items() if d.signatures}
json.dump({
    rule: [sum(d.stats.cache_hits.values()), sum(d.stats.cache_misses.values()), len(d.signatures)]
    for rule, d in used.items()
}, sys.stdout)
"""


def test_the_second_process_loads_every_kernel_from_the_disk_cache(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def process():
        done = subprocess.run(
            [sys.executable, "-c", USE_EVERY_METHOD], env=environment, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    first, second = process(), process()
    assert first.keys() == second.keys() >= {"adagrad", "rmsprop", "adam", "nadam", "heavy_ball"}
    for rule, (hits, misses, signatures) in first.items():
        assert (hits, misses, signatures) == (0, 2, 2), rule  # one for each dtype
    for rule, (hits, misses, signatures) in second.items():
        assert (hits, misses, signatures) == (2, 0, 2), rule


# Forks a child that kills itself right after checkpoint k, then goes on from the file it left.
KILL_AND_RESUME = """
import json, os, signal, sys
import thalweg as tw

kind, file, *names = sys.argv[1:]

def run(name, **options):
    surface, method = tw.surfaces.Rosenbrock(), tw.METHODS[name]()
    if kind == "noisy":
        surface = surface.noisy(0.5)
        if "step" in method.options:
            method = tw.METHODS[name](step=1e-4)
    return tw.minimize(surface, method, tol=1e-9, max_iter=20, seed=5, progress=False, **options)

def bits(run):
    rows = run.trace.rows.copy()
    rows[:, tw.Trace.COLUMNS.index("seconds")] = 0
    return run.w.tobytes(), run.value, run.outcome, run.counts, rows.tobytes()

def kills_of(name):
    whole = bits(run(name))
    killed = []
    for k in (1, 2, 3, 7, 12, 19, 20):
        if os.path.exists(file):
            os.remove(file)
        child = os.fork()
        if child == 0:
            def die(step):
                if step.iteration == k:
                    os.kill(os.getpid(), signal.SIGKILL)
            run(name, checkpoint=tw.Checkpoint(file, every=1), callback=die)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            killed.append(k)
        assert bits(run(name, checkpoint=tw.Checkpoint(file, every=1))) == whole, (name, k)
    return killed

print(json.dumps({name: kills_of(name) for name in names}))
"""


@pytest.mark.parametrize(
    ("kind", "names"), [("exact", ALL), ("noisy", NOISE_TOLERANT)], ids=["exact", "noisy"]
)
def test_killed_after_a_checkpoint_and_resumed_gives_the_same_bits(tmp_path, kind, names):
    # One process for all of them: most of its time it gets ready.
    done = subprocess.run(
        [sys.executable, "-c", KILL_AND_RESUME, kind, str(tmp_path / "run.checkpoint"), *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    surface, kills = tw.surfaces.Rosenbrock(), json.loads(done.stdout)
    assert kills.keys() == set(names)
    for name, killed in kills.items():
        iterations = tw.minimize(surface, name, tol=1e-9, max_iter=20).iterations
        last = 20 if kind == "noisy" else iterations
        assert killed == [k for k in (1, 2, 3, 7, 12, 19, 20) if k <= last], name


def test_killed_from_outside_at_random_moments(tmp_path):
    file = tmp_path / "run.checkpoint"
    script = textwrap.dedent(
        """
        import sys, thalweg as tw
        run = tw.minimize(
            tw.surfaces.Rosenbrock(), "adam", tol=1e-12, max_iter=500, progress=False,
            checkpoint=tw.Checkpoint(sys.argv[1], every=1),
        )
        print(run.w.tobytes().hex(), run.value, run.iterations, run.counts)
        """
    )
    command = [sys.executable, "-c", script]
    whole = subprocess.run(
        [*command, str(tmp_path / "other")], capture_output=True, text=True, check=True
    ).stdout
    moments = random.Random(0)
    for _ in range(3):
        victim = subprocess.Popen([*command, str(file)], stdout=subprocess.DEVNULL)
        started = time.monotonic()
        while not file.exists() and victim.poll() is None and time.monotonic() - started < 30:
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.15))
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    resumed = subprocess.run([*command, str(file)], capture_output=True, text=True, check=True)
    assert resumed.stdout == whole
