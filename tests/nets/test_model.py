import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.nets.model import check_model


def test_a_model_passes_as_it_is():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert check_model(model) is model


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("a net", "model must be a torch.nn.Module, got 'a net'"),
        (nn.Sequential(nn.LazyLinear(3)), "model must know its sizes, got '0.weight' without"),
        (nn.LazyBatchNorm1d(affine=False), "model must know its sizes, got 'running_mean' without"),
        (
            nn.Linear(2, 2, device="meta"),
            "model must have storage, got 'weight' on the meta device",
        ),
    ],
)
def test_others_are_refused_by_everything_that_takes_a_model(model, said):
    calls = [
        check_model,
        tw.nets.initialize,
        lambda m: tw.nets.pre_initialize(m, {"0.weight": torch.ones(1)}),
        lambda m: tw.nets.population_statistics(m, torch.ones(4, 2)),
        tw.nets.fold,
    ]
    for call in calls:
        with pytest.raises(tw.InputError, match=said):
            call(model)
