import copy
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import thalweg as tw
from small_nets import digits, weights
from thalweg.core.errors import InputError
from thalweg.doctor.nets.saddle import escape


class Surface(nn.Module):
    """A function of a vector as a network."""

    def __init__(self, w, dtype=torch.float64):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(w, dtype=dtype))


def left(function, w, dtype=torch.float64, **options):
    model = Surface(w, dtype)
    return model.w, escape(model, lambda: function(*model.w.unbind()), **options)


def zeros(hidden=4, dtype=torch.float32):
    """A network of zeros, all but the last biases, which are those of the classes' shares."""
    x, y = digits(200)
    x = x.to(dtype)
    model = nn.Sequential(nn.Linear(64, hidden), nn.Tanh(), nn.Linear(hidden, 10)).to(dtype)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model[2].bias.copy_((y.bincount() / len(y)).log())
    return model, lambda: functional.cross_entropy(model(x), y)


def test_by_hand():
    # f = x² − y² + y⁴/4 from the saddle at 0: λ = 2 and −2, minima of −1 at y = ±√2.
    w, found = left(lambda x, y: x**2 - y**2 + y**4 / 4, [0.0, 0.0])
    assert found.kind == "saddle"
    assert (found.smallest, found.largest) == pytest.approx((-2.0, 2.0))
    assert found.before == 0.0
    # α = 2ᵏ·10⁻⁴: 0.8192 and 1.6384 lie on both sides of √2, and f(1.6384) is the lower.
    assert found.step == pytest.approx(1e-4 * 2**14)
    assert found.after == pytest.approx(-(1.6384**2) + 1.6384**4 / 4)
    assert w.detach().abs().numpy() == pytest.approx([0.0, 1.6384], abs=1e-9)


def test_the_sign_is_downhill():
    # Both ways f falls at first, and to the right, where the slope of −0.001 leads, further.
    for slope in (-0.001, 0.001):
        w, found = left(lambda x, s=slope: s * x - x**2 + x**4 / 4, [0.0])
        assert found.kind == "maximum"
        assert math.copysign(1.0, w.item()) == -math.copysign(1.0, slope)
        assert found.after < found.before - 0.8


def dense_hessian(model, closure):
    """∇²f, a row of double backward for each weight."""
    tensors = list(model.parameters())
    slope = torch.autograd.grad(closure(), tensors, create_graph=True)
    rows = [
        torch.autograd.grad(entry, tensors, retain_graph=True)
        for entry in torch.cat([part.flatten() for part in slope])
    ]
    return torch.stack([torch.cat([part.flatten() for part in row]) for row in rows])


def test_the_escape_direction_is_an_eigenvector_of_the_dense_hessian():
    model, closure = zeros(hidden=2, dtype=torch.float64)
    hessian, before = dense_hessian(model, closure), weights(model)
    values = torch.linalg.eigvalsh(hessian)
    found = escape(model, closure)
    assert found.kind == "saddle"
    assert found.smallest == pytest.approx(values[0].item(), rel=1e-6)
    assert found.largest == pytest.approx(values[-1].item(), rel=1e-6)
    assert found.error < 0.1 * abs(found.smallest)
    moved = weights(model) - before
    assert moved.norm().item() == pytest.approx(found.step)
    v = moved / moved.norm()
    assert (hessian @ v).numpy() == pytest.approx((values[0] * v).numpy(), abs=1e-5)
    assert closure().item() == found.after < found.before - 0.2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_descent_stays_at_a_saddle_and_learns_after_it(dtype):
    model, closure = zeros(dtype=dtype)

    def train(steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        for _ in range(steps):
            optimizer.zero_grad()
            closure().backward()
            optimizer.step()
        return closure().item()

    stuck = train(100)
    found = escape(model, closure, max_products=40)
    assert found.kind == "saddle"
    assert found.before == pytest.approx(stuck, rel=1e-5)
    assert found.after < stuck - 0.2
    assert model[0].weight.dtype is dtype
    assert train(200) < 0.5 * stuck


@pytest.mark.parametrize(
    ("function", "w", "kind"),
    [
        (lambda x, y: x**2 + 3 * y**2, [0.0, 0.0], "minimum"),
        (lambda x, y: x**2 + 0 * y, [0.0, 5.0], "degenerate"),
        (lambda x, y: x**2 + y**4, [0.0, 0.0], "degenerate"),
        (lambda x, y: x**2 + y, [0.0, 0.0], "not stationary"),
    ],
)
def test_elsewhere_the_weights_stay_bit_for_bit(function, w, kind):
    after, found = left(function, w)
    assert found.kind == kind
    assert after.tolist() == w
    assert found.step == 0.0
    assert found.before == found.after
    assert "as they were" in str(found)


def test_a_flat_direction_along_which_the_loss_falls_is_taken():
    w, found = left(lambda x, y: x**2 - y**4 + y**6 / 2, [0.0, 0.0])
    assert found.kind == "degenerate"
    assert found.after < -0.1
    assert abs(w[1].item()) > 0.5


def test_nothing_but_the_parameters_changes():
    torch.manual_seed(0)
    x, y = digits()
    model = nn.Sequential(
        nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 10)
    )
    nn.init.zeros_(model[1].weight)  # and the last layer's, and no gradient passes either
    nn.init.zeros_(model[4].weight)
    nn.init.zeros_(model[4].bias)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    buffers = copy.deepcopy(dict(model.named_buffers()))
    places = [p.data_ptr() for p in model.parameters()]
    drawn = torch.get_rng_state()
    found = escape(model, lambda: functional.cross_entropy(model(x[:100]), y[:100]), tol=0.1)
    assert found.kind == "saddle"
    assert found.after < found.before
    assert torch.equal(torch.get_rng_state(), drawn)
    assert [p.data_ptr() for p in model.parameters()] == places
    assert (model[0].weight.grad == 1).all()
    assert model[4].weight.grad is None
    assert model.training
    for name, buffer in model.named_buffers():
        assert torch.equal(buffer, buffers[name])


