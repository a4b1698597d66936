"""Passes over samples for a duality gap: slopes at given scores, conjugates at a dual point."""

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import (
    loss_conjugate,
    loss_value_and_slope,
    multinomial_conjugate,
    multinomial_value_and_slope,
)


@kernel
def slopes_pass(code, z, y, c, delta, theta):
    """Write θᵢ = ℓ′(zᵢ, yᵢ) into `theta`, in place; returns Σ cᵢℓᵢ."""
    value = 0.0
    for i in range(z.size):
        loss, theta[i] = loss_value_and_slope(code, z[i], y[i], delta)
        value += c[i] * loss
    return value


@kernel
def conjugates_pass(code, theta, y, c, delta):
    """Σ cᵢℓ*(θᵢ), and the sum of the terms' sizes."""
    total, size = 0.0, 0.0
    for i in range(theta.size):
        if c[i] > 0.0:
            term = c[i] * loss_conjugate(code, theta[i], y[i], delta)
            total += term
            size += abs(term)
    return total, size


@kernel
def class_slopes_pass(Z, labels, c):
    """Turn the scores `Z` into θᵢ = softmax(zᵢ) − e_yᵢ, in place; returns Σ cᵢℓᵢ."""
    value = 0.0
    out = np.empty(Z.shape[1])
    for i in range(Z.shape[0]):
        value += c[i] * multinomial_value_and_slope(Z[i], labels[i], out)
        Z[i, :] = out
    return value


@kernel
def class_conjugates_pass(theta, labels, c):
    """Σ cᵢℓ*(θᵢ), and the sum of the terms' sizes."""
    total, size = 0.0, 0.0
    for i in range(theta.shape[0]):
        if c[i] > 0.0:
            term = c[i] * multinomial_conjugate(theta[i], labels[i])
            total += term
            size += abs(term)
    return total, size
