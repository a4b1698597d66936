"""Nesterov's momentum for networks: `SGD` with a look-ahead.

    m ← βm + g,   w ← w − η(g + βm)                `rules.nesterov`

in the shifted form, as PyTorch has it: w is the look-ahead point, where gradients are taken.
"""

from __future__ import annotations

from typing import Any

from thalweg.nets.optimizers.sgd import SGD


class Nesterov(SGD):
    """SGD with Nesterov's momentum."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        **shared: Any,
    ) -> None:
        super().__init__(params, lr, momentum, 0.0, weight_decay, nesterov=True, **shared)