def test_a_seed_replays():
    ends = []
    for _ in range(2):
        model, closure = zeros()
        found = escape(model, closure, seed=3)
        ends.append((found, weights(model)))
    assert ends[0][0] == ends[1][0]
    assert torch.equal(ends[0][1], ends[1][1])


def test_the_sentence():
    _, found = left(lambda x, y: x**2 - y**2 + y**4 / 4, [0.0, 0.0])
    text = str(found)
    assert text.startswith("saddle (λ_min = -2, λ_max = 2, error ≤ ")
    assert text.endswith("The loss fell from 0 to -0.882915 over a step of 1.64.")


def test_a_loss_that_falls_for_ever_ends():
    w, found = left(lambda x, y: x**2 - y**2, [0.0, 0.0])
    assert found.kind == "saddle"
    assert np.isfinite(w.detach().numpy()).all()
    assert found.after < -1e6


def test_a_plain_beyond_the_slope_is_not_crossed():
    _, found = left(lambda x, y: x**2 - torch.tanh(y) ** 2, [0.0, 0.0])
    assert found.after == pytest.approx(-1.0)
    assert found.step < 100.0


def test_it_is_a_name_of_the_doctor():
    assert tw.doctor.escape is escape
    assert tw.doctor.Escape._fields[:3] == ("kind", "before", "after")


def test_bad_input_is_answered_with_a_sentence(monkeypatch):
    model = Surface([0.0, 0.0])
    before = model.w.detach().clone()

    def called():
        loss = (model.w**2).sum().exp()
        loss.backward()
        return loss

    drawn, far = iter(range(1000)), torch.ones(3, 2, dtype=torch.float64)
    sentences = [
        (called, r"leave backward\(\) alone"),
        (lambda: model.w.sum() / 0.0 * 0.0, "finite loss, got nan: go back"),
        (lambda: torch.cdist(model.w[None], far, p=1.5).sum(), "differentiated twice"),
        (lambda: (model.w**2).sum() + next(drawn), "same loss at the same weights, got 0 and"),
        (lambda: model.w, "one number as a tensor"),
        (lambda: torch.tensor(1.0), "depends on the parameters"),
    ]
    for closure, sentence in sentences:
        with pytest.raises(InputError, match=sentence):
            escape(model, closure)
        assert torch.equal(model.w, before)
        assert model.w.grad is None
    with pytest.raises(InputError, match="closure must be a function"):
        escape(model, 3.0)
    with pytest.raises(InputError, match=r"model must be a torch\.nn\.Module"):
        escape(None, lambda: None)
    with pytest.raises(InputError, match="tol must be"):
        escape(model, lambda: (model.w**2).sum(), tol=0.0)
    monkeypatch.setattr("thalweg.doctor.nets.saddle.world.size", lambda: 2)
    with pytest.raises(InputError, match="one process, got 2"):
        escape(model, lambda: (model.w**2).sum())
