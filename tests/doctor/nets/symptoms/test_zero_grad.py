import pytest
import torch
from torch import nn

import thalweg as tw
from records import facts_of
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.zero_grad import zero_grad


@pytest.mark.parametrize("forgets", [True, False])
def test_a_loop_that_forgets(forgets):
    torch.manual_seed(0)
    model, x = nn.Linear(3, 1), torch.randn(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with tw.watch(model, optimizer, every=1) as w:
        for _ in range(6):
            if not forgets:
                optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            w.step(loss)
    assert bool(zero_grad(network_facts(w.record))) is forgets


def test_half_of_the_steps_may_be_accumulation():
    assert zero_grad(facts_of(gradient_kept=[0.0, 1.0] * 50)) == []
    assert zero_grad(facts_of(gradient_kept=[1.0, 1.0, 0.0, 1.0] * 25))
    assert zero_grad(facts_of(gradient_kept=float("nan"))) == []
