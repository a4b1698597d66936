from thalweg.jobs.linear import train_linear
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.job import Job


def test_each_half_trains_its_own():
    assert trainer_of(Job("@iris")).train is train_linear


def test_networks_have_their_own():
    from thalweg.jobs.network import train_network

    assert trainer_of(Job("@iris", recipe={})).train is train_network
