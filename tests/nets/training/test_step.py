import copy
import math

import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import Ridge, digits, mlp, weights
from thalweg.nets.training.batches import Batch
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of
from thalweg.nets.training.step import Stepper, needs_closure


def stepper(model, optimizer, *regularizers):
    return Stepper(model, optimizer, loss_of("cross-entropy"), Inputs(model), regularizers)


def cut(*sizes):
    x, y = digits()
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    return [Batch(x[s : s + n], y[s : s + n]) for s, n in zip(starts, sizes, strict=True)]


def test_one_step_is_the_plain_loop():
    ours, theirs = mlp(), mlp()
    (batch,) = cut(32)
    taken = stepper(ours, tw.nets.SGD(ours, lr=0.1)).step([batch], 0.0)
    loss = nn.functional.cross_entropy(theirs(batch.x), batch.y)
    loss.backward()
    for p in theirs.parameters():
        p.data -= 0.1 * p.grad
    assert taken == (loss.item(), loss.item(), 32, 32)
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=1e-6, atol=1e-7)


def test_groups_of_unequal_batches_are_one_batch_and_penalties_count_once():
    results = []
    for sizes in ((60,), (30, 25, 5)):
        model = mlp().double()
        batches = [Batch(batch.x.double(), batch.y) for batch in cut(*sizes)]
        taken = stepper(model, tw.nets.SGD(model, lr=0.1), Ridge(0.1)).step(batches, 0.0)
        results.append((weights(model), taken))
    torch.testing.assert_close(results[0][0], results[1][0], rtol=1e-12, atol=1e-12)
    assert results[0][1].value == pytest.approx(results[1][1].value, rel=1e-6)
    assert results[0][1].loss == pytest.approx(results[1][1].loss, rel=1e-6)
    model = mlp().double()
    penalty = 0.05 * sum((p**2).sum() for p in model.parameters()).item()
    assert results[0][1].value - results[0][1].loss == pytest.approx(penalty)


def test_an_optimizer_that_needs_a_closure_gets_one():
    model, (batch,) = mlp(), cut(100)
    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe")
    assert needs_closure(lbfgs)
    assert not needs_closure(torch.optim.SGD(model.parameters(), lr=0.1))
    assert not needs_closure(tw.nets.Adam(model))
    own = stepper(model, lbfgs)
    first, second = own.step([batch], 0.0), own.step([batch], 0.0)
    assert second.value < first.value
    assert first.looks >= 500
    assert first.rows == 100


def test_the_graph_of_a_closure_can_be_differentiated_twice():
    class Peek(torch.optim.Optimizer):
        def step(self, closure):
            value = closure.graph()
            (g,) = torch.autograd.grad(value, self.param_groups[0]["params"][:1], create_graph=True)
            (self.bent,) = torch.autograd.grad(g.sum(), self.param_groups[0]["params"][:1])

    model = mlp()
    peek = Peek(model.parameters(), {})
    taken = stepper(model, peek).step(cut(20, 10), 0.0)
    assert math.isfinite(taken.value)
    assert peek.bent.abs().max() > 0
    assert all(p.grad is None for p in model.parameters())


def test_no_step_on_a_loss_that_is_no_number():
    model = mlp()
    before = copy.deepcopy(weights(model))
    (batch,) = cut(10)
    bad = Batch(torch.full_like(batch.x, torch.nan), batch.y)
    assert math.isnan(stepper(model, tw.nets.SGD(model, lr=0.1)).step([bad], 0.0).value)
    assert torch.equal(weights(model), before)
