"""Ask for a sample before it is needed.

    row_prefetch(X, i)                             row i of X
    sample_prefetch(X, y, weight, order, now)      the sample order[now], if there is one

Samples drawn at random are not where the processor expects the next one: a step that has to wait
for its row takes up to three times as long as one whose row was asked for a few steps before. Only
the first lines of the row are asked for, from there on the processor follows by itself. It changes
no result, and any row may be asked for, needed or not.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from thalweg.kernels.rows import Standardized

AHEAD = 8  # rows between asking and using: about the delay of the memory at 50 features
LINES = 8  # asked for
LINE = 64  # bytes


def row_prefetch(X, i):
    """Ask for row i; only for use inside kernels."""
    raise NotImplementedError


@overload(row_prefetch)
def _row_prefetch(X, i):
    if isinstance(X, types.Array):
        stride = _per_line(X)

        def dense(X, i):
            for j in range(0, min(X.shape[1], LINES * stride), stride):
                _ask(X, (i, j))

        return dense
    if X.instance_class is Standardized:
        return lambda X, i: row_prefetch(X.values, i)
    entries, places = (_per_line(X[X.fields.index(name)]) for name in ("data", "indices"))

    def csr(X, i):
        start, stop = X.indptr[i], X.indptr[i + 1]
        for k in range(start, min(stop, start + LINES * entries), entries):
            _ask(X.data, (k,))
        for k in range(start, min(stop, start + LINES * places), places):
            _ask(X.indices, (k,))

    return csr


@register_jitable
def sample_prefetch(X, y, weight, order, now):
    """Ask for row, target and weight of the sample order[now]; only for use inside kernels."""
    if now < order.size:
        row_prefetch(X, order[now])
        _ask(y, (order[now],))
        _ask(weight, (order[now],))


def _per_line(array):
    """How many numbers of a Numba array type share a line of the cache."""
    return LINE // (array.dtype.bitwidth // 8)


@intrinsic
def _ask(typingctx, array, index):
    """Ask for the line that holds array[index]."""

    def generate(context, builder, signature, args):
        array_type, index_type = signature.args
        items = cgutils.unpack_tuple(builder, args[1], len(index_type))
        places = [
            context.cast(builder, item, kind, types.intp)
            for item, kind in zip(items, index_type, strict=True)
        ]
        view = context.make_array(array_type)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, array_type, view, places)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
        # For reading, to be kept close, from the cache of data.
        options = number(0), number(3), number(1)
        builder.call(ask, [builder.bitcast(pointer, cgutils.voidptr_t), *options])
        return context.get_dummy_value()

    return types.void(array, index), generate
