import pytest
import torch

import thalweg as tw
from small_nets import digits, mlp, weights
from thalweg.core.errors import InputError
from thalweg.nets.training.probe import due, probes_of, stateful

X, Y = digits()


class Shaker:
    """A probe that moves the weights at random, by a generator of its own, and counts."""

    def __init__(self, stop=None):
        self.generator, self.steps, self.stop = torch.Generator().manual_seed(1), [], stop

    def __call__(self, moment):
        self.steps.append(moment.step)
        with torch.no_grad():
            for p in moment.model.parameters():
                p.add_(1e-3 * torch.randn(p.shape, generator=self.generator))
        return moment.step == self.stop

    def state_dict(self):
        return {"generator": self.generator.get_state(), "steps": self.steps}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])
        self.steps = state["steps"]


def shaken(*probes, **asked):
    model = mlp(dropout=0.2)
    asked = {"epochs": 3, "batch_size": 100, "progress": False, **asked}
    run = tw.nets.fit(model, (X, Y), probes=probes, **asked)
    return weights(model), run


def told(moment):
    return False


def test_who_is_told_of_a_step():
    seldom = Shaker()
    seldom.every = 3
    assert due([told, seldom], 4) == [told]
    assert due([told, seldom], 6) == [told, seldom]


def test_who_remembers():
    shaker = Shaker()
    assert stateful([told, shaker, tw.nets.fit]) == [shaker]


def test_a_probe_is_a_function():
    assert probes_of(iter([told])) == (told,)
    with pytest.raises(InputError, match="probes must be a function of a Moment"):
        probes_of([3])


@pytest.mark.parametrize("step", [1, 6, 8])
def test_what_a_probe_remembers_goes_on_to_the_same_bits(tmp_path, step):
    whole = Shaker()
    expected, _ = shaken(whole)
    file = tmp_path / "training"
    _, first = shaken(Shaker(stop=step), checkpoint=file)
    assert (first.outcome, first.iterations) == (tw.Outcome.INTERRUPTED, step)
    later = Shaker()
    found, _ = shaken(told, later, checkpoint=file)  # one without a state may come and go
    assert torch.equal(found, expected)
    assert later.steps == whole.steps
    assert torch.equal(later.generator.get_state(), whole.generator.get_state())


def test_a_training_whose_probes_remember_is_another_without_them(tmp_path):
    file = tmp_path / "training"
    shaken(Shaker(), checkpoint=file, epochs=1)
    with pytest.raises(InputError, match=r"its probes is \['Shaker'\], this one's is None"):
        shaken(told, checkpoint=file)
