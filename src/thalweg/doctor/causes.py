"""The words for what is wrong with a training: the names of findings, and what remedies treat.

Several may be true of one training: a learning rate that is too large kills ReLU units.
"""

from __future__ import annotations

VANISHING = "vanishing gradients"
EXPLODING = "exploding gradients"
NAN = "not a number"
DEAD = "dead ReLUs"
SATURATED = "saturated units"
SYMMETRIC = "symmetric or zero initialization"
INIT_VARIANCE = "initialization variance off"
RATE_SMALL = "learning rate too small"
RATE_LARGE = "learning rate too large"
CONDITIONING = "poor conditioning"
PLATEAU = "saddle or plateau"
COVARIATE_SHIFT = "internal covariate shift"
UNSCALED = "unscaled inputs"
CONSTANT = "constant inputs"
LEAKING = "leaking inputs"
WRONG_LOSS = "wrong output activation or loss"
SHUFFLED = "shuffled labels"
IMBALANCE = "class imbalance"
OVERFITTING = "overfitting"
UNDERFITTING = "underfitting"
REGULARIZATION = "too strong regularization"
ADAGRAD = "AdaGrad's vanished step"
CLIPPING = "missing clipping"
MODES = "train/eval mix-up"
TINY_BATCHES = "batch norm with tiny batches"
ZERO_GRAD = "forgotten zero_grad"
NO_SHUFFLING = "no shuffling"
DENORMALS = "denormals"

CAUSES = (
    VANISHING, EXPLODING, NAN, DEAD, SATURATED, SYMMETRIC, INIT_VARIANCE, RATE_SMALL, RATE_LARGE,
    CONDITIONING, PLATEAU, COVARIATE_SHIFT, UNSCALED, CONSTANT, LEAKING, WRONG_LOSS, SHUFFLED,
    IMBALANCE, OVERFITTING, UNDERFITTING, REGULARIZATION, ADAGRAD, CLIPPING, MODES, TINY_BATCHES,
    ZERO_GRAD, NO_SHUFFLING, DENORMALS,
)  # fmt: skip
