"""`check`: what can be said before the first step.

    tw.doctor.check(model, (x, y), "cross-entropy", optimizer)

The data is looked at, the loss, the first weights, one batch forwards and backwards, and sixteen
samples are fitted, all on copies (see `thalweg.doctor.nets.facts`). Nothing has failed yet, so that
only what is plainly wrong asks to act.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.finding import Finding
from thalweg.doctor.nets import symptoms
from thalweg.doctor.nets.facts.examination import CURVED, Examination
from thalweg.doctor.nets.instruments.layers import bare
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.doctor.nets.watch import watch
from thalweg.nets.flat import trainable
from thalweg.nets.model import check_model


def check(
    model: nn.Module,
    data: Any,
    loss: Any,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    validation: Any = None,
    seed: int = 0,
) -> list[Finding]:
    """What is wrong before training begins, worst first.

    Arguments are those of `tw.watch`; `optimizer` is asked to fit sixteen samples with.

    >>> import torch, thalweg as tw
    >>> x, y = torch.randn(64, 3), torch.arange(64) % 2
    >>> twice = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(1))
    >>> tw.doctor.check(twice, (x, y), "cross-entropy")[0].name
    'wrong output activation or loss'
    """
    check_model(model)
    trainable(model)
    model = bare(model)
    if data is None or loss is None:
        raise InputError("check needs data, a pair (x, y), and the loss: tw.doctor.check(model, "
                         "(x, y), 'cross-entropy')")  # fmt: skip
    with nothing_left(model):
        examination = Examination(model, loss, data, validation, seed)
        facts = examination.before(optimizer)
        record = _one_batch(copy.deepcopy(model), examination, seed)
    return symptoms.diagnose(
        replace(record, scalars={**record.scalars, **facts.scalars(), "steps": 0})
    )


def _one_batch(model: nn.Module, examination: Examination, seed: int) -> Any:
    """The record of one step of length zero."""
    standing = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.0)
    with watch(model, standing, every=1, seed=seed) as w:
        loss = examination.closure(model)
        loss.backward()
        standing.step()
        assert examination.data is not None
        w.step(loss, targets=examination.data[1][:CURVED])
    return w.record
