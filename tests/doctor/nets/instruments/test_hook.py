import copy
import io
import pickle

import torch
from torch import nn

from thalweg.doctor.nets.instruments.hook import Hook, Meter, ignore


def test_a_hook_calls_and_is_timed():
    seen, meter = [], Meter()
    module = nn.Identity()
    module.register_forward_hook(Hook(lambda *args: seen.append(args), meter))
    x = torch.ones(2)
    assert module(x) is x
    assert seen == [(module, (x,), x)]
    taken = meter.read()
    assert 0 < taken < 1
    assert meter.read() == 0


def test_what_the_function_returns_changes_nothing():
    module = nn.Identity()
    module.register_forward_hook(Hook(lambda *args: torch.zeros(1), Meter()))
    assert module(torch.ones(1)).item() == 1


def test_a_paused_hook_is_silent():
    seen, meter = [], Meter()
    hook = Hook(seen.append, meter)
    meter.is_paused = True
    hook(1)
    meter.is_paused = False
    hook(2)
    assert seen == [2]


def test_copies_of_a_model_have_no_hook():
    seen = []
    module = nn.Identity()
    module.register_forward_hook(Hook(lambda *args: seen.append(1), Meter()))
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    twins = [
        copy.deepcopy(module),
        pickle.loads(pickle.dumps(module)),
        torch.load(file, weights_only=False),
    ]
    for twin in twins:
        twin(torch.ones(1))
    assert seen == []
    assert ignore(1, a=2) is None


def test_compiled_code_has_no_hook():
    seen = []
    module = nn.Sequential(nn.Linear(2, 2))
    module[0].register_forward_hook(Hook(lambda *args: seen.append(1), Meter()))
    compiled = torch.compile(module, backend="eager")
    compiled(torch.ones(1, 2))
    assert seen == []
    module(torch.ones(1, 2))
    assert seen == [1]
