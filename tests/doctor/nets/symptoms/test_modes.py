import pytest
import torch
from torch import nn

import thalweg as tw
from records import facts_of
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.modes import modes


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("evaluates", [True, False])
def test_a_loop_in_either_mode(trains, evaluates):
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1)), torch.randn(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with tw.watch(model, optimizer, every=1) as w:
        for _ in range(4):
            model.train(trains)
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            w.step(loss)
            model.train(evaluates)
            with torch.no_grad():
                model(x)
    advice = [finding.advice for finding in modes(network_facts(w.record))]
    assert any("model.train()" in text for text in advice) is (not trains or evaluates)
    assert len(advice) == (not trains) + evaluates


def test_nothing_that_knows_the_mode():
    assert modes(facts_of(training=0.0, evaluations_in_training_mode=10.0)) == []


def test_no_evaluation_was_seen():
    assert modes(facts_of(mode_norm=1.0, evaluations=0.0)) == []
