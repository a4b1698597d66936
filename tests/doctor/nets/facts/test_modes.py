import torch
from torch import nn

import thalweg as tw
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.modes import modes


def test_by_hand():
    model = nn.Sequential(
        nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.3), nn.Dropout(0.0), nn.LayerNorm(2)
    )
    assert modes(model) == Measured(mode_dropout=1.0, mode_norm=1.0, dropped=0.3)


def test_our_own_and_none():
    own = nn.Sequential(tw.nets.Dropout(keep=0.25), tw.nets.BatchNorm(2))
    assert modes(own) == Measured(mode_dropout=1.0, mode_norm=1.0, dropped=0.75)
    free = nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False))
    assert modes(free).mode_norm == 0.0
    assert torch.nn.Dropout2d(0.5).p == modes(nn.Dropout2d(0.5)).dropped
