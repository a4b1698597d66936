import pytest

from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.adam import Adam


def test_the_first_step_has_the_length_of_the_rate():
    weight = one()
    Adam([weight], lr=0.1, eps=0.0).step()
    assert weight.item() == pytest.approx(1.9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"betas": (1.0, 0.9)}, r"betas\[0\] must be in \[0, 1\)"), ({"eps": -1.0}, "eps")],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        Adam([one()], **options)
