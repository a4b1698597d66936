"""A sum tree: draw an index in proportion to weights that change as you go.

A full binary tree in one array, tree[1] the root: a node holds the sum of its children 2k and
2k + 1, the leaves the weights. To draw, walk down from a number below the total, left if it is
below the left child, else right with the rest. To change a weight, mend the sums above it.

Cost: O(log n) a draw or a change; memory at most 4n numbers.
"""

import numpy as np

from thalweg.kernels.compile import kernel


def sum_tree(weights):
    """The tree over non-negative `weights`, float64[2·size], size the next power of two."""
    size = 1 << max(0, int(weights.size - 1).bit_length())
    tree = np.zeros(2 * size)
    tree[size : size + weights.size] = weights
    level = size
    while level > 1:
        half = level // 2
        tree[half:level] = tree[level : 2 * level : 2] + tree[level + 1 : 2 * level : 2]
        level = half
    return tree


@kernel(inline=True)
def tree_draw(tree, target):
    """The index whose share of the total holds `target`, 0 ≤ target < tree[1]."""
    size = tree.size // 2
    node = 1
    while node < size:
        node *= 2
        # Rounding may leave a target at the very end: never walk into an empty branch.
        if target >= tree[node] and tree[node + 1] > 0.0:
            target -= tree[node]
            node += 1
    return node - size


@kernel(inline=True)
def tree_update(tree, index, weight):
    """Give `index` the weight, in place."""
    node = tree.size // 2 + index
    tree[node] = weight
    node //= 2
    while node > 0:
        # Added up anew, not changed by a difference: rounding does not gather.
        tree[node] = tree[2 * node] + tree[2 * node + 1]
        node //= 2
