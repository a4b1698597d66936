"""Ask for memory that will be needed soon, so that it is there when it is.

A visit to a random row of a matrix that is larger than the cache waits for memory, some 200 ns a
row. Who knows which rows come next can ask for them some steps ahead, and hardly waits at all.

    prefetch(array, k)                            the cache line of the k-th entry, in memory order
    prefetch_row(X, i)                            row i, of any storage in `kernels.rows`
    prefetch_sample(X, y, weight, order, t)       the sample order[t], if there is one

They change nothing and wait for nothing. They exist inside kernels only.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from thalweg.kernels.compile import INNER, kernel
from thalweg.kernels.rows import is_dense_type

AHEAD = 8  # visits; 4 to 16 are as good
LINE = 64  # bytes of a cache line
MOST_LINES = 16  # of a row: the hardware sees the others coming


@intrinsic
def prefetch(typingctx, array, k):
    """Ask for the cache line of entry `k` of an array, counted in memory order."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte_pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(values.data, [arguments[1]]), byte_pointer)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word]),
            "llvm.prefetch.p0i8",
        )
        builder.call(function, [place, word(0), word(3), word(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def prefetch_row(X, i):
    """Ask for row i of `X`; only for use inside kernels."""
    raise NotImplementedError


@overload(prefetch_row, jit_options=INNER)
def _prefetch_row(X, i):
    if isinstance(X, types.Array) and X.layout == "C":

        def rows(X, i):
            _prefetch_range(X, i * X.shape[1], (i + 1) * X.shape[1])

        return rows
    if is_dense_type(X) and not isinstance(X, types.Array):
        return lambda X, i: prefetch_row(X.values, i)
    if is_dense_type(X):
        return lambda X, i: None  # by columns: a row is as many lines as it has entries

    def csr(X, i):
        _prefetch_range(X.data, X.indptr[i], X.indptr[i + 1])
        _prefetch_range(X.indices, X.indptr[i], X.indptr[i + 1])

    return csr


@kernel(inline=True)
def prefetch_sample(X, y, weight, order, t):
    """Ask for row, target and weight of the sample order[t]; only for use inside kernels."""
    if t < order.size:
        prefetch_row(X, order[t])
        prefetch(y, order[t])
        prefetch(weight, order[t])


def _prefetch_range(array, start, stop):
    raise NotImplementedError


@overload(_prefetch_range, jit_options=INNER)
def _prefetch_range_of(array, start, stop):
    step = LINE // (array.dtype.bitwidth // 8)
    most = MOST_LINES * step

    def lines(array, start, stop):
        for k in range(start, min(stop, start + most), step):
            prefetch(array, k)

    return lines
