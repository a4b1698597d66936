"""Heavy ball for networks: `SGD` with a momentum.

    m ← βm + g,   w ← w − ηm                       `rules.heavy_ball`

Its effective learning rate is η/(1 − β): with β = 0.9, ten times that of plain SGD.
"""

from __future__ import annotations

from typing import Any

from thalweg.nets.optimizers.sgd import SGD


class HeavyBall(SGD):
    """SGD with momentum."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.9,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        **shared: Any,
    ) -> None:
        super().__init__(params, lr, momentum, dampening, weight_decay, **shared)
