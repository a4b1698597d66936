import pytest
import torch

from thalweg.doctor.nets.remedies.loss import fitting_loss
from thalweg.nets.recipes.recipe import Recipe

X = torch.zeros(4, 2)


@pytest.mark.parametrize(
    ("loss", "y", "fitting"),
    [
        ("squared", torch.tensor([0, 1, 2, 1]), "cross-entropy"),
        ("binary-cross-entropy", torch.tensor([0, 1, 2, 1]), "cross-entropy"),
        ("binary-cross-entropy", torch.tensor([0, 1, 1, 0]), None),
        ("cross-entropy", torch.tensor([0.5, 1.0, 2.5, 0.0]), "squared"),
        ("cross-entropy", torch.tensor([0.0, 1.0, 2.0, 0.0]), None),
        ("binary-cross-entropy", torch.tensor([0.5, 1.0, 2.5, 0.0]), "squared"),
        ("binary-cross-entropy", torch.tensor([0.5, 1.0, 0.0, 0.0]), None),
        ("squared", torch.tensor([0.5, 1.0, 2.5, 0.0]), None),
    ],
)
def test_the_labels_decide(loss, y, fitting):
    after = fitting_loss(Recipe(loss=loss), (X, y))
    assert (after and after.loss) == fitting
