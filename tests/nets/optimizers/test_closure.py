import numpy as np
import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.nets.optimizers.closure import Closure

torch.manual_seed(0)
X = torch.randn(30, 4, dtype=torch.float64)
Y = torch.randn(30, 2, dtype=torch.float64)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).double()


def loss_of(model):
    return lambda: ((model(X) - Y) ** 2).mean()


def groups_of(model, *, lrs=(1.0, 1.0), decays=(0.0, 0.0)):
    layers = (model[0], model[2])
    return [
        {"params": list(layer.parameters()), "lr": lr, "weight_decay": decay}
        for layer, lr, decay in zip(layers, lrs, decays, strict=True)
    ]


def test_gather_and_scatter_are_inverse():
    model = network()
    objective = Closure(groups_of(model, lrs=(0.25, 4.0)), loss_of(model), with_graph=True)
    u = objective.gather()
    assert u.shape == (objective.dim,) == (4 * 3 + 3 + 3 * 2 + 2,)
    np.testing.assert_allclose(u[:12] * 0.5 * 4**0.2, model[0].weight.detach().numpy().ravel())
    np.testing.assert_allclose(u[-2:] * 2.0, model[2].bias.detach().numpy())
    places = [p.data_ptr() for p in model.parameters()]
    objective.scatter(u + 1.0)
    np.testing.assert_allclose(objective.gather(), u + 1.0)
    assert [p.data_ptr() for p in model.parameters()] == places


@pytest.mark.parametrize("with_graph", [True, False])
def test_derivatives_are_those_of_the_differences(with_graph):
    model = network()
    plain = loss_of(model)

    def backward():
        model.zero_grad()
        loss = plain()
        loss.backward()
        return loss

    given = plain if with_graph else backward
    groups = groups_of(model, lrs=(0.5, 2.0), decays=(0.1, 0.0))
    objective = Closure(groups, given, with_graph=with_graph)
    u = objective.gather()
    value, gradient = objective.value_and_gradient(u)
    assert value == pytest.approx(
        plain().item() + 0.05 * sum((p**2).sum().item() for p in model[0].parameters())
    )
    h, units = 1e-6, np.eye(u.size)
    differences = [
        (objective.value(u + h * e) - objective.value(u - h * e)) / (2 * h) for e in units
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)
    if with_graph:
        H = np.stack([objective.hessian_vector(u, e) for e in units])
        columns = [
            (objective.gradient(u + h * e) - objective.gradient(u - h * e)) / (2 * h) for e in units
        ]
        np.testing.assert_allclose(H, columns, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(H, H.T, atol=1e-12)


def test_damping_is_added_to_the_curvature():
    model = network()
    plain = Closure(groups_of(model), loss_of(model), with_graph=True)
    damped = Closure(groups_of(model), loss_of(model), with_graph=True, damping=0.5)
    u, v = plain.gather(), np.arange(plain.dim, dtype=float)
    np.testing.assert_allclose(
        damped.hessian_vector(u, v), plain.hessian_vector(u, v) + 0.5 * v, rtol=1e-12
    )


def test_dropout_is_drawn_again_at_every_look():
    model = nn.Sequential(nn.Linear(4, 50), nn.Dropout(0.5), nn.Linear(50, 2)).double()
    groups = [{"params": list(model.parameters()), "lr": 1.0, "weight_decay": 0.0}]
    objective = Closure(groups, loss_of(model), with_graph=True)
    u = objective.gather()
    assert objective.value(u) == objective.value(u) == objective.value_and_gradient(u)[0]


def test_a_parameter_that_the_loss_does_not_use_has_no_slope():
    model, spare = network(), nn.Parameter(torch.ones(3, dtype=torch.float64))
    groups = [*groups_of(model), {"params": [spare], "lr": 1.0, "weight_decay": 0.0}]
    objective = Closure(groups, loss_of(model), with_graph=True)
    u = objective.gather()
    assert objective.gradient(u)[-3:].tolist() == [0.0] * 3
    assert objective.hessian_vector(u, np.ones(u.size))[-3:].tolist() == [0.0] * 3


def test_bad_closures_are_refused():
    model = network()

    def asked(closure, with_graph=True):
        objective = Closure(groups_of(model), closure, with_graph=with_graph)
        return objective.value_and_gradient(objective.gather())

    with pytest.raises(InputError, match="closure must return the loss, one number"):
        asked(lambda: 3.0)
    with pytest.raises(InputError, match="got one without a gradient"):
        asked(lambda: torch.zeros(()))

    def backward():
        loss = loss_of(model)()
        loss.backward()
        return loss

    with pytest.raises(InputError, match=r"leave backward\(\) alone"):
        asked(backward)


def test_without_fan_in_the_variables_are_the_weights():
    model = network()
    objective = Closure(groups_of(model), loss_of(model), with_graph=True, fan_in=0.0)
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    assert np.array_equal(objective.gather(), weights.numpy())
