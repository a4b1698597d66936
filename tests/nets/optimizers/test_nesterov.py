import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.nesterov import Nesterov


def test_two_steps_by_hand():
    weight = one()
    optimizer = Nesterov([weight], lr=0.1, momentum=0.5)
    optimizer.step()  # m = 3, along 3 + 1.5
    optimizer.step()  # m = 4.5, along 3 + 2.25
    assert weight.item() == pytest.approx(2.0 - 0.45 - 0.525)


@pytest.mark.parametrize(
    ("options", "sentence"), [({"momentum": 0.0}, "nesterov needs momentum > 0")]
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        Nesterov([one()], **options)
