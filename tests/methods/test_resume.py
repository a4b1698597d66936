import json

import numpy as np
import pytest

import thalweg as tw
from linear_data import sparse_model
from thalweg.core.clock import COMPILING
from thalweg.methods.resume import NUMBERS
from thalweg.running import checkpoint


def test_compiling_before_a_resume_is_remembered(wait, tmp_path):
    def compile_and_work(step):
        with COMPILING:
            wait(100.0)
        wait(1.0)
        return step.iteration % 2 == 0

    for iterations, seconds, compiled in ((2, 1.0, 200.0), (4, 3.0, 400.0)):
        run = tw.minimize(
            tw.surfaces.Rosenbrock(), "gd", callback=compile_and_work,
            checkpoint=tmp_path / "kept", progress=False,
        )  # fmt: skip
        assert (run.iterations, run.seconds, run.compiled) == (iterations, seconds, compiled)


@pytest.mark.parametrize("stop", [20, 150, 250])
def test_lower_bounds_and_what_they_cost_survive_a_resume(stop, tmp_path):
    file, problem = tmp_path / "run.checkpoint", sparse_model()
    whole = tw.minimize(problem, "fista", tol=1e-6, max_iter=2000)
    tw.minimize(problem, "fista", tol=1e-6, max_iter=stop, checkpoint=file)
    resumed = tw.minimize(problem, "fista", tol=1e-6, max_iter=2000, checkpoint=file)
    assert resumed.iterations == whole.iterations
    np.testing.assert_allclose(resumed.w, whole.w, rtol=1e-9)
    assert resumed.certificate.gap == pytest.approx(whole.certificate.gap, rel=1e-9)


def test_a_file_without_the_newer_numbers_goes_on(tmp_path):
    file, rosenbrock = tmp_path / "run.npz", tw.surfaces.Rosenbrock()
    whole = tw.minimize(rosenbrock, "lbfgs", progress=False)
    tw.minimize(rosenbrock, "lbfgs", max_iter=5, checkpoint=file, progress=False)
    with np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
    header = json.loads(arrays["header"].tobytes())
    assert set(NUMBERS) <= header["progress"].keys()
    for name in ("looked_exactly_at", "rough", "compiled", "is_summed", "watch"):
        del header["progress"][name]
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    arrays.pop(checkpoint._DIGEST)
    np.savez(file, **arrays, **{checkpoint._DIGEST: checkpoint._digest(arrays)})
    resumed = tw.minimize(rosenbrock, "lbfgs", checkpoint=file, progress=False)
    np.testing.assert_array_equal(resumed.w, whole.w)
    assert resumed.iterations == whole.iterations
