import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.sgd import SGD


def test_two_steps_by_hand():
    weight = one()
    optimizer = SGD([weight], lr=0.1)
    optimizer.step()
    assert weight.item() == pytest.approx(2.0 - 0.3)


def test_two_steps_with_momentum_by_hand():
    weight = one()
    optimizer = SGD([weight], lr=0.1, momentum=0.5, dampening=0.5)
    optimizer.step()  # m = 3
    optimizer.step()  # m = 0.5·3 + 0.5·3
    assert weight.item() == pytest.approx(2.0 - 0.3 - 0.3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lr": -1.0}, "lr must be at least 0"),
        ({"momentum": -0.1}, "momentum"),
        ({"nesterov": True}, "nesterov needs momentum > 0"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        SGD([one()], **options)
