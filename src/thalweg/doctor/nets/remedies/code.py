"""Remedies as lines of PyTorch, for a loop of one's own.

Nothing is changed and nothing proved here: `suggestion` writes down what to do, `treat` does it
where a training is a `Recipe`.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding
from thalweg.doctor import causes

INITIALIZE = """\
for layer in model.modules():
    if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d)):
        torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        torch.nn.init.zeros_(layer.bias)"""
NORM = """\
# behind every hidden Linear and before its activation (BatchNorm2d behind Conv2d):
torch.nn.BatchNorm1d(width)"""
CLIP = """\
loss.backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
optimizer.step()"""
ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"
SCALE = """\
mean, std = x_train.mean(0), x_train.std(0)
std[std == 0] = 1.0
x_train, x_val = (x_train - mean) / std, (x_val - mean) / std"""

LINES = {
    causes.VANISHING: f"""\
{INITIALIZE}
# and ReLU for sigmoid or tanh, or
{NORM}""",
    causes.EXPLODING: CLIP,
    causes.NAN: f"""\
keep = torch.isfinite(x_train).flatten(1).all(1)  # rows without a NaN
x_train, y_train = x_train[keep], y_train[keep]
# and if rows are fine, shorter steps:
{CLIP}""",
    causes.DEAD: f"""\
{INITIALIZE}
# and a smaller learning rate, or units that cannot die:
torch.nn.LeakyReLU()""",
    causes.SATURATED: f"""\
{SCALE}
{INITIALIZE}""",
    causes.SYMMETRIC: INITIALIZE,
    causes.INIT_VARIANCE: INITIALIZE,
    causes.RATE_SMALL: """\
for group in optimizer.param_groups:
    group["lr"] *= 10""",
    causes.RATE_LARGE: """\
for group in optimizer.param_groups:
    group["lr"] /= 10""",
    causes.CONDITIONING: f"""\
{SCALE}
# or steps that are scaled weight by weight:
{ADAM}""",
    causes.PLATEAU: """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)  # runs over flat ground""",
    causes.COVARIATE_SHIFT: NORM,
    causes.UNSCALED: SCALE,
    causes.CONSTANT: """\
varies = x_train.flatten(1).std(0) > 0
assert varies.any(), "every row is the same: look at what loads them"
x_train, x_val = x_train.flatten(1)[:, varies], x_val.flatten(1)[:, varies]""",
    causes.LEAKING: """\
# which feature alone tells the label, and would you have it when it matters?
tells = [torch.corrcoef(torch.stack([f, y_train.float()]))[0, 1].abs() for f in x_train.T]
x_train, x_val = (torch.cat([x[:, :leak], x[:, leak + 1:]], 1) for x in (x_train, x_val))""",
    causes.WRONG_LOSS: """\
model[-1] = torch.nn.Linear(width, classes)  # scores, without softmax or sigmoid behind it
loss = torch.nn.functional.cross_entropy(model(x), y)  # of classes; mse_loss of quantities""",
    causes.SHUFFLED: """\
order = torch.randperm(len(x_train))
x_train, y_train = x_train[order], y_train[order]  # both by one order""",
    causes.IMBALANCE: """\
counts = torch.bincount(y_train)
weight = len(y_train) / (len(counts) * counts)
loss = torch.nn.functional.cross_entropy(model(x), y, weight=weight)""",
    causes.OVERFITTING: """\
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
# behind hidden activations:
torch.nn.Dropout(0.5)
# and keep the weights of the epoch with the best validation loss:
best = copy.deepcopy(model.state_dict())""",
    causes.UNDERFITTING: """\
hidden = torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.ReLU())  # more of these
epochs = 4 * epochs""",
    causes.REGULARIZATION: """\
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
for layer in model.modules():
    if isinstance(layer, torch.nn.Dropout):
        layer.p = min(layer.p, 0.2)""",
    causes.ADAGRAD: "optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)",
    causes.CLIPPING: CLIP,
    causes.MODES: """\
model.train()  # before the batches of every epoch
...
model.eval()   # before validation, with torch.no_grad()""",
    causes.TINY_BATCHES: """\
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
# or, where memory has no room: torch.nn.GroupNorm(groups, width) for batch norm""",
    causes.ZERO_GRAD: """\
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    causes.NO_SHUFFLING: "loader = torch.utils.data.DataLoader(dataset, batch_size, shuffle=True)",
    causes.DENORMALS: "torch.set_flush_denormal(True)  # once, before training",
}


def suggestion(finding: Finding | Any) -> str:
    """What to write in a loop of one's own against `finding`, a few lines of PyTorch.

    >>> from thalweg.core.finding import Finding, Severity
    >>> print(suggestion(Finding("denormals", Severity.ACT, "half are", 0.5, 0.05)))
    torch.set_flush_denormal(True)  # once, before training
    """
    name = getattr(finding, "name", finding)
    if name not in LINES:
        raise InputError(
            f"finding must be one of the doctor's, got {describe(finding)}: "
            "pass what tw.watch(…).diagnose() returned"
        )
    return LINES[name]
