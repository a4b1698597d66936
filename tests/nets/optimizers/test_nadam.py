import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.nadam import Nadam


def test_the_first_step_by_hand():
    weight = one()
    Nadam([weight], lr=0.1, betas=(0.9, 0.0), eps=0.0, momentum_decay=0.0).step()
    # μ = 0.45 throughout: m̄ = 0.45·0.3/(1 − 0.45²) + 0.55·3/(1 − 0.45), divided by √v̂ = 3
    expected = (0.45 * 0.3 / (1 - 0.45**2) + 3.0) / 3.0
    assert weight.item() == pytest.approx(2.0 - 0.1 * expected)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"momentum_decay": -1.0}, "momentum_decay"), ({"betas": (0.9, 1.0)}, r"betas\[1\]")],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        Nadam([one()], **options)
