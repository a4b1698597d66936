"""Faults of the optimizer's steps: too long, too short, or ever shorter."""

from __future__ import annotations

from doctor.faulty.family import family
from thalweg.doctor.causes import (
    ADAGRAD,
    CLIPPING,
    DEAD,
    EXPLODING,
    NAN,
    PLATEAU,
    RATE_LARGE,
    RATE_SMALL,
    SATURATED,
    UNDERFITTING,
    UNSCALED,
    ZERO_GRAD,
)

WILD = (EXPLODING, NAN, DEAD, SATURATED, CLIPPING)
TIMID = (UNDERFITTING, PLATEAU)

PROGRAMS = [
    *family(
        "adaptive rate of ones",
        RATE_LARGE,
        WILD,
        "every weight moves by about the rate at each step: by 1 and more, where it is of size 0.1",
        "DeepFD: rates from 1 to 10",
        {
            "digits-relu-adam": {"learning_rate": 1.0},
            "images-conv-adam": {"learning_rate": 2.0},
            "circles-relu-adam": {"learning_rate": 10.0},
            "friedman-relu-adam": {"learning_rate": 5.0},
        },
    ),
    *family(
        "rate past the curvature",
        RATE_LARGE,
        WILD,
        "descent with a rate above 2/λ climbs along the steepest direction instead of descending",
        "TheDeepChecker: high learning rate; DeepCrime: change learning rate",
        {
            "digits-tanh-sgd": {"learning_rate": 20.0},
            "plane-linear-sgd": {"learning_rate": 2.5},
            "digits-relu-heavy-ball": {"learning_rate": 2.0},
            "friedman-tanh-sgd": {"learning_rate": 5.0},
            "bars-conv-heavy-ball": {"learning_rate": 1.0},
        },
    ),
    *family(
        "momentum near one",
        RATE_LARGE,
        WILD,
        "η/(1 − β) is the length of a step in the long run: it oscillates as a large rate does",
        "AutoTrainer: oscillating loss",
        {
            "digits-weight-decay": {"options": {"momentum": 0.999}, "learning_rate": 0.1},
            "rings-tanh-heavy-ball": {"options": {"momentum": 0.999}, "learning_rate": 0.5},
            "sine-heavy-ball": {"options": {"momentum": 0.999}, "learning_rate": 0.5},
        },
    ),
    *family(
        "undivided accumulation",
        RATE_LARGE,
        (*WILD, ZERO_GRAD),
        "the sum of k gradients is a step k times as long as their mean",
        "public questions on gradient accumulation",
        {
            "digits-accumulated-heavy-ball": {"divides": False, "learning_rate": 0.1},
            "circles-accumulated": {"divides": False},
            "plane-accumulated": {"divides": False},
        },
    ),
    *family(
        "rate of nothing",
        RATE_SMALL,
        TIMID,
        "no weight moves by a part in a thousand in the whole training",
        "DeepFD: rates from 1e-10 to 1e-15",
        {
            "digits-elu-rmsprop": {"learning_rate": 1e-10},
            "images-conv-tanh": {"learning_rate": 1e-8},
            "cancer-relu-adam": {"learning_rate": 1e-9},
            "sine-tanh-adam": {"learning_rate": 1e-7},
        },
    ),
    *family(
        "timid rate",
        RATE_SMALL,
        TIMID,
        "the loss falls steadily and has hardly begun to when the epochs are over",
        "TheDeepChecker: low learning rate",
        {
            "digits-leaky-nesterov": {"learning_rate": 3e-5},
            "circles-sgd": {"learning_rate": 1e-3},
            "mixture-tanh-sgd": {"learning_rate": 1e-4},
            "images-conv-heavy-ball": {"learning_rate": 1e-4},
        },
    ),
    *family(
        "schedule to nothing",
        RATE_SMALL,
        TIMID,
        "the rate falls by a factor each epoch: after a few epochs nothing moves any more",
        "DeepCrime: change learning rate; SageMaker Debugger: loss not decreasing",
        {
            "digits-decayed": {"decay": 0.1},
            "circles-tanh-adam": {"decay": 0.3},
            "parity-relu-adam": {"decay": 0.3},
            "images-conv-slow": {"decay": 0.1},
        },
    ),
    *family(
        "vanished AdaGrad",
        ADAGRAD,
        (RATE_SMALL, UNDERFITTING, PLATEAU),
        "the sum of squared gradients only grows: steps die out before the network has learnt",
        "AutoTrainer: slow convergence; DeepCrime: change optimisation function",
        {
            "digits-adagrad": {"options": {"initial_accumulator_value": 300.0}},
            "blobs-adagrad": {"options": {"initial_accumulator_value": 30000.0}},
            "circles-adagrad": {"options": {"lr_decay": 1.0}, "learning_rate": 0.01},
            "friedman-adagrad": {"options": {"lr_decay": 1.0}},
        },
    ),
    *family(
        "missing clipping",
        CLIPPING,
        (EXPLODING, NAN, RATE_LARGE, UNSCALED),
        "a few targets are a thousand times too large, and nothing bounds the steps they cause",
        "AutoTrainer: exploding gradients, repaired by clipping; DeepCrime: remove clipping",
        {
            "plane-outliers-clipped": {"clip_norm": None},
            "plane-outliers-linear": {"clip_norm": None},
            "friedman-outliers-clipped": {"clip_norm": None},
        },
    ),
]
