"""The rules over flat buffers: one fused, compiled, in-place loop for each.

A pass calls the rule of `thalweg.rules` itself on every element, so the formula has one source.
The buffers are one-dimensional, C-contiguous, equally long and do not overlap; nothing of this is
checked inside. An empty buffer is fine. Hyper-parameters are float64, and so is the arithmetic:
float32 buffers are rounded once, when stored.

Cost: one traversal; at 10⁷ elements a pass takes about as long as copying the bytes it touches
(benchmarks/rules.py). `in_threads` shares one among threads.
"""

import functools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from numba.extending import overload, register_jitable
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from thalweg import rules
from thalweg.core.checks import check_count
from thalweg.core.errors import InputError
from thalweg.kernels.compile import FAST_DIVISION, kernel

# Elements. Waking a second thread costs about 100 µs: on two cores an Adam pass gains from 2·10⁵
# elements on, a plain step, which does less for each, from 10⁶.
SERIAL_BELOW = 262_144
CHUNK_MULTIPLE = 64  # elements: whole cache lines, so that no two threads write to the same one


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


def available_threads() -> int:
    """How many cores this process may use: those it is bound to, and no more than BLAS may.

    So `threadpoolctl.threadpool_limits`, joblib's limits on its workers and OPENBLAS_NUM_THREADS
    hold for the passes here as they do for a matrix product. Another package may have brought a
    BLAS that was built for one thread: that says nothing of what this process may use.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    libraries = [lib for lib in blas().lib_controllers if lib.threading_layer != "disabled"]
    return min([bound or 1, *(library.num_threads for library in libraries)])


@functools.cache
def blas() -> ThreadpoolController:
    """What BLAS is loaded, with handles to its number of threads."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def blas_threads(count: int | None) -> Iterator[None]:
    """BLAS on so many threads, and as before afterwards; None leaves it as it is.

    Nothing is set where nothing changes: a small fit comes by here a dozen times, and setting costs
    more than its products.
    """
    libraries = [] if count is None else blas().lib_controllers
    before = [(library, library.get_num_threads()) for library in libraries]
    others = [(library, threads) for library, threads in before if threads != count]
    for library, _ in others:
        library.set_num_threads(count)
    try:
        yield
    finally:
        for library, threads in others:
            library.set_num_threads(threads)


def in_threads(
    pass_: Callable[..., object],
    buffers: Sequence[np.ndarray],
    scalars: Sequence[float],
    threads: int | None = None,
) -> None:
    """Run `pass_(*buffers, *scalars)`, changing the buffers in place, in chunks on several threads.

    `pass_` must release the GIL and treat every element by itself, as all of `PASSES` do: the
    result is then bitwise the same for any number of threads. By default `threads` is the number
    of available cores; buffers of fewer than 262,144 elements stay on the calling thread.
    """
    shapes = [buffer.shape for buffer in buffers]
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise InputError(
            f"buffers must be one-dimensional and equally long, got shapes {shapes}: "
            "flatten them with .reshape(-1)"
        )
    size = shapes[0][0]
    # One signature for all callers: an int among the scalars would compile the pass again.
    numbers = [float(scalar) for scalar in scalars]
    threads = available_threads() if threads is None else check_count("threads", threads)
    if threads == 1 or size < SERIAL_BELOW:
        pass_(*buffers, *numbers)
        return
    share = -(-size // threads)
    length = -(-share // CHUNK_MULTIPLE) * CHUNK_MULTIPLE
    chunks = [[buffer[i : i + length] for buffer in buffers] for i in range(0, size, length)]
    others = [pool().submit(pass_, *chunk, *numbers) for chunk in chunks[1:]]
    pass_(*chunks[0], *numbers)
    for other in others:
        other.result()


def pool() -> ThreadPoolExecutor:
    """The threads that all kernels share."""
    return _pool(os.getpid())


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of one process: a forked child inherits the pool, but not its threads."""
    return ThreadPoolExecutor(available_threads(), thread_name_prefix="thalweg")
