import math

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.doctor.nets.instruments.preconditioner import preconditioner


def stepped(make, gradients):
    p = nn.Parameter(torch.zeros(len(gradients[0]), dtype=torch.float64))
    optimizer = make([p])
    for g in gradients:
        p.grad = torch.tensor(g, dtype=torch.float64)
        optimizer.step()
    return optimizer, p


GRADIENTS = [[1.0, -2.0], [3.0, 0.5]]


@pytest.mark.parametrize(
    ("make", "v"),
    [
        (lambda p: torch.optim.Adam(p, betas=(0.9, 0.5), eps=0.1), (0.25 + 4.5) / 0.75),
        (lambda p: torch.optim.AdamW(p, betas=(0.9, 0.5), eps=0.1), (0.25 + 4.5) / 0.75),
        (lambda p: torch.optim.NAdam(p, betas=(0.9, 0.5), eps=0.1), (0.25 + 4.5) / 0.75),
        (lambda p: torch.optim.RMSprop(p, alpha=0.5, eps=0.1), 0.25 + 4.5),
        (lambda p: torch.optim.Adagrad(p, eps=0.1), 10.0),
        (lambda p: tw.nets.Adam(p, betas=(0.9, 0.5), eps=0.1), (0.25 + 4.5) / 0.75),
        (lambda p: tw.nets.RMSProp(p, alpha=0.5, eps=0.1), 0.25 + 4.5),
        (lambda p: tw.nets.AdaGrad(p, eps=0.1), 10.0),
    ],
    ids=["Adam", "AdamW", "NAdam", "RMSprop", "Adagrad", "tw.Adam", "tw.RMSProp", "tw.AdaGrad"],
)
def test_by_hand(make, v):
    optimizer, p = stepped(make, GRADIENTS)
    (scale,) = preconditioner(optimizer, [p])
    assert scale[0].item() == pytest.approx((math.sqrt(v) + 0.1) ** -0.5)


def test_the_step_of_adagrad_is_the_gradient_seen_through_it():
    optimizer, p = stepped(lambda q: torch.optim.Adagrad(q, lr=0.1), GRADIENTS)
    before, g = p.detach().clone(), torch.tensor([0.3, -0.7], dtype=torch.float64)
    p.grad = g.clone()
    optimizer.step()
    (scale,) = preconditioner(optimizer, [p])
    assert torch.allclose(p.detach(), before - 0.1 * scale**2 * g)


def test_entries_that_never_had_a_gradient_and_others_parameters_are_left_out():
    optimizer, p = stepped(torch.optim.Adam, [[1.0, 0.0]])
    other = nn.Parameter(torch.ones(3))
    scale, nothing = preconditioner(optimizer, [p, other])
    assert scale[0] > 0
    assert scale[1] == 0
    assert nothing.tolist() == [0, 0, 0]


def test_optimizers_that_do_not_divide():
    optimizer, p = stepped(lambda q: torch.optim.SGD(q, lr=0.1, momentum=0.9), GRADIENTS)
    assert preconditioner(optimizer, [p]) is None
    fresh = torch.optim.Adam([p])
    assert preconditioner(fresh, [p]) is None
