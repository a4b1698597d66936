import math

import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits, mlp
from thalweg.core.errors import InputError
from thalweg.nets.training.evaluate import modes_kept


def test_by_hand():
    model = nn.Linear(1, 2, bias=False)
    nn.init.constant_(model.weight, 0.0)
    score = tw.nets.evaluate(model, (torch.ones(4, 1), torch.tensor([0, 0, 0, 1])))
    assert score.loss == pytest.approx(math.log(2))
    assert score.accuracy == 0.75


@pytest.mark.parametrize("batch_size", [7, 512])
def test_batches_change_nothing(batch_size):
    x, y = digits()
    model = mlp()
    score = tw.nets.evaluate(model, (x, y), batch_size=batch_size)
    with torch.no_grad():
        whole = nn.functional.cross_entropy(model(x), y).item()
    assert score.loss == pytest.approx(whole, rel=1e-6)
    assert score.accuracy == pytest.approx((model(x).argmax(1) == y).double().mean().item())


def test_in_eval_mode_and_modes_come_back():
    x, y = digits()
    model = mlp(dropout=0.9)
    model[2].eval()
    first, second = (tw.nets.evaluate(model, (x, y)) for _ in range(2))
    assert first == second
    assert [module.training for module in model] == [True, True, False, True]
    with modes_kept(model):
        model.eval()
    assert model.training


def test_no_accuracy_without_classes():
    score = tw.nets.evaluate(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4, 1)), "squared")
    assert math.isnan(score.accuracy)


def test_labels_outside_the_classes():
    x, y = digits()
    with pytest.raises(InputError, match="got 10 in row 0"):
        tw.nets.evaluate(mlp(), (x, y + 10))
