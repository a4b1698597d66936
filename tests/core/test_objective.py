from types import SimpleNamespace

from thalweg.core.objective import ObjectiveProtocol, is_composite, known, name_of
from thalweg.objectives.regularized import Regularized
from thalweg.objectives.surfaces import Rosenbrock


def test_surfaces_play_the_objective_role_and_composites_the_other():
    assert isinstance(Rosenbrock(), ObjectiveProtocol)
    assert not is_composite(Rosenbrock())
    assert is_composite(Regularized(Rosenbrock(), l1=1.0))
    assert not isinstance(SimpleNamespace(dim=2), ObjectiveProtocol)


def test_what_an_objective_does_not_state_is_none():
    assert known(Rosenbrock(), "smoothness") is None
    assert known(SimpleNamespace(), "smoothness") is None
    assert known(SimpleNamespace(smoothness=2.0), "smoothness") == 2.0


def test_name_is_stated_or_the_repr():
    assert name_of(Rosenbrock()) == "Rosenbrock(a=1, b=100)"
    assert name_of(SimpleNamespace(name="loss")) == "loss"
