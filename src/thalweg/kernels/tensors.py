"""The rules over many tensors in one compiled call, by a table of their addresses.

A tensor is cut into pieces of consecutive elements. Every piece has a row in the table:

    size, setting, where w, g and the rule's buffers begin in memory

and its setting is a row of numbers: what acts on every element around the rule, then the rule's own
hyper-parameters. One element goes

    g ← scale·g + decay·w          clipping (scale ≤ 1) and a coupled decay
    w ← w − η·shrink·w             a decay beside the rule
    w, … ← rule(w, g, …)
    w ← S(w, threshold)            the proximal step of l1, where there is one
    w ← w·min(1, c/‖w_unit‖)       each unit's incoming weights, where there is a max-norm

in one pass: the last two look again at a piece that is still in cache. Where there is a max-norm, a
piece holds whole units: `count` runs of `length` elements, `stride` apart, are one.

The memory of one table row is that of one float type, and does not overlap that of others. Nothing
of this is checked inside. Arithmetic is float64, as in `kernels.elementwise`.
"""

import math

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic, register_jitable

import thalweg.kernels.elementwise  # noqa: F401  (lets compiled code call the rules)
from thalweg import rules
from thalweg.kernels.compile import FAST_DIVISION, kernel

CHUNK = 65_536  # elements of a piece: it stays in cache while it is looked at twice

# Columns of a table, before the addresses of w, g and the buffers.
SIZE, SETTING, UNITS, COUNT, LENGTH, STRIDE = range(6)
ADDRESSES = 6

# Columns of the settings, before the rule's own numbers.
SCALE, DECAY, SHRINK, THRESHOLD, MAX_NORM, LR = range(6)
NUMBERS = 6


@intrinsic
def _pointer(context, address):
    """An address as a pointer, for `carray`."""

    def generate(_context, builder, _signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@register_jitable
def _memory(table, k, column, like):
    """A column's memory of piece k: 0 is w, 1 is g, then come the buffers."""
    return carray(_pointer(table[k, ADDRESSES + column]), table[k, SIZE], like.dtype)


@register_jitable
def _around(table, settings, k):
    """What acts on the elements of piece k around its rule: scale, decay, shrink and η."""
    s = table[k, SETTING]
    return settings[s, SCALE], settings[s, DECAY], settings[s, SHRINK], settings[s, LR]


@kernel(fastmath={"reassoc", "contract"})
def squares_pass(table, like, start, stop):
    """Σg² over the pieces from `start` to `stop`."""
    total = 0.0
    for k in range(start, stop):
        g, part = _memory(table, k, 1, like), 0.0
        for i in range(g.size):
            value = np.float64(g[i])
            part += value * value
        total += part
    return total


@kernel(fastmath=FAST_DIVISION)
def _constrain(w, table, settings, k):
    """The proximal step of l1 and the max-norm on a piece that is in cache, in place."""
    s = table[k, SETTING]
    threshold, radius = settings[s, THRESHOLD], settings[s, MAX_NORM]
    if threshold > 0.0:
        for i in range(w.size):
            w[i] = rules.soft_threshold(np.float64(w[i]), threshold)
    if radius < math.inf:
        length, stride = table[k, LENGTH], table[k, STRIDE]
        for unit in range(table[k, UNITS]):
            _project_unit(w, unit * length, table[k, COUNT], length, stride, radius)


@kernel(fastmath={"reassoc", "contract"})
def _project_unit(w, begin, count, length, stride, radius):
    """Scale a unit's weights into the ball of this radius, in place."""
    total = 0.0
    for run in range(count):
        for i in range(begin + run * stride, begin + run * stride + length):
            value = np.float64(w[i])
            total += value * value
    # Twice the rounding of a stored weight inside, so that what is stored is not outside again.
    if not total > radius * radius or total == math.inf:
        return
    factor = radius / math.sqrt(total)
    for run in range(count):
        for i in range(begin + run * stride, begin + run * stride + length):
            w[i] = factor * w[i]


@kernel(fastmath=FAST_DIVISION)
def plain_step_tensors(table, settings, like, start, stop):
    """Change w in place by one gradient step."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            w[i] = rules.plain_step(rules.weight_decay(w[i], lr, shrink), gi, lr)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def heavy_ball_tensors(table, settings, like, start, stop):
    """Change w and m in place by one heavy-ball step, sum form; its number is β."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m = _memory(table, k, 2, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        beta = settings[table[k, SETTING], NUMBERS]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i] = rules.heavy_ball(wi, gi, m[i], lr, beta)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def nesterov_tensors(table, settings, like, start, stop):
    """Change w and m in place by one Nesterov step, shifted form; its number is β."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m = _memory(table, k, 2, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        beta = settings[table[k, SETTING], NUMBERS]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i] = rules.nesterov(wi, gi, m[i], lr, beta)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def adagrad_tensors(table, settings, like, start, stop):
    """Change w and s in place by one AdaGrad step, ε outside the root; its number is ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        s = _memory(table, k, 2, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        eps = settings[table[k, SETTING], NUMBERS]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], s[i] = rules.adagrad(wi, gi, s[i], lr, eps)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_tensors(table, settings, like, start, stop):
    """Change w and s in place by one RMSProp step, ε outside the root; its numbers are β and ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        s = _memory(table, k, 2, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        own = settings[table[k, SETTING], NUMBERS:]
        beta, eps = own[0], own[1]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], s[i] = rules.rmsprop(wi, gi, s[i], lr, beta, eps)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_momentum_tensors(table, settings, like, start, stop):
    """Change w, s and m in place by a heavy-ball step along RMSProp's; numbers: β, ε, momentum."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        s, m = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        own = settings[table[k, SETTING], NUMBERS:]
        beta, eps, momentum = own[0], own[1], own[2]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            gi, s[i] = rules.rmsprop(0.0, gi, s[i], -1.0, beta, eps)
            w[i], m[i] = rules.heavy_ball(wi, gi, m[i], lr, momentum)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def adam_tensors(table, settings, like, start, stop):
    """Change w, m and v in place by one Adam step; its numbers are t, β₁, β₂ and ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m, v = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        own = settings[table[k, SETTING], NUMBERS:]
        t, beta1, beta2, eps = own[0], own[1], own[2], own[3]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i], v[i] = rules.adam(wi, gi, m[i], v[i], t, lr, beta1, beta2, eps)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def nadam_tensors(table, settings, like, start, stop):
    """Change w, m and v in place by a Nadam step; numbers: t, μₜ, μₜ₊₁, Πμ, β₁, β₂, ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m, v = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, k)
        own = settings[table[k, SETTING], NUMBERS:]
        t, mu, mu_next, product = own[0], own[1], own[2], own[3]
        beta1, beta2, eps = own[4], own[5], own[6]
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i], v[i] = rules.nadam(
                wi, gi, m[i], v[i], t, mu, mu_next, product, lr, beta1, beta2, eps
            )
        _constrain(w, table, settings, k)
