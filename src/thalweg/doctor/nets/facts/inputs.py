"""What the network is given: the size of its inputs, and how unequal they are.

    data_size      root mean square of all entries
    data_offset    ‖means of the columns‖/‖their standard deviations‖
    data_spread    range of a wide column by that of a narrow one (95th and 5th percentile of those
                   that vary); not their standard deviations, which are small for a pixel that is
                   seldom lit
    data_constant  share of columns with one value
    data_distinct  distinct rows by rows
    data_not_finite, data_denormal    shares of entries

The Hessian of a linear layer is the second moment of its inputs, E[xxᵀ]: with columns of unequal
size its condition number is at least data_spread², and with means far from zero at least
data_offset². A number between 0 and 2⁻¹²⁶ is denormal: it has lost digits, and many processors
take a hundred times as long for it.
"""

from __future__ import annotations

import numpy as np

from thalweg.doctor.nets.facts.measured import Measured

TINY = float(np.finfo(np.float32).tiny)


def inputs(x: np.ndarray) -> Measured:
    """Of rows, float64[n, d]."""
    finite = x[np.isfinite(x).all(1)]
    facts = Measured(
        data_rows=float(len(x)),
        data_columns=float(x.shape[1]),
        data_not_finite=float((~np.isfinite(x)).mean()),
    )
    if len(finite) < 2:
        return facts
    size = np.abs(finite)
    std, mean = finite.std(0), finite.mean(0)
    varies = std > 1e-12 * max(float(size.max()), 1e-300)
    some = np.ptp(finite, 0)[varies]
    return facts | Measured(
        data_size=float(np.sqrt((finite**2).mean())),
        data_offset=float(np.linalg.norm(mean) / np.linalg.norm(std)) if varies.any() else 0.0,
        data_spread=_ratio(some) if varies.any() else 1.0,
        data_constant=float((~varies).mean()),
        data_distinct=len(np.unique(finite, axis=0)) / len(finite),
        data_denormal=float(((size > 0) & (size < TINY)).mean()),
    )


def _ratio(ranges: np.ndarray) -> float:
    narrow, wide = np.quantile(ranges, [0.05, 0.95])
    return float(wide / narrow)
