import pytest

from thalweg.planner import machine
from thalweg.planner.machine import Rates, rates


@pytest.fixture(autouse=True)
def _measured_anew():
    rates.cache_clear()
    yield
    rates.cache_clear()


def test_a_rate_is_a_power_of_two_and_1_where_it_is_near(monkeypatch):
    found = iter([4.2 * machine.CALLING, 0.26 * machine.READING, 1.9 * machine.MULTIPLYING])
    monkeypatch.setattr(machine, "_shortest", lambda job: next(found))
    assert rates() == pytest.approx(Rates(4.0, 0.25, 1.0))


def test_what_no_machine_takes_is_cut(monkeypatch):
    found = iter([1e3 * machine.CALLING, 1e-9 * machine.READING, machine.MULTIPLYING])
    monkeypatch.setattr(machine, "_shortest", lambda job: next(found))
    assert rates() == pytest.approx(Rates(machine.SLOWEST, 1.0 / machine.SLOWEST, 1.0))


def test_it_is_measured_once():
    assert rates() is rates()
    assert all(rate > 0.0 for rate in rates())
