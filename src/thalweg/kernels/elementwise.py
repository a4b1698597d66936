"""The rules over flat buffers: one fused, compiled, in-place loop for each.

A pass calls the rule of `thalweg.rules` itself on every element, so the formula has one source.
The buffers are one-dimensional, C-contiguous, equally long and do not overlap; nothing of this is
checked inside. An empty buffer is fine. Hyper-parameters are float64, and so is the arithmetic:
float32 buffers are rounded once, when stored.

Cost: one traversal; at 10⁷ elements a pass takes about as long as copying the bytes it touches
(benchmarks/rules.py). `kernels.threads` shares one among threads.
"""

import math

import numpy as np
from numba.extending import overload, register_jitable

from thalweg import rules
from thalweg.kernels.compile import FAST_DIVISION, kernel


@overload(rules.sqrt)
def _compiled_sqrt(x):
    return lambda x: math.sqrt(x)


@kernel(fastmath=FAST_DIVISION)
def plain_step_pass(w, g, lr):
    """Change `w` in place by one gradient step."""
    for i in range(w.size):
        w[i] = rules.plain_step(w[i], g[i], lr)


@kernel(fastmath=FAST_DIVISION)
def heavy_ball_pass(w, g, m, lr, beta):
    """Change `w` and `m` in place by one heavy-ball step, sum form."""
    for i in range(w.size):
        w[i], m[i] = rules.heavy_ball(w[i], g[i], m[i], lr, beta)


@kernel(fastmath=FAST_DIVISION)
def heavy_ball_velocity_pass(w, g, v, lr, alpha):
    """Change `w` and `v` in place by one heavy-ball step, velocity form."""
    for i in range(w.size):
        w[i], v[i] = rules.heavy_ball_velocity(w[i], g[i], v[i], lr, alpha)


@kernel(fastmath=FAST_DIVISION)
def nesterov_pass(w, g, m, lr, beta):
    """Change `w` and `m` in place by one Nesterov step, shifted form."""
    for i in range(w.size):
        w[i], m[i] = rules.nesterov(w[i], g[i], m[i], lr, beta)


# AdaGrad alone squares g with no float64 hyper-parameter at hand, hence the conversion. (Numba's
# float() would leave a float32 as it is.)
@kernel(fastmath=FAST_DIVISION)
def adagrad_pass(w, g, s, lr, eps):
    """Change `w` and `s` in place by one AdaGrad step, ε outside the root."""
    for i in range(w.size):
        w[i], s[i] = rules.adagrad(w[i], np.float64(g[i]), s[i], lr, eps)


@kernel(fastmath=FAST_DIVISION)
def adagrad_inside_pass(w, g, s, lr, eps):
    """Change `w` and `s` in place by one AdaGrad step, ε inside the root."""
    for i in range(w.size):
        w[i], s[i] = rules.adagrad_inside(w[i], np.float64(g[i]), s[i], lr, eps)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_pass(w, g, s, lr, beta, eps):
    """Change `w` and `s` in place by one RMSProp step, ε outside the root."""
    for i in range(w.size):
        w[i], s[i] = rules.rmsprop(w[i], g[i], s[i], lr, beta, eps)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_inside_pass(w, g, s, lr, beta, eps):
    """Change `w` and `s` in place by one RMSProp step, ε inside the root."""
    for i in range(w.size):
        w[i], s[i] = rules.rmsprop_inside(w[i], g[i], s[i], lr, beta, eps)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_lagged_pass(w, g, s, lr, beta, eps):
    """Change `w` and `s` in place by one RMSProp step, divided by the `s` of earlier gradients."""
    for i in range(w.size):
        w[i], s[i] = rules.rmsprop_lagged(w[i], g[i], s[i], lr, beta, eps)


@kernel(fastmath=FAST_DIVISION)
def adam_pass(w, g, m, v, t, lr, beta1, beta2, eps):
    """Change `w`, `m` and `v` in place by one Adam step."""
    t = float(t)  # an integer power does not leave the loop: over 10 times slower
    for i in range(w.size):
        w[i], m[i], v[i] = rules.adam(w[i], g[i], m[i], v[i], t, lr, beta1, beta2, eps)


@kernel(fastmath=FAST_DIVISION)
def adam_uncorrected_pass(w, g, m, v, lr, beta1, beta2, eps):
    """Change `w`, `m` and `v` in place by one Adam step without bias correction."""
    for i in range(w.size):
        w[i], m[i], v[i] = rules.adam_uncorrected(w[i], g[i], m[i], v[i], lr, beta1, beta2, eps)


@kernel(fastmath=FAST_DIVISION)
def nadam_pass(w, g, m, v, t, mu, mu_next, mu_product, lr, beta1, beta2, eps):
    """Change `w`, `m` and `v` in place by one Nadam step."""
    t = float(t)
    for i in range(w.size):
        w[i], m[i], v[i] = rules.nadam(
            w[i], g[i], m[i], v[i], t, mu, mu_next, mu_product, lr, beta1, beta2, eps
        )


@kernel(fastmath=FAST_DIVISION)
def weight_decay_pass(w, lr, decay):
    """Change `w` in place by decoupled weight decay."""
    for i in range(w.size):
        w[i] = rules.weight_decay(w[i], lr, decay)


@kernel(fastmath=FAST_DIVISION)
def soft_threshold_pass(w, threshold):
    """Change `w` in place by the soft threshold."""
    for i in range(w.size):
        w[i] = rules.soft_threshold(w[i], threshold)


# By the name of the rule.
PASSES = {
    "plain_step": plain_step_pass,
    "heavy_ball": heavy_ball_pass,
    "heavy_ball_velocity": heavy_ball_velocity_pass,
    "nesterov": nesterov_pass,
    "adagrad": adagrad_pass,
    "adagrad_inside": adagrad_inside_pass,
    "rmsprop": rmsprop_pass,
    "rmsprop_inside": rmsprop_inside_pass,
    "rmsprop_lagged": rmsprop_lagged_pass,
    "adam": adam_pass,
    "adam_uncorrected": adam_uncorrected_pass,
    "nadam": nadam_pass,
    "weight_decay": weight_decay_pass,
    "soft_threshold": soft_threshold_pass,
}

# Passes compile when first called; from here on their code can call the rules by name.
for _name in (*PASSES, "rmsprop_hoisted", "adam_hoisted", "nadam_hoisted", "clip_factor"):
    register_jitable(getattr(rules, _name))
