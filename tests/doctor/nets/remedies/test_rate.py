import numpy as np
import pytest
import torch

from thalweg.doctor.nets.remedies.rate import (
    HUNDREDFOLD,
    TENTH,
    rate_from_curvature,
    sharpness,
    usual_momentum,
    usual_rate,
)
from thalweg.nets.recipes.recipe import Recipe

generator = torch.Generator().manual_seed(0)
X = torch.randn(60, 3, generator=generator) * torch.tensor([1.0, 2.0, 5.0])
Y = X @ torch.tensor([1.0, -2.0, 0.5])
DATA = X, Y
LINEAR = Recipe(layers="linear", loss="squared", optimizer="sgd", batch_size=None, epochs=200)


def by_definition():
    """λ_max of the squared loss: of the second moments of (x, 1)."""
    design = np.column_stack([X.numpy(), np.ones(60)]).astype(float)
    return np.linalg.eigvalsh(design.T @ design / 60)[-1]


def test_sharpness_is_the_largest_eigenvalue():
    assert sharpness(LINEAR, DATA) == pytest.approx(by_definition(), rel=1e-3)


@pytest.mark.parametrize(
    ("optimizer", "beta", "factor"),
    [
        ("sgd", 0.0, 1.0),
        ("heavy-ball", 0.9, 1.9),
        ("heavy-ball", 0.5, 1.5),
        ("nesterov", 0.9, 1.9 / 2.8),
    ],
)
def test_it_is_half_of_what_is_stable(optimizer, beta, factor):
    options = {} if optimizer == "sgd" else {"momentum": beta}
    recipe = LINEAR.changed(optimizer=optimizer, optimizer_options=options, learning_rate=99.0)
    found = rate_from_curvature(recipe, DATA)
    assert found.learning_rate == pytest.approx(factor / by_definition(), rel=0.05)
    assert recipe.difference(found).startswith("learning_rate: 99.0 → ")
    # Descent with it converges; with 2.2 times as much it does not.
    good = found.train(DATA, progress=False).run.trace["value"]
    bad = found.changed(learning_rate=2.2 * found.learning_rate)
    assert good[-1] < 1e-2 * good[0]
    trace = bad.train(DATA, progress=False).run.trace["value"]
    assert not trace[-1] < 10.0 * trace[0]


def test_where_there_is_no_curvature_there_is_no_rate():
    assert rate_from_curvature(LINEAR.changed(optimizer="adam"), DATA) is None
    assert rate_from_curvature(LINEAR, (torch.full((60, 3), torch.nan), Y)) is None


def test_usual_rates_and_powers_of_ten():
    assert usual_rate(Recipe(learning_rate=10.0), DATA).learning_rate == 1e-3
    assert usual_rate(Recipe(optimizer="truncated-newton"), DATA) is None
    assert TENTH.change(Recipe(learning_rate=0.3), DATA).learning_rate == 0.03
    assert HUNDREDFOLD.change(Recipe(learning_rate=1e-10), DATA).learning_rate == 1e-8


def test_momentum_near_one_becomes_usual():
    wild = Recipe(optimizer="heavy-ball", optimizer_options={"momentum": 0.999, "dampening": 0.1})
    assert usual_momentum(wild, DATA).optimizer_options == {"momentum": 0.9, "dampening": 0.1}
    assert usual_momentum(Recipe(optimizer="heavy-ball"), DATA) is None
    assert usual_momentum(Recipe(optimizer="adam"), DATA) is None
