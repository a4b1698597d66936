import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.heavy_ball import HeavyBall


def test_two_steps_by_hand():
    weight = one()
    optimizer = HeavyBall([weight], lr=0.1, momentum=0.9)
    optimizer.step()  # m = 3
    optimizer.step()  # m = 0.9·3 + 3
    assert weight.item() == pytest.approx(2.0 - 0.3 - 0.57)


@pytest.mark.parametrize(
    ("options", "sentence"), [({"momentum": -1.0}, "momentum must be at least 0")]
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        HeavyBall([one()], **options)
