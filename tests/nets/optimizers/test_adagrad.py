import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.adagrad import AdaGrad


def test_two_steps_by_hand():
    weight = one()
    optimizer = AdaGrad([weight], lr=0.1, eps=0.0)
    optimizer.step()  # s = 9
    optimizer.step()  # s = 18
    assert weight.item() == pytest.approx(2.0 - 0.1 - 0.3 / 18**0.5)


@pytest.mark.parametrize(
    ("options", "sentence"), [({"eps": -1.0}, "eps"), ({"lr_decay": -1.0}, "lr_decay")]
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        AdaGrad([one()], **options)
