import copy
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.instruments import Instruments
from thalweg.doctor.nets.instruments.origin import Place


def net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


def batch(seed=0):
    return torch.randn(16, 3, generator=torch.Generator().manual_seed(seed))


def hooks_on(model, *optimizers):
    modules = sum(
        len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks)
        for m in model.modules()
    )
    tensors = sum(len(p._backward_hooks or {}) for p in model.parameters())
    steps = sum(len(optimizer._optimizer_step_pre_hooks) for optimizer in optimizers)
    return modules + tensors + steps


class Loop:
    """A loop whose every step is a look."""

    def __init__(self, model, optimizers=None, lr=0.1):
        self.model = model
        self.optimizers = optimizers or [torch.optim.SGD(model.parameters(), lr=lr)]
        self.instruments = Instruments(model, self.optimizers)
        self.instruments.attach()

    def step(self, x=None, loss=None, is_look=True):
        self.instruments.arm(is_look)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        value = self.model(batch() if x is None else x).square().mean() if loss is None else loss()
        value.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        look = self.instruments.finish()
        trouble = self.instruments.place_of_trouble(look, math.isfinite(value.item()))
        return look, trouble


def test_one_look_by_hand():
    model = net()
    loop = Loop(model, lr=0.5)
    before = [p.detach().clone() for p in model[0].parameters()]
    hidden = model[1](model[0](batch())).detach()
    look, trouble = loop.step()
    columns = look.columns
    assert trouble is None
    w, b = before
    gradient = math.hypot(model[0].weight.grad.norm(), model[0].bias.grad.norm())
    weight = math.hypot(w.norm(), b.norm())
    assert columns["gradient_norm"][0] == pytest.approx(gradient, rel=1e-6)
    assert columns["weight_norm"][0] == pytest.approx(weight, rel=1e-6)
    assert columns["update_ratio"][0] == pytest.approx(0.5 * gradient / weight, rel=1e-4)
    assert columns["mean"][1] == pytest.approx(hidden.mean().item(), rel=1e-5)
    assert columns["std"][1] == pytest.approx(hidden.std(correction=0).item(), rel=1e-5)
    assert columns["dead"][1] == (hidden.amax(0) <= 0).float().mean().item()
    assert np.isnan(columns["gradient_norm"][1])
    assert loop.instruments.rate == 0.5
    total = math.sqrt(sum(float(p.grad.norm()) ** 2 for p in model.parameters()))
    assert look.total == pytest.approx(total, rel=1e-6)
    assert loop.instruments.batch["input_rows"] == 16


def test_layers_stand_in_the_order_in_which_they_run():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(4, 1), nn.Linear(3, 4)

        def forward(self, x):
            return self.last(self.first(x))

    loop = Loop(Backwards())
    loop.step()
    assert [loop.instruments.names[k] for k in loop.instruments.order] == ["first", "last"]


def test_hooks_are_on_layers_only_while_the_model_runs_at_a_look():
    class Counting(nn.Sequential):
        def forward(self, x):
            counts.append(sum(len(m._forward_hooks) for m in self))
            return super().forward(x)

    counts = []
    model = Counting(*net())
    loop = Loop(model)
    loop.step()  # the first one does not know yet how the model is called
    for is_look in (True, False):
        loop.instruments.arm(is_look)
        with torch.no_grad():
            model(batch())
        model(batch())
        assert all(not m._forward_hooks for m in model)
        loop.instruments.finish()
    assert counts == [3, 0, 3, 0, 0]


def test_a_model_that_is_called_by_its_parts():
    model = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.Linear(4, 1)})
    loop = Loop(model)
    for _ in range(3):
        look, _ = loop.step(loss=lambda: model["b"](model["a"](batch())).square().mean())
        assert not np.isnan(look.columns["mean"]).any()
    assert loop.instruments.batch["input_columns"] == 3


def test_all_hooks_come_off_and_copies_have_none():
    model = net()
    loop = Loop(model)
    loop.step()
    assert hooks_on(model, *loop.optimizers) > 0
    twin = copy.deepcopy(model)
    twin(batch()).sum().backward()
    loop.instruments.detach()
    assert hooks_on(model, *loop.optimizers) == 0


def test_two_optimizers_report_their_own_parameters_when_they_step():
    model = net()
    first = torch.optim.SGD(model[0].parameters(), lr=0.1)
    second = torch.optim.SGD([model[2].weight], lr=0.2)
    loop = Loop(model, [first, second])
    instruments = loop.instruments
    instruments.arm(True)
    model(batch()).square().mean().backward()
    g = math.hypot(model[0].weight.grad.norm(), model[0].bias.grad.norm())
    first.step()
    for p in model.parameters():
        p.grad = None
    model(batch()).square().mean().backward()
    h = math.hypot(model[2].weight.grad.norm(), 0.0)
    second.step()
    columns = instruments.finish().columns
    assert columns["gradient_norm"][0] == pytest.approx(g)
    assert columns["gradient_norm"][2] >= h * (1 - 1e-6)
    assert columns["update_ratio"][2] > 0
    assert model[2].bias.grad is not None  # that no optimizer has: it did not move
    assert instruments.rate == 0.1


