"""Walker's alias table: draw an index with given probabilities in constant time.

Of n cells of equal width, each holds its own index up to a threshold and one other beyond it:

    u uniform in [0, 1):   i = ⌊un⌋,   i  if  un − i < thresholdᵢ,  else aliasᵢ

The table is built by giving what cell after cell lacks from one that has too much.

Cost: O(n) to build, O(1) a draw. Walker, ACM Trans. Math. Softw. 3 (1977); Vose (1991).
"""

import numpy as np

from thalweg.kernels.compile import kernel


@kernel
def alias_table(probabilities):
    """Thresholds, float64[n], and aliases, int64[n], for probabilities that sum to one."""
    n = probabilities.size
    threshold = probabilities * n
    alias = np.arange(n)
    todo = np.empty(n, dtype=np.int64)  # poor cells from the left, rich ones from the right
    poor, rich = 0, n
    for i in range(n):
        if threshold[i] < 1.0:
            todo[poor] = i
            poor += 1
        else:
            rich -= 1
            todo[rich] = i
    while poor > 0 and rich < n:
        poor -= 1
        i, giver = todo[poor], todo[rich]
        alias[i] = giver
        threshold[giver] -= 1.0 - threshold[i]
        if threshold[giver] < 1.0:
            rich += 1
            todo[poor] = giver
            poor += 1
    # What is left on either side is full but for rounding.
    for k in range(poor):
        threshold[todo[k]] = 1.0
    return threshold, alias


@kernel
def alias_draws(threshold, alias, uniforms):
    """The index for each of `uniforms`, int64[T]."""
    n = threshold.size
    out = np.empty(uniforms.size, dtype=np.int64)
    for t in range(uniforms.size):
        u = uniforms[t] * n
        i = min(int(u), n - 1)
        out[t] = i if u - i < threshold[i] else alias[i]
    return out
