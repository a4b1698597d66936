import pytest
import torch
from torch import nn
from torch.nn import functional

import thalweg as tw
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.no_shuffling import no_shuffling


@pytest.mark.parametrize("shuffles", [True, False])
def test_rows_sorted_by_class(shuffles):
    torch.manual_seed(0)
    x, y = torch.randn(320, 3), torch.arange(320) // 80
    model = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with tw.watch(model, optimizer, every=1) as w:
        for _ in range(4):
            order = torch.randperm(320) if shuffles else torch.arange(320)
            for rows in order.split(16):
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(x[rows]), y[rows])
                loss.backward()
                optimizer.step()
                w.step(loss, targets=y[rows])
    found = no_shuffling(network_facts(w.record))
    assert bool(found) is not shuffles
    if found:
        assert found[0].measured == pytest.approx(16.0)  # n, where each batch has one class
