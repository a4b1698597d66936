import numpy as np
import pytest
import torch

from thalweg.kernels import tensors
from thalweg.kernels.jobs import Job, address_of
from thalweg.nets.optimizers import team

PLAIN = np.array([[1.0, 0.0, 0.0, 0.0, np.inf, 0.5]])  # one gradient step, η = ½


def step(threads):
    """w of one step on 1,000 pieces of 100 elements, from 0."""
    w, g = np.zeros(100_000, np.float32), np.arange(100_000, dtype=np.float32)
    begins = np.arange(0, 100_000, 100)
    fixed = np.tile([100, 0, 0, 0, 0, 0], (1_000, 1))
    places = np.stack([w.ctypes.data + 4 * begins, g.ctypes.data + 4 * begins], axis=1)
    table = np.hstack([fixed, places])
    address = address_of(tensors.plain_step_tensors, np.float32)
    job = Job(table)
    job.begin(PLAIN, threads)
    team.run(address, job, threads)
    return w, -0.5 * g


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("with_torch", [True, False])
def test_all_is_done_when_it_returns(threads, with_torch, monkeypatch):
    if not with_torch:
        monkeypatch.setattr(team, "fork_of_torch", lambda: None)
    for _ in range(20):
        np.testing.assert_array_equal(*step(threads))


def test_torch_can_use_its_threads_before_and_after():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x = torch.randn(1_000_000)
        for _ in range(20):
            total = torch.exp(x).sum()
            np.testing.assert_array_equal(*step(2))
            assert torch.equal(torch.exp(x).sum(), total)
    finally:
        torch.set_num_threads(before)


def test_a_library_that_is_not_there_means_threads_of_our_own(monkeypatch):
    monkeypatch.setattr(torch, "__file__", "/nowhere/torch/__init__.py")
    assert team.fork_of_torch.__wrapped__() is None
