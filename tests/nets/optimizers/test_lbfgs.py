import copy

import pytest
import torch
from torch import nn

from recording import digits, mlp
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


def budget(model, make, evaluations):
    """The lowest training loss on digits within so many gradient evaluations."""
    X, y = digits()
    losses = []
    optimizer = make(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        losses.append(loss.item())
        return loss

    while len(losses) < evaluations:
        before = len(losses)
        optimizer.step(closure)
        if len(losses) - before <= 1:
            break  # it does not move any more
    return min(losses[:evaluations])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_lower_loss_than_torchs_for_as_many_gradients(seed):
    torch.manual_seed(seed)
    model = mlp().double()
    own = budget(copy.deepcopy(model), LBFGS, 200)
    default = budget(copy.deepcopy(model), torch.optim.LBFGS, 200)
    searching = budget(
        copy.deepcopy(model), lambda p: torch.optim.LBFGS(p, line_search_fn="strong_wolfe"), 200
    )
    assert own < default
    assert own < searching


def test_memory_is_kept_from_step_to_step():
    torch.manual_seed(0)
    model = mlp().double()
    optimizer = LBFGS(model.parameters(), max_iter=3)
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
