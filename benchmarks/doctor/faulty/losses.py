"""Faults of the loss and of the last layer."""

from __future__ import annotations

from doctor.faulty.family import family
from thalweg.doctor.causes import (
    CLIPPING,
    DEAD,
    EXPLODING,
    INIT_VARIANCE,
    NAN,
    PLATEAU,
    RATE_LARGE,
    RATE_SMALL,
    SATURATED,
    UNDERFITTING,
    UNSCALED,
    VANISHING,
    WRONG_LOSS,
)

PROGRAMS = [
    *family(
        "softmax before cross-entropy",
        WRONG_LOSS,
        (RATE_SMALL, VANISHING, SATURATED, UNDERFITTING, PLATEAU),
        "the loss takes scores and is given probabilities: it cannot fall below log(K − 1 + e) − 1",
        "TheDeepChecker: redundant softmax; NeuraLint: loss fed post-activation",
        {
            "digits-relu-adam": {"output": "softmax"},
            "images-conv-heavy-ball": {"output": "softmax"},
            "iris-linear": {"output": "softmax"},
            "mixture-tanh-sgd": {"output": "softmax"},
            "digits-batch-norm-sgd": {"output": "double-softmax"},
        },
        harm="loss",
        margin=0.3,
    ),
    *family(
        "sigmoid before its loss",
        WRONG_LOSS,
        (RATE_SMALL, VANISHING, SATURATED, UNDERFITTING, PLATEAU),
        "the loss has the sigmoid in it: of a probability it takes the sigmoid again",
        "NeuraLint: loss fed post-activation",
        {
            "circles-sigmoid": {"output": "sigmoid"},
            "cancer-logistic": {"output": "sigmoid"},
            "moons-binary": {"output": "sigmoid"},
            "spots-conv-binary": {"output": "sigmoid"},
        },
        harm="loss",
        margin=0.3,
    ),
    *family(
        "loss of another task",
        WRONG_LOSS,
        (UNDERFITTING, EXPLODING, NAN, RATE_LARGE),
        "class numbers are no quantities, and three classes are no yes or no",
        "DeepFD: loss swapped; TheDeepChecker: wrong loss",
        {
            "digits-gelu-adamw": {"loss": "squared"},
            "mixture-relu-adam": {"loss": "squared"},
            "wine-relu-adam": {"loss": "binary-cross-entropy"},
            "blobs-relu-adam": {"loss": "binary-cross-entropy"},
            "images-conv-tanh": {"loss": "absolute"},
        },
    ),
    *family(
        "output that cannot reach",
        WRONG_LOSS,
        (SATURATED, DEAD, VANISHING, UNDERFITTING, PLATEAU),
        "targets lie beyond what the last activation can say",
        "DeepFD: last activation changed; TheDeepChecker: wrong activation",
        {
            "sine-tanh-adam": {"output": "sigmoid"},
            "plane-relu-adam": {"output": "tanh"},
            "friedman-relu-adam": {"output": "relu"},
            "plane-linear-sgd": {"output": "sigmoid"},
        },
    ),
    *family(
        "ascent",
        WRONG_LOSS,
        (EXPLODING, RATE_LARGE, NAN, CLIPPING),
        "the sign of the loss is flipped: it is maximized",
        "TheDeepChecker: flipped sign",
        {
            "digits-leaky-nesterov": {"sign": -1.0},
            "images-conv-adam": {"sign": -1.0},
            "moons-binary": {"sign": -1.0},
            "friedman-silu": {"sign": -1.0},
        },
    ),
    *family(
        "over-scaled scores",
        WRONG_LOSS,
        (INIT_VARIANCE, EXPLODING, RATE_LARGE, SATURATED, NAN, CLIPPING, DEAD),
        "scores are multiplied by a large number: probabilities are 0 or 1 from the first step on",
        "TheDeepChecker: over-scaled outputs",
        {
            "digits-tanh-sgd": {"gain": 200.0},
            "images-conv-heavy-ball": {"gain": 100.0},
            "friedman-tanh-sgd": {"gain": 100.0},
            "mixture-tanh-sgd": {"gain": 3000.0},
        },
    ),
    *family(
        "targets in small units",
        WRONG_LOSS,
        (UNSCALED, RATE_SMALL, RATE_LARGE, EXPLODING, UNDERFITTING, NAN, CLIPPING),
        "targets of size 10,000 for a network whose outputs begin at 1",
        "TheDeepChecker: over-scaled outputs; DeepFD's regression faults",
        {
            "plane-relu-adam": {"changes": (("scale targets", 1e4),)},
            "sine-relu-adam": {"changes": (("scale targets", 1e4),)},
            "friedman-tanh-sgd": {"changes": (("scale targets", 1e3),)},
        },
    ),
]
