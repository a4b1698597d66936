import math

import pytest
import torch

from thalweg.doctor.nets.instruments.targets import NAMES, Targets, kind_of


def seen(*batches):
    targets = Targets()
    for y in batches:
        targets.add(y)
    return {name.removeprefix("target_"): value for name, value in targets.scalars().items()}


def test_classes_by_hand():
    found = seen(torch.tensor([0, 2, 2]), torch.tensor([2, 1]))
    assert (found["kind"], found["columns"], found["classes"]) == ("classes", 1.0, 3.0)
    assert found["largest_share"] == 0.6
    assert (found["min"], found["max"], found["mean"]) == (0, 2, 1.4)
    assert tuple(found) == NAMES


def test_numbers_by_hand():
    found = seen(torch.tensor([[1.5], [2.5]]), torch.tensor([[-1.0], [1.0]]))
    assert found["kind"] == "numbers"
    assert (found["min"], found["max"], found["mean"]) == (-1, 2.5, 1)
    assert found["std"] == pytest.approx(math.sqrt((2.25 + 6.25 + 1 + 1) / 4 - 1))
    assert math.isnan(found["classes"])


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (torch.tensor([1, 0]), "classes"),
        (torch.tensor([True, False]), "classes"),
        (torch.eye(3), "one-hot"),
        (torch.tensor([[0.0, 1.0], [1.0, 1.0]]), "zero-one"),
        (torch.tensor([0.0, 1.0]), "zero-one"),
        (torch.tensor([[1.0], [0.0]]), "zero-one"),
        (torch.tensor([0.0, 0.5]), "numbers"),
        (torch.tensor([math.nan]), "numbers"),
    ],
)
def test_kinds(y, kind):
    assert kind_of(y) == kind


def test_one_hot_rows_are_classes():
    found = seen(torch.eye(4)[[0, 1, 1, 3]])
    assert (found["classes"], found["largest_share"], found["columns"]) == (3, 0.5, 4)


def test_a_batch_of_numbers_makes_all_of_them_numbers():
    found = seen(torch.tensor([0.0, 1.0]), torch.tensor([0.3]))
    assert found["kind"] == "numbers"
    assert math.isnan(found["largest_share"])


def test_nothing_was_seen():
    found = seen(None, "words", torch.empty(0))
    assert found["kind"] == ""
    assert all(math.isnan(value) for name, value in found.items() if name != "kind")


def test_mixing_is_one_for_rows_drawn_at_random_and_n_for_sorted_ones():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(4000) % 4
    drawn = y[torch.randint(4000, (300, 20), generator=generator)]
    assert seen(*drawn)["mixing"] == pytest.approx(1.0, abs=0.1)
    assert seen(*y.sort().values.split(20))["mixing"] == pytest.approx(20.0)
    numbers = torch.randn(300, 20, generator=generator)
    assert seen(*numbers)["mixing"] == pytest.approx(1.0, abs=0.25)
    assert seen(*numbers.flatten().sort().values.split(20))["mixing"] > 15


def test_mixing_of_one_batch_or_one_class_is_unknown():
    assert math.isnan(seen(torch.tensor([0, 1]))["mixing"])
    assert math.isnan(seen(torch.tensor([1, 1]), torch.tensor([1, 1]))["mixing"])
    assert math.isnan(seen(torch.ones(3) / 3, torch.ones(3) / 3)["mixing"])
