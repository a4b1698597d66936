import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, r2_score
from torch import nn

from thalweg.doctor.nets.score import floor, has_classes, score
from thalweg.nets.recipes.recipe import Recipe

CROSS, BINARY, SQUARED = (
    Recipe(loss=name) for name in ("cross-entropy", "binary-cross-entropy", "squared")
)
AS_IT_IS = nn.Linear(3, 3, bias=False)
nn.init.eye_(AS_IT_IS.weight)


class Says(nn.Module):
    """Answers with its input's first columns."""

    def __init__(self, columns):
        super().__init__()
        self.columns, self.w = columns, nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.w * x[:, : self.columns]


def test_by_hand():
    z = torch.eye(3)[[0, 0, 1, 2]]
    y = torch.tensor([0, 1, 1, 2])  # recalls 1, 1/2, 1
    assert score(CROSS, AS_IT_IS, (z, y)) == pytest.approx((1 + 0.5 + 1) / 3)
    assert floor(CROSS, y) == pytest.approx(1 / 3)


def test_it_is_balanced_accuracy_and_r2():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(200, 3, generator=generator)
    y = z.argmax(1)
    y[:60] = 2
    expected = balanced_accuracy_score(y, z.argmax(1))
    assert score(CROSS, Says(3), (z, y)) == pytest.approx(expected)
    truth = z[:, 0] + 0.3 * torch.randn(200, generator=generator)
    assert score(SQUARED, Says(1), (z, truth)) == pytest.approx(r2_score(truth, z[:, 0]), abs=1e-6)
    yes = (z[:, 0] > 0.3).long()
    expected = balanced_accuracy_score(yes, z[:, 0] > 0)
    assert score(BINARY, Says(1), (z, yes)) == pytest.approx(expected)


def test_squared_loss_on_class_numbers_says_the_nearest():
    y = torch.tensor([0, 1, 2, 2])
    z = torch.tensor([[-5.0], [1.4], [1.6], [9.0]])
    assert has_classes(SQUARED, y)
    assert score(SQUARED, Says(1), (z, y)) == 1.0
    assert not has_classes(SQUARED, y.float())


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nothing_is_below_the_floor(bad):
    y = torch.tensor([0, 1, 2])
    wrong = torch.eye(3)[[1, 2, 0]]
    assert score(CROSS, AS_IT_IS, (wrong, y)) == floor(CROSS, y) == pytest.approx(1 / 3)
    assert score(CROSS, AS_IT_IS, (wrong * bad, y)) == pytest.approx(1 / 3)
    far = torch.tensor([[100.0], [-100.0]])
    assert score(SQUARED, Says(1), (far, torch.tensor([0.0, 1.0]))) == 0.0


def test_shares_of_classes_and_the_mode_of_the_model():
    shares = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    model = nn.Sequential(nn.Dropout(0.9), nn.Identity(), AS_IT_IS)
    model[1].eval()
    assert score(CROSS, model, (torch.eye(3)[[0, 2]], shares)) == 1.0
    assert model[0].training
    assert not model[1].training
