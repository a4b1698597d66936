import ast

import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.doctor import causes
from thalweg.doctor.nets.remedies.code import LINES, suggestion


@pytest.mark.parametrize("cause", causes.CAUSES)
def test_every_cause_has_lines_of_python(cause):
    text = suggestion(Finding(cause, Severity.ACT, "", 0.0, 0.0))
    ast.parse(text)
    assert max(map(len, text.splitlines())) <= 100


def loop():
    """What a loop of one's own has."""
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.9), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = nn.functional.cross_entropy(model(x), y)
    return {
        "torch": torch, "model": model, "optimizer": optimizer, "x": x, "y": y, "x_train": x,
        "y_train": y, "x_val": x[:5].clone(), "loss": loss, "width": 4, "classes": 2, "inputs": 3,
        "epochs": 2, "batch_size": 8, "dataset": torch.utils.data.TensorDataset(x, y), "leak": 1,
        "copy": __import__("copy"),
    }  # fmt: skip


@pytest.mark.parametrize("cause", [c for c in LINES if c != causes.DENORMALS])  # that is global
def test_the_lines_run(cause):
    names = loop()
    before = {name: value.clone() for name, value in names["model"].state_dict().items()}
    exec(LINES[cause], names)
    if cause in (causes.RATE_SMALL, causes.RATE_LARGE):
        assert names["optimizer"].param_groups[0]["lr"] in (1.0, 0.01)
    if cause == causes.REGULARIZATION:
        assert names["model"][1].p == 0.2
    if cause == causes.UNSCALED:
        assert names["x_train"].std(0).tolist() == pytest.approx([1.0] * 3, rel=1e-4)
    if cause == causes.SYMMETRIC:
        assert not torch.equal(names["model"][0].weight, before["0.weight"])
    if cause == causes.LEAKING:
        assert names["x_train"].shape == (40, 2)
        assert int(torch.stack(names["tells"]).argmax()) == 0


def test_a_name_will_do_and_others_are_refused():
    assert suggestion(causes.CLIPPING) == LINES[causes.CLIPPING]
    with pytest.raises(InputError, match="finding must be one of the doctor's, got 'flu'"):
        suggestion("flu")
