import pytest
import torch
from torch import nn

from thalweg import rules
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.part import Form, Part

FORM = Form(kernels.heavy_ball_tensors, rules.heavy_ball, ("m",))
GROUP = {"max_norm": None, "unit_axis": 0, "unit_groups": 1}


def made(*dtypes, fast=True, group=GROUP):
    """A part of one parameter a type, each with its gradient and buffer."""
    parameters = [nn.Parameter(torch.ones(2, 3, dtype=dtype)) for dtype in dtypes]
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 2.0)
    states = [{"m": torch.zeros_like(parameter)} for parameter in parameters]
    return Part(dict(group), FORM, parameters, states, fast=fast)


def test_types_have_tables_and_what_has_none_goes_alone():
    part = made(torch.float32, torch.bfloat16, torch.float64, torch.float32)
    assert [members for _, members in part.tables] == [[0, 3], [2]]
    assert part.alone == [1]
    assert made(torch.float32, fast=False).alone == [0]


def test_memory_of_another_order_goes_alone():
    part = made(torch.float32)
    turned = nn.Parameter(torch.ones(3, 2).T)
    state = {"m": torch.zeros(2, 3)}
    part = Part(dict(GROUP), FORM, [turned], [state], fast=True)
    assert part.alone == [0]


def test_squares_are_of_all():
    part = made(torch.float32, torch.bfloat16, torch.float64)
    part.aim([parameter.grad for parameter in part.parameters], [0, 0, 0])
    assert part.squares() == pytest.approx(3 * 6 * 4.0)


def test_it_knows_what_it_was_made_for():
    part = made(torch.float64, torch.float64)

    def is_of(form=FORM, parameters=part.parameters, fast=True):
        return part.is_of(form, parameters, fast=fast)

    assert is_of()
    assert not is_of(fast=False)
    assert not is_of(form=Form(kernels.nesterov_tensors, rules.nesterov, ("m",)))
    assert not is_of(parameters=part.parameters[:1])
    assert not is_of(parameters=part.parameters[::-1])
    buffer, part.states[0]["m"] = part.states[0]["m"], torch.ones(2, 3, dtype=torch.float64)
    assert not is_of()
    del part.states[0]["m"]
    assert not is_of()
    part.states[0]["m"] = buffer
    assert is_of()
    part.group["max_norm"] = 1.0
    assert not is_of()
    part.group["max_norm"] = None
    part.parameters[0].data = torch.ones(2, 3, dtype=torch.float64)
    assert not is_of()


def test_gradients_are_plain_memory():
    part = made(torch.float32, torch.float32, torch.float32)
    plain = [torch.ones(2, 3) for _ in range(3)]
    assert part.plain(plain) is plain
    turned = torch.arange(6.0).reshape(3, 2).T
    places, values = [[1, 1], [0, 0]], [2.0, 3.0]
    sparse = torch.sparse_coo_tensor(places, values, (2, 3), check_invariants=True)
    mixed = [turned, sparse, torch.ones(2, 3, dtype=torch.float64)]
    for gradient in mixed:  # one at a time, then all
        found = part.plain([gradient, plain[1], plain[2]])
        assert found[0].is_contiguous()
        assert found[0].dtype == torch.float32
    found = part.plain(mixed)
    assert [g.tolist() for g in found] == [
        [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]],
        [[0.0] * 3, [5.0, 0.0, 0.0]],
        [[1.0] * 3] * 2,
    ]
    assert all(g.is_contiguous() and g.dtype == torch.float32 for g in found)
