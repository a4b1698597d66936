"""The lectures' update formulas, one file each, as pure functions of scalars.

A rule uses only arithmetic and `sqrt`, so the same source runs on floats, NumPy arrays and torch
tensors, and inside the compiled loops of `thalweg.kernels.elementwise`. It returns new values and
changes nothing; arguments are positional, and results keep the dtype of the weights as long as the
hyper-parameters are Python floats. `clip_by_norm` and `project_ball` act on whole vectors, and
`clip_factor` on their norms.
"""

from thalweg.rules.adagrad import adagrad, adagrad_inside
from thalweg.rules.adam import adam, adam_hoisted, adam_uncorrected
from thalweg.rules.ball import project_ball
from thalweg.rules.clip import clip_by_norm, clip_factor
from thalweg.rules.heavy_ball import heavy_ball, heavy_ball_velocity
from thalweg.rules.nadam import nadam, nadam_hoisted, nadam_momentum
from thalweg.rules.nesterov import nesterov
from thalweg.rules.plain_step import plain_step
from thalweg.rules.rmsprop import rmsprop, rmsprop_hoisted, rmsprop_inside, rmsprop_lagged
from thalweg.rules.root import sqrt
from thalweg.rules.soft_threshold import soft_threshold
from thalweg.rules.weight_decay import weight_decay

__all__ = [
    "adagrad",
    "adagrad_inside",
    "adam",
    "adam_hoisted",
    "adam_uncorrected",
    "clip_by_norm",
    "clip_factor",
    "heavy_ball",
    "heavy_ball_velocity",
    "nadam",
    "nadam_hoisted",
    "nadam_momentum",
    "nesterov",
    "plain_step",
    "project_ball",
    "rmsprop",
    "rmsprop_hoisted",
    "rmsprop_inside",
    "rmsprop_lagged",
    "soft_threshold",
    "sqrt",
    "weight_decay",
]
