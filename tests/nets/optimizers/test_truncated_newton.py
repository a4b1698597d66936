import copy

import pytest
import torch
from torch import nn

from recording import digits, mlp
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.truncated_newton import TruncatedNewton


def test_a_quadratic_takes_one_step():
    A = torch.diag(torch.tensor([1.0, 3.0, 10.0], dtype=torch.float64))
    b = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    w = nn.Parameter(torch.zeros(3, dtype=torch.float64))
    optimizer = TruncatedNewton([w], max_iter=4)
    optimizer.step(lambda: 0.5 * w @ A @ w - b @ w)
    torch.testing.assert_close(w.detach(), torch.linalg.solve(A, b), rtol=1e-6, atol=1e-8)


def test_a_saddle_is_left_downhill():
    w = nn.Parameter(torch.tensor([1.0, 1e-6], dtype=torch.float64))
    optimizer = TruncatedNewton([w])

    def saddle():
        return w[0] ** 2 - w[1] ** 2 + 0.25 * w[1] ** 4

    for _ in range(10):
        optimizer.step(saddle)
    assert abs(w[1].item()) == pytest.approx(2**0.5, abs=1e-3)


def test_small_batches_are_safe_with_the_stochastic_search():
    X, y = digits()
    torch.manual_seed(0)
    model = mlp().double()
    optimizer = TruncatedNewton(model.parameters(), line_search="stochastic", max_cg=5)
    order = torch.randperm(len(X))
    first = nn.functional.cross_entropy(model(X), y).item()
    for k in range(0, 1500, 50):
        rows = order[k : k + 50]
        optimizer.step(lambda rows=rows: nn.functional.cross_entropy(model(X[rows]), y[rows]))
    assert nn.functional.cross_entropy(model(X), y).item() < 0.5 * first


def test_a_lower_loss_than_torchs_lbfgs_for_as_many_gradients():
    # A Hessian-vector product counts as two gradients, a value as half of one.
    X, y = digits()
    torch.manual_seed(0)
    model = mlp().double()
    other, seen = copy.deepcopy(model), []
    theirs = torch.optim.LBFGS(
        other.parameters(), line_search_fn="strong_wolfe", tolerance_grad=0, tolerance_change=0
    )

    def closure():
        theirs.zero_grad()
        loss = nn.functional.cross_entropy(other(X), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    while len(seen) < 1000:
        theirs.step(closure)
    optimizer = TruncatedNewton(model.parameters(), tolerance_grad=0)
    while optimizer.evaluations < 900:  # a step takes at most 100 more
        before = optimizer.evaluations
        loss = optimizer.step(lambda: nn.functional.cross_entropy(model(X), y))
        if optimizer.evaluations - before <= 1.5:
            break
    assert optimizer.evaluations <= 1000
    assert loss.item() < min(seen[:1000])


def test_what_was_learnt_stays_for_the_next_step():
    X, y = digits()
    torch.manual_seed(0)
    model = mlp().double()
    optimizer = TruncatedNewton(model.parameters(), history_size=5)
    for _ in range(4):
        optimizer.step(lambda: nn.functional.cross_entropy(model(X), y))
    kept = optimizer.state[next(model.parameters())]
    assert kept["pairs"] > 4
    assert kept["S"].shape == (5, sum(p.numel() for p in model.parameters()))


def test_bad_input_is_refused():
    w = nn.Parameter(torch.zeros(1))
    with pytest.raises(InputError, match="line_search must be one of full, stochastic"):
        TruncatedNewton([w], line_search="wolfe")
    with pytest.raises(InputError, match="damping"):
        TruncatedNewton([w], damping=-1.0)
