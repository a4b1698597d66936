import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.rmsprop import RMSProp


def test_two_steps_by_hand():
    weight = one()
    optimizer = RMSProp([weight], lr=0.1, alpha=0.75, eps=0.0)
    optimizer.step()  # s = 9/4
    optimizer.step()  # s = 27/16 + 9/4
    assert weight.item() == pytest.approx(2.0 - 0.2 - 0.3 / (63 / 16) ** 0.5)


def test_momentum_is_a_heavy_ball_along_its_steps():
    weight = one()
    optimizer = RMSProp([weight], lr=0.1, alpha=0.0, eps=0.0, momentum=0.5)
    optimizer.step()  # d = 1, m = 1
    optimizer.step()  # d = 1, m = 1.5
    assert weight.item() == pytest.approx(2.0 - 0.1 - 0.15)


@pytest.mark.parametrize(
    ("options", "sentence"), [({"alpha": -1.0}, "alpha"), ({"momentum": -1.0}, "momentum")]
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        RMSProp([one()], **options)
