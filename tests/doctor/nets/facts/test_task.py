import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, r2_score

from thalweg.doctor.nets.facts.task import (
    MOST_ROWS,
    Task,
    answers,
    most_rows,
    recalls_of,
    rows_of,
    score,
    skill,
    skill_error,
    task_of,
)

RNG = np.random.default_rng(0)


def classes(y):
    return Task(np.zeros((len(y), 1)), np.array(y), int(max(y)) + 1)


def test_by_hand():
    task = classes([0, 0, 0, 1])
    assert recalls_of(np.array([0, 0, 1, 1]), task).tolist() == pytest.approx([2 / 3, 1])
    assert score(np.array([0, 0, 1, 1]), task) == pytest.approx(5 / 6)
    assert skill(np.array([0, 0, 1, 1]), task) == pytest.approx(2 / 3)
    assert skill(np.zeros(4, int), task) == 0.0


def test_scores_are_those_of_scikit_learn():
    y, said = RNG.integers(0, 3, 200), RNG.integers(0, 3, 200)
    assert score(said, classes(y)) == pytest.approx(balanced_accuracy_score(y, said))
    assert skill(said, classes(y)) == pytest.approx(balanced_accuracy_score(y, said, adjusted=True))
    y, said = RNG.normal(size=(50, 1)), RNG.normal(size=(50, 1))
    said = y + 0.3 * said
    assert score(said, Task(y, y, 0)) == pytest.approx(r2_score(y, said))


def test_the_error_is_that_of_answers_by_chance():
    y = np.repeat([0, 1, 2], [300, 30, 100])
    skills = [skill(RNG.integers(0, 3, len(y)), classes(y)) for _ in range(2000)]
    assert skill_error(classes(y)) == pytest.approx(np.std(skills), rel=0.1)
    assert np.mean(skills) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("y", "count"),
    [
        (torch.tensor([0, 1, 2]), 3),
        (torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), 2),
        (torch.tensor([[1.0], [0.0], [1.0]]), 2),
        (torch.tensor([0.5, 1.5, 2.0]), 0),
        (torch.tensor([[0.5, 1.0], [1.5, 3.0], [2.0, 1.0]]), 0),
    ],
)
def test_what_labels_are(y, count):
    task = task_of(torch.ones(3, 2, 2), y, RNG)
    assert task.classes == count
    assert task.x.shape == (3, 4)
    assert task.y.ndim == (1 if count else 2)


def test_many_rows_are_sampled():
    task = task_of(torch.arange(5000.0)[:, None], torch.arange(5000) % 2, RNG)
    assert len(task.x) == MOST_ROWS
    assert (task.x[:, 0] % 2 == task.y).all()
    assert rows_of(5, 10, RNG).tolist() == [0, 1, 2, 3, 4]


def test_what_outputs_say():
    three, two = classes([0, 1, 2]), classes([0, 1, 1])
    z = torch.tensor([[0.0, 1.0, 2.0], [5.0, 1.0, 2.0], [0.0, 9.0, 2.0]])
    assert answers(z, three).tolist() == [2, 0, 1]
    assert answers(torch.tensor([[-0.4], [1.4], [7.0]]), three).tolist() == [0, 1, 2]
    assert answers(torch.tensor([[-1.0], [2.0], [0.1]]), two).tolist() == [0, 1, 1]
    assert answers(torch.tensor([[0.1], [0.9], [0.6]]), two).tolist() == [0, 1, 1]
    numbers = Task(np.zeros((2, 1)), np.zeros((2, 1)), 0)
    assert answers(torch.tensor([1.0, np.nan]), numbers).tolist() == [[1.0], [0.0]]


def test_nothing_varies():
    assert skill(np.zeros(3, int), classes([0, 0, 0])) == 0.0
    assert skill(np.ones((3, 1)), Task(np.ones((3, 1)), np.ones((3, 1)), 0)) == 0.0


def test_large_images_have_fewer_rows():
    assert most_rows(torch.empty(9, 784)) == MOST_ROWS
    assert most_rows(torch.empty(9, 3, 100, 100)) == 4_000_000 // 30_000
    assert most_rows(torch.empty(1, 3, 512, 512)) == 64
