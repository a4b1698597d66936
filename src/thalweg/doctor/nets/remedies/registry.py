"""Remedies: for each cause the changes of a recipe that may remove it, the smallest first.

A cause without any is one that no recipe has: its loop shuffles, clears gradients and switches
modes as it should, and what is wrong with rows or labels must be put right in the data. For these,
and for loops of one's own, `code.suggestion` says what to write.
"""

from __future__ import annotations

from thalweg.doctor import causes
from thalweg.doctor.nets.remedies.capacity import (
    BEND,
    LARGER_BATCHES,
    LARGER_BATCHES_LONGER,
    LONGER,
    WIDER,
)
from thalweg.doctor.nets.remedies.inputs import SCALE, SCALE_AND_RESTART
from thalweg.doctor.nets.remedies.loss import LOSS
from thalweg.doctor.nets.remedies.rate import (
    CURVATURE,
    HUNDREDFOLD,
    HUNDREDTH,
    MOMENTUM,
    TENFOLD,
    TENTH,
    USUAL_RATE,
)
from thalweg.doctor.nets.remedies.regularization import (
    AUGMENT,
    DECAY,
    DROPOUT,
    EARLY_STOPPING,
    LESS,
    NONE,
)
from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.remedies.steps import (
    ADAM,
    CLIP,
    CLIP_AT_ONE,
    FAST_ADAM,
    HEAVY_BALL,
    RMSPROP,
    USUAL_OPTIONS,
)
from thalweg.doctor.nets.remedies.units import BATCH_NORM, LEAKY_RELU, NO_NORM, RELU
from thalweg.doctor.nets.remedies.weights import INITIALIZE, ZERO_BIAS

REMEDIES: dict[str, tuple[Remedy, ...]] = {
    causes.RATE_LARGE: (MOMENTUM, CURVATURE, USUAL_RATE, TENTH, HUNDREDTH, CLIP, SCALE),
    causes.RATE_SMALL: (CURVATURE, USUAL_RATE, TENFOLD, HUNDREDFOLD, SCALE, ADAM, FAST_ADAM),
    causes.ADAGRAD: (USUAL_OPTIONS, TENFOLD, RMSPROP, ADAM, FAST_ADAM),
    causes.CLIPPING: (CLIP, CLIP_AT_ONE, TENTH, SCALE),
    causes.EXPLODING: (CLIP, CURVATURE, TENTH, INITIALIZE, SCALE_AND_RESTART, BATCH_NORM),
    causes.NAN: (CURVATURE, USUAL_RATE, TENTH, CLIP, SCALE, INITIALIZE, BATCH_NORM),
    causes.VANISHING: (INITIALIZE, SCALE, ADAM, RELU, BATCH_NORM),
    causes.DEAD: (USUAL_RATE, TENTH, ZERO_BIAS, INITIALIZE, SCALE, LEAKY_RELU, BATCH_NORM),
    causes.SATURATED: (USUAL_RATE, SCALE, INITIALIZE, SCALE_AND_RESTART, RELU, BATCH_NORM),
    causes.SYMMETRIC: (INITIALIZE, BATCH_NORM),
    causes.INIT_VARIANCE: (INITIALIZE, SCALE_AND_RESTART, BATCH_NORM),
    causes.PLATEAU: (CURVATURE, TENFOLD, INITIALIZE, SCALE, HEAVY_BALL, ADAM, FAST_ADAM),
    causes.COVARIATE_SHIFT: (INITIALIZE, ADAM, RELU, BATCH_NORM),
    causes.CONSTANT: (SCALE,),
    causes.UNSCALED: (SCALE, SCALE_AND_RESTART, BATCH_NORM),
    causes.CONDITIONING: (SCALE, HEAVY_BALL, ADAM, FAST_ADAM, BATCH_NORM),
    causes.WRONG_LOSS: (TENFOLD, HUNDREDFOLD, SCALE, FAST_ADAM, LOSS),
    causes.IMBALANCE: (TENFOLD, ADAM, FAST_ADAM, LONGER),
    causes.OVERFITTING: (DECAY, DROPOUT, EARLY_STOPPING, AUGMENT),
    causes.UNDERFITTING: (CURVATURE, TENFOLD, LESS, SCALE, FAST_ADAM, BEND, WIDER, LONGER),
    causes.REGULARIZATION: (LESS, NONE),
    causes.TINY_BATCHES: (LARGER_BATCHES, LARGER_BATCHES_LONGER, NO_NORM),
}
ALL = tuple(dict.fromkeys(remedy for listed in REMEDIES.values() for remedy in listed))


def remedies_for(cause: str) -> tuple[Remedy, ...]:
    """What may help against `cause`, the smallest change first; nothing where no recipe has it."""
    return tuple(sorted(REMEDIES.get(cause, ()), key=lambda remedy: remedy.size))
