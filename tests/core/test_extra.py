import json.decoder

import pytest

from thalweg.core.errors import InputError
from thalweg.core.extra import optional


def test_a_module_or_how_to_get_it():
    assert optional("json.decoder", "it", extra="x", instead="go") is json.decoder
    with pytest.raises(InputError) as caught:
        optional("no_such.part", "PNG", extra="plots", instead="save as .svg")
    assert str(caught.value) == (
        "PNG needs no_such, which is not installed: pip install 'thalweg[plots]', or save as .svg"
    )
