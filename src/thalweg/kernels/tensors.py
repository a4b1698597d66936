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
of this is checked inside.

Arithmetic is in the type of the tensors, as PyTorch's is: eight float32 at a time where there are
four float64, almost 3 times as fast while all is in cache. What depends on no element, 1 − β and
1 − βᵗ above all, is computed in float64 before the loop and rounded once. Norms are summed in
float64.
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
def pointer(context, address):
    """An address as a pointer, for `carray`."""

    def generate(_context, builder, _signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@register_jitable
def _memory(table, k, column, like):
    """A column's memory of piece k: 0 is w, 1 is g, then come the buffers."""
    return carray(pointer(table[k, ADDRESSES + column]), table[k, SIZE], like.dtype)


@register_jitable
def _around(table, settings, like, k):
    """What acts on the elements of piece k around its rule: scale, decay, shrink and η."""
    s, real = table[k, SETTING], like.dtype.type
    scale, decay = real(settings[s, SCALE]), real(settings[s, DECAY])
    return scale, decay, real(settings[s, SHRINK]), real(settings[s, LR])


@kernel(fastmath={"reassoc", "contract"})
def squares_tensors(table, sums, like, start, stop):
    """Write Σg² of each piece into the one column of `sums`."""
    for k in range(start, stop):
        g, total = _memory(table, k, 1, like), 0.0
        for i in range(g.size):
            value = np.float64(g[i])
            total += value * value
        sums[k, 0] = total


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
    factor = rules.clip_factor(math.sqrt(total), radius)
    for run in range(count):
        for i in range(begin + run * stride, begin + run * stride + length):
            w[i] = factor * w[i]


@kernel(fastmath=FAST_DIVISION)
def plain_step_tensors(table, settings, like, start, stop):
    """Change w in place by one gradient step."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        scale, decay, shrink, lr = _around(table, settings, like, k)
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
        scale, decay, shrink, lr = _around(table, settings, like, k)
        beta = like.dtype.type(settings[table[k, SETTING], NUMBERS])
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
        scale, decay, shrink, lr = _around(table, settings, like, k)
        beta = like.dtype.type(settings[table[k, SETTING], NUMBERS])
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
        scale, decay, shrink, lr = _around(table, settings, like, k)
        eps = like.dtype.type(settings[table[k, SETTING], NUMBERS])
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
        scale, decay, shrink, lr = _around(table, settings, like, k)
        own, real = settings[table[k, SETTING], NUMBERS:], like.dtype.type
        beta, new, eps = real(own[0]), real(1.0 - own[0]), real(own[1])
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], s[i] = rules.rmsprop_hoisted(wi, gi, s[i], lr, beta, new, eps)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def rmsprop_momentum_tensors(table, settings, like, start, stop):
    """Change w, s and m in place by a heavy-ball step along RMSProp's; numbers: β, ε, momentum."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        s, m = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, like, k)
        own, real = settings[table[k, SETTING], NUMBERS:], like.dtype.type
        beta, new, eps = real(own[0]), real(1.0 - own[0]), real(own[1])
        momentum, nothing, minus_one = real(own[2]), real(0.0), real(-1.0)
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            gi, s[i] = rules.rmsprop_hoisted(nothing, gi, s[i], minus_one, beta, new, eps)
            w[i], m[i] = rules.heavy_ball(wi, gi, m[i], lr, momentum)
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def adam_tensors(table, settings, like, start, stop):
    """Change w, m and v in place by one Adam step; its numbers are t, β₁, β₂ and ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m, v = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, like, k)
        own, real = settings[table[k, SETTING], NUMBERS:], like.dtype.type
        t, beta1, beta2, eps = own[0], real(own[1]), real(own[2]), real(own[3])
        new1, new2 = real(1.0 - own[1]), real(1.0 - own[2])
        bias1, bias2 = real(1.0 - own[1] ** t), real(1.0 - own[2] ** t)
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i], v[i] = rules.adam_hoisted(
                wi, gi, m[i], v[i], lr, beta1, new1, beta2, new2, bias1, bias2, eps
            )
        _constrain(w, table, settings, k)


@kernel(fastmath=FAST_DIVISION)
def nadam_tensors(table, settings, like, start, stop):
    """Change w, m and v in place by a Nadam step; numbers: t, μₜ, μₜ₊₁, Πμ, β₁, β₂, ε."""
    for k in range(start, stop):
        w, g = _memory(table, k, 0, like), _memory(table, k, 1, like)
        m, v = _memory(table, k, 2, like), _memory(table, k, 3, like)
        scale, decay, shrink, lr = _around(table, settings, like, k)
        own, real = settings[table[k, SETTING], NUMBERS:], like.dtype.type
        t, mu, mu_next, product = own[0], own[1], own[2], own[3]
        ahead, now = real(mu_next / (1.0 - product * mu_next)), real((1.0 - mu) / (1.0 - product))
        beta1, beta2, eps = real(own[4]), real(own[5]), real(own[6])
        new1, new2 = real(1.0 - own[4]), real(1.0 - own[5])
        bias2 = real(1.0 - own[5] ** t)
        for i in range(w.size):
            gi = scale * g[i] + decay * w[i]
            wi = rules.weight_decay(w[i], lr, shrink)
            w[i], m[i], v[i] = rules.nadam_hoisted(
                wi, gi, m[i], v[i], ahead, now, lr, beta1, new1, beta2, new2, bias2, eps
            )
        _constrain(w, table, settings, k)
