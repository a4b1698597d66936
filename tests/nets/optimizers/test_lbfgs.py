import functools
import math

import pytest
import torch
from torch import nn

from recording import conv_net, digits, mlp
from thalweg.nets.optimizers.lbfgs import LBFGS


def test_a_quadratic_is_solved():
    torch.manual_seed(0)
    A = torch.randn(6, 6, dtype=torch.float64)
    A, b = A @ A.T + torch.eye(6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    w = nn.Parameter(torch.zeros(6, dtype=torch.float64))
    optimizer = LBFGS([w], max_iter=100, max_eval=200, tolerance_grad=1e-10)

    def closure():
        optimizer.zero_grad()
        loss = 0.5 * w @ A @ w - b @ w
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.testing.assert_close(w.detach(), torch.linalg.solve(A, b), rtol=1e-8, atol=1e-8)


def after(make_model, seed, make, evaluations):
    """The lowest training loss on digits within so many gradient evaluations."""
    X, y = digits()
    torch.manual_seed(seed)
    model = make_model().double()
    losses = []
    optimizer = make(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        losses.append(loss.item())
        return loss

    while len(losses) < evaluations:
        optimizer.step(closure)
    return min(losses[:evaluations])


@pytest.mark.parametrize(
    "options", [{"line_search_fn": "strong_wolfe"}, {}], ids=["search", "none"]
)
def test_a_lower_loss_than_torchs_for_as_many_gradients(options):
    # One network, one digit: what 50 gradients reach differs by a factor of ten from seed to seed.
    theirs = functools.partial(torch.optim.LBFGS, **options)
    cases = [(make, seed) for make in (mlp, conv_net) for seed in range(3)]
    ratios = [after(*case, LBFGS, 50) / after(*case, theirs, 50) for case in cases]
    assert math.exp(sum(map(math.log, ratios)) / len(ratios)) < 1.0


def test_memory_is_kept_from_step_to_step():
    torch.manual_seed(0)
    model = mlp().double()
    optimizer = LBFGS(model.parameters(), max_iter=3, max_eval=100)
    X, y = digits()

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        return loss

    optimizer.step(closure)
    (state,) = optimizer.state.values()
    assert state["pairs"] == 3
    optimizer.step(closure)
    (state,) = optimizer.state.values()
    assert state["pairs"] == 6


def test_a_step_of_one_iteration_moves():
    w = nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = LBFGS([w], max_iter=1)

    def closure():
        optimizer.zero_grad()
        loss = (w**2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2.0
    assert (w**2).sum().item() < 2.0
