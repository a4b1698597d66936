import math

import numpy as np
import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.training.losses import LOSSES, loss_of

ENTROPY, BINARY, SQUARED = LOSSES.values()


def test_by_hand():
    scores = torch.tensor([[0.0, 0.0], [0.0, math.log(3.0)]])
    assert ENTROPY(scores, torch.tensor([0, 1])).item() == pytest.approx(
        (math.log(2) + math.log(4 / 3)) / 2
    )
    one = torch.tensor([[0.0], [math.log(3.0)]])
    assert BINARY(one, torch.tensor([[0.0], [1.0]])).item() == pytest.approx(
        (math.log(2) + math.log(4 / 3)) / 2
    )
    assert SQUARED(torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.zeros(2, 2)).item() == 5 / 4


def test_squared_is_that_of_linear_problems():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=3)
    problem = tw.LinearProblem(X, y, loss="squared", fit_intercept=False)
    ours = SQUARED(torch.tensor(X @ w)[:, None], torch.tensor(y)[:, None])
    assert ours.item() == pytest.approx(problem.value(w), rel=1e-12)


def test_hits():
    scores = torch.tensor([[2.0, 1.0], [2.0, 1.0]])
    assert ENTROPY.hits(scores, torch.tensor([0, 1])) == 1
    assert ENTROPY.hits(scores, torch.tensor([[0.9, 0.1], [0.8, 0.2]])) == 2
    assert BINARY.hits(scores[:, :1], torch.tensor([[1.0], [0.0]])) == 1
    assert SQUARED.hits(scores, scores) is None


def test_labels_become_what_the_loss_wants():
    like = torch.zeros(1)
    assert ENTROPY.labels(torch.tensor([1.0, 2.0], dtype=torch.float64), like).dtype == torch.int64
    assert ENTROPY.labels(torch.tensor([1, 2], dtype=torch.uint8), like).dtype == torch.int64
    assert BINARY.labels(torch.tensor([1, 0]), like).dtype == torch.float32


def test_any_function_will_do():
    def total(output, y):
        return (output - y).abs().sum()

    loss = loss_of(total)
    assert loss.name == "total"
    assert loss(torch.ones(2), torch.zeros(2)) == 2
    assert loss_of(loss) is loss
    assert loss.hits(torch.eye(2), torch.tensor([0, 0])) == 1
    with pytest.raises(InputError, match="must return one number as a tensor"):
        loss_of(lambda output, y: output - y)(torch.ones(2), torch.zeros(2))


@pytest.mark.parametrize(
    ("loss", "output", "y", "says"),
    [
        (ENTROPY, (4, 3), torch.tensor([0, 2, 3, 9]),
         "in 0 … 2, as the model has 3 outputs, got 3 in row 7 and 1 more"),
        (ENTROPY, (4, 3), torch.tensor([-1, 2, 1, 0]), "got -1 in row 5"),
        (ENTROPY, (4,), torch.tensor([0, 1, 0, 1]), "one class number for each row of outputs"),
        (ENTROPY, (4, 3), torch.zeros(4, 2), r"\[n, 2\] for outputs of \[n, 3\]"),
        (SQUARED, (4, 1), torch.zeros(4), r"pass y\[:, None\]"),
        (SQUARED, (4,), torch.zeros(4, 1), r"pass y\[:, 0\]"),
        (BINARY, (4, 1), torch.tensor([[0.0], [1.0], [2.0], [0.0]]), "got 2 in row 7"),
    ],
)  # fmt: skip
def test_labels_that_do_not_fit(loss, output, y, says):
    with pytest.raises(InputError, match=says):
        loss.check(torch.zeros(output), y, "data", first_row=5)


def test_sentences():
    with pytest.raises(InputError, match="did you mean 'cross-entropy'"):
        loss_of("crossentropy")
    with pytest.raises(InputError, match="must be a name or a function"):
        loss_of(3)
    with pytest.raises(InputError, match=r"got 0\.5 in row 1: use loss='squared'"):
        ENTROPY.labels(torch.tensor([1.0, 0.5]), torch.zeros(1))
