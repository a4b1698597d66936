import pytest
import torch
from torch import distributed

from thalweg.nets.training import world
from thalweg.nets.training.batches import Batches


def test_one_process_is_the_main_one_and_its_own_mean():
    assert (world.rank(), world.size(), world.is_main()) == (0, 1, True)
    assert world.mean_over_ranks(2.0, 3.0) == (2.0, 3.0)


@pytest.fixture
def group():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_a_group_of_one_gives_the_same(group):
    assert world.is_shared()
    assert (world.rank(), world.size(), world.is_main()) == (0, 1, True)
    assert world.mean_over_ranks(2.0, 3.0) == (2.0, 3.0)


def test_two_processes_share_the_rows_of_an_epoch(monkeypatch):
    x = torch.arange(11.0)[:, None]
    seen = []
    monkeypatch.setattr(world, "size", lambda: 2)
    for rank in (0, 1):
        monkeypatch.setattr(world, "rank", lambda rank=rank: rank)
        batches = Batches(x, x, 2, seed=3)
        seen.append(torch.cat([batch.x for batch in batches.epoch()]).flatten().tolist())
    assert len(seen[0]) == len(seen[1]) == 5
    assert len(set(seen[0] + seen[1])) == 10
