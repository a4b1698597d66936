"""Do last activation and loss fit each other and the labels? Two of the detectors ask.

PyTorch's `cross_entropy` takes scores, as a Keras loss with `from_logits` does; `nll` takes
log-probabilities, `bce` and `log` take probabilities.
"""

from __future__ import annotations

from doctor.program import Program

# What a loss expects behind the last linear map.
EXPECTED = {
    "cross-entropy": "none",
    "smooth": "none",
    "binary-cross-entropy": "none",
    "nll": "log-softmax",
    "log": "softmax",
    "bce": "sigmoid",
}
BINARY = ("binary-cross-entropy", "bce")


def activation_matches(program: Program) -> bool:
    """Whether the last activation is the one that the loss expects; a distance expects nothing."""
    return program.net.output == EXPECTED.get(program.loss, program.net.output)


def loss_matches(program: Program, classes: int) -> bool:
    """Whether the loss is one of the classes that there are; every loss is one of a regression."""
    if not classes:
        return True
    if program.loss in BINARY:
        return classes <= 2
    return program.loss in EXPECTED
