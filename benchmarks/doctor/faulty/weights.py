"""Faults of the first weights, of depth and of activations."""

from __future__ import annotations

from doctor.faulty.family import family
from thalweg.doctor.causes import (
    CLIPPING,
    CONDITIONING,
    COVARIATE_SHIFT,
    DEAD,
    EXPLODING,
    INIT_VARIANCE,
    NAN,
    PLATEAU,
    RATE_LARGE,
    RATE_SMALL,
    SATURATED,
    SYMMETRIC,
    UNDERFITTING,
    UNSCALED,
    VANISHING,
    WRONG_LOSS,
)

STUCK = (PLATEAU, VANISHING, UNDERFITTING)

PROGRAMS = [
    *family(
        "zeros",
        SYMMETRIC,
        (*STUCK, INIT_VARIANCE, DEAD),
        "all weights are zero: no gradient reaches them, and only the last biases learn",
        "TheDeepChecker: constant initialization; DeepCrime: change weight initialisation",
        {
            "digits-relu-adam": {"initializer": "zeros"},
            "circles-tanh-adam": {"initializer": "zeros"},
            "friedman-relu-adam": {"initializer": "zeros"},
            "images-conv-adam": {"initializer": "zeros"},
        },
    ),
    *family(
        "constants",
        SYMMETRIC,
        (*STUCK, INIT_VARIANCE, SATURATED, EXPLODING),
        "all units of a layer begin alike and get the same gradient: they stay one unit",
        "AutoTrainer: all ones; TheDeepChecker: constant initialization",
        {
            "digits-sigmoid-adam": {"initializer": "constant[value=0.5]"},
            "circles-five-units": {"initializer": "constant[value=1.0]"},
            "sine-tanh-adam": {"initializer": "constant[value=0.1]"},
            "mixture-relu-adam": {"initializer": "constant[value=0.1]"},
        },
    ),
    *family(
        "weights too large",
        INIT_VARIANCE,
        (SATURATED, EXPLODING, RATE_SMALL, CONDITIONING, VANISHING, DEAD, NAN),
        "the variance of the first weights is many times that of any scheme",
        "TheDeepChecker: random initialization of wrong variance; AutoTrainer: random uniform",
        {
            "digits-deep-relu": {"initializer": "normal[sigma=2.0]"},
            "digits-deep-tanh": {"initializer": "normal[sigma=5.0]"},
            "friedman-silu": {"initializer": "normal[sigma=5.0]"},
            "images-conv-leaky-adamw": {"initializer": "normal[sigma=5.0]"},
        },
    ),
    *family(
        "weights too small in depth",
        INIT_VARIANCE,
        (*STUCK, SYMMETRIC, RATE_SMALL),
        "each layer makes the signal smaller by the same factor, and the gradient on its way back",
        "TheDeepChecker: random initialization of wrong variance",
        {
            "digits-ten-layers": {"initializer": "normal[sigma=0.001]"},
            "mixture-eight-layers": {"initializer": "normal[sigma=0.001]"},
            "circles-eight-layers": {"initializer": "normal[sigma=0.001]"},
        },
    ),
    *family(
        "start at a saddle",
        PLATEAU,
        (SYMMETRIC, INIT_VARIANCE, VANISHING, RATE_SMALL, UNDERFITTING),
        "the origin is a saddle of a network with a hidden layer, and this one begins beside it",
        "public questions on XOR that stays at one half",
        {
            "parity-plateau-first": {"initializer": "normal[sigma=0.0001]"},
            "xor-binary-heavy-ball": {"initializer": "normal[sigma=0.000001]"},
            "sine-heavy-ball": {"initializer": "normal[sigma=0.0001]"},
            "circles-accumulated": {"initializer": "normal[sigma=0.00001]"},
        },
    ),
    *family(
        "biases far below zero",
        DEAD,
        (*STUCK, INIT_VARIANCE, SYMMETRIC),
        "no sample lifts a ReLU unit above zero: no output, no gradient",
        "AutoTrainer: dying ReLU; DeepCrime: bias initialisation",
        {
            "digits-sparse-relu": {"bias": -30.0},
            "images-conv-deep": {"bias": -20.0},
            "mixture-deep": {"bias": -40.0},
            "digits-relu-heavy-ball": {"bias": -20.0},
        },
    ),
    *family(
        "deep sigmoid",
        VANISHING,
        (SATURATED, PLATEAU, COVARIATE_SHIFT, UNDERFITTING, INIT_VARIANCE),
        "a sigmoid's slope is at most 1/4: ten of them leave a millionth of the gradient",
        "AutoTrainer: circle and blob models with sigmoid units",
        {
            "digits-ten-layers": {"activation": "sigmoid", "initializer": "default"},
            "mixture-eight-layers": {"activation": "sigmoid", "initializer": "default"},
            "circles-eight-layers": {"activation": "sigmoid", "initializer": "default"},
            "digits-deep-relu": {
                "activation": "sigmoid",
                "initializer": "default",
                "layers": "mlp:48x48x48x48x48x48x48x48",
            },
        },
    ),
    *family(
        "gain through depth",
        EXPLODING,
        (INIT_VARIANCE, NAN, RATE_LARGE, CLIPPING, SATURATED, DEAD),
        "each layer multiplies the signal, and the gradient on its way back, by three or more",
        "AutoTrainer: exploding gradients",
        {
            "digits-ten-layers": {"initializer": "normal[sigma=1.0]"},
            "mixture-eight-layers": {"initializer": "normal[sigma=1.5]"},
            "circles-eight-layers": {"initializer": "normal[sigma=2.5]"},
        },
    ),
    *family(
        "saturated by weights",
        SATURATED,
        (INIT_VARIANCE, VANISHING, PLATEAU, RATE_SMALL, EXPLODING),
        "sums of large weights leave the part of the activation that has a slope",
        "SageMaker Debugger: saturated activation; DeepDiagnosis: saturated activation",
        {
            "friedman-tanh-sgd": {"initializer": "normal[sigma=20.0]"},
            "sine-one-layer": {"initializer": "normal[sigma=30.0]"},
            "digits-sigmoid-adam": {"initializer": "normal[sigma=20.0]"},
            "first-rnn": {"initializer": "normal[sigma=5.0]"},
        },
    ),
    *family(
        "exponential units",
        NAN,
        (EXPLODING, INIT_VARIANCE, RATE_LARGE, UNSCALED, CLIPPING),
        "exp of exp of a sum leaves the numbers that a float has",
        "AutoTrainer: circle and blob models with exponential units",
        {
            "digits-deep-relu": {"activation": "exp"},
            "mixture-deep": {"activation": "exp"},
            "digits-ten-layers": {"activation": "exp"},
        },
    ),
    *family(
        "undefined mathematics",
        NAN,
        (WRONG_LOSS, EXPLODING, DEAD),
        "the root of a number below zero, or the logarithm of zero",
        "DeepDiagnosis: numerical error",
        {
            "moons-relu-adam": {"activation": "square-root"},
            "xor-gelu-nadam": {"activation": "square-root"},
            "images-conv-gelu-nadam": {"activation": "square-root"},
            "digits-log-softmax": {"output": "softmax", "loss": "log", "gain": 2000.0},
        },
    ),
    *family(
        "no norm in depth",
        COVARIATE_SHIFT,
        (VANISHING, SATURATED, PLATEAU, INIT_VARIANCE, UNDERFITTING, RATE_LARGE),
        "sigmoid layers in a row, whose inputs drift to where nothing has a slope",
        "TheDeepChecker: missing batch norm",
        {
            "digits-sgd-deep-norm": {"norm": "none"},
            "mixture-deep-norm": {"norm": "none"},
            "images-deep-norm": {"norm": "none"},
        },
    ),
]