def test_successive_gradients_are_compared_after_a_look():
    model = net()
    loop = Loop(model, lr=0.0)
    loop.step()
    assert loop.instruments.agreement is None
    loop.step(is_look=False)  # the same batch at the same weights
    assert loop.instruments.agreement.cosine == pytest.approx(1.0)
    assert loop.instruments.agreement.difference == pytest.approx(0.0, abs=1e-6)
    loop.step(is_look=False)
    assert loop.instruments.agreement is None


def test_an_optimizer_with_a_closure():
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)
    instruments = Instruments(model, [optimizer])
    instruments.attach()

    def closure():
        optimizer.zero_grad()
        loss = model(batch()).square().mean()
        loss.backward()
        return loss

    for _ in range(2):
        instruments.arm(True)
        optimizer.step(closure)
        look = instruments.finish()
        assert look.columns["update_ratio"][0] > 0
        assert look.columns["gradient_norm"][0] > 0
        assert not instruments.kept > 0


def test_the_layer_in_which_numbers_end_forwards_between_looks():
    class Exp(nn.Module):
        def forward(self, x):
            return torch.exp(x)

    model = nn.Sequential(nn.Linear(3, 3), Exp(), nn.Linear(3, 1))
    loop = Loop(model, lr=1e-3)
    loop.step()
    for _ in range(3):
        assert loop.step(is_look=False)[1] is None
    assert loop.step(1e3 * batch(), is_look=False)[1] == Place("forward", "1")


def test_the_layer_in_which_numbers_end_backwards_between_looks():
    class Root(nn.Module):
        def forward(self, x):
            return (x * (x > 0)).sqrt()  # its slope at 0 is infinite

    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), Root(), nn.Linear(4, 1))
    loop = Loop(model, lr=0.0)
    with torch.no_grad():
        model[1].weight.zero_()
        model[1].bias.fill_(1.0)
    assert loop.step()[1] is None
    with torch.no_grad():
        model[1].bias[0] = 0.0
    assert loop.step(is_look=False)[1] == Place("gradient", "1")


def test_inputs_and_losses_that_are_not_finite():
    loop = Loop(net())
    loop.step()
    assert loop.step(torch.full((4, 3), math.nan), is_look=False)[1] == Place("inputs", "")
    model = net()
    loop = Loop(model)
    loop.step()

    def loss():
        return model(batch()).square().mean() + math.inf

    assert loop.step(loss=loss, is_look=False)[1] == Place("loss", "")


def test_a_bad_gradient_that_was_never_used_is_no_trouble():
    # As torch.amp.GradScaler does: it leaves the step out.
    model = net()
    loop = Loop(model)
    loop.step()
    loop.instruments.arm(False)
    (math.inf * model(batch()).sum()).backward()
    look = loop.instruments.finish()
    assert loop.instruments.place_of_trouble(look, True) is None
    assert loop.instruments.last_suspicion() is not None
    loop.instruments.arm(False)
    assert loop.instruments.last_suspicion() is None


def test_the_graph_that_made_a_batch_is_not_kept():
    model = net()
    loop = Loop(model)
    x = functional.linear(batch(), torch.eye(3, requires_grad=True))
    loop.step(x)
    assert not loop.instruments._call[0][0].requires_grad


def test_an_optimizer_of_other_parameters_is_refused():
    with pytest.raises(InputError, match="optimizer must train parameters of the model, got SGD"):
        Instruments(net(), [torch.optim.SGD(net().parameters(), lr=0.1)])


def test_asleep_only_optimizers_are_listened_to():
    model = net()
    loop = Loop(model)
    loop.step()
    loop.step(is_look=False)  # whose gradient is compared with that of the look
    instruments, (optimizer,) = loop.instruments, loop.optimizers
    for _ in range(2):
        instruments.arm(False, is_awake=False)
        assert hooks_on(model) == 0
        assert hooks_on(model, optimizer) == 1
        model(batch()).square().mean().backward()  # no zero_grad
        optimizer.step()
        assert instruments.finish() is None
        assert math.isnan(instruments.kept)
    instruments.arm(False, is_awake=True)
    model(batch()).square().mean().backward()
    optimizer.step()
    instruments.finish()
    assert instruments.kept == 1
    assert loop.step(is_look=True)[0].columns["mean"].shape == (3,)
    instruments.detach()
    assert hooks_on(model, optimizer) == 0
