"""L-BFGS for networks: `thalweg.methods.lbfgs` on the loss of a closure.

    p = −B∇f(w)        B from the last `history_size` pairs of steps and gradient differences
    w ← w + αp         α by a strong-Wolfe search

Arguments are those of `torch.optim.LBFGS`, and so is the closure, which calls backward(). There is
always a line search: without one a step of length 1 is a guess. Groups of parameters are allowed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from thalweg.core.checks import check_count
from thalweg.methods import lbfgs
from thalweg.nets.optimizers.method_optimizer import MethodOptimizer


class LBFGS(MethodOptimizer):
    """Limited-memory quasi-Newton for full batches, or large ones."""

    with_graph: ClassVar[bool] = False

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        history_size: int = 100,
        *,
        weight_decay: float = 0.0,
        max_norm: float | None = None,
        **refused: Any,
    ) -> None:
        self.history_size = check_count("history_size", history_size)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(
            params, lr, max_iter, tolerance_grad, weight_decay, max_norm, max_eval, **refused
        )

    def method(self) -> lbfgs.LBFGS:
        """With as many pairs as asked for."""
        return lbfgs.LBFGS(memory=self.history_size)

    def recall(self, state: Any, kept: dict[str, Any]) -> Any:
        """With the pairs of earlier steps."""
        return with_pairs(state, kept)

    def learnt(self, state: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """The pairs."""
        return pairs_of(state)


def pairs_of(state: Any) -> dict[str, Any]:
    """What a method's state remembers of curvature, to be kept."""
    tensors = {name: torch.from_numpy(getattr(state, name)) for name in ("S", "Y", "rho")}
    return {**tensors, "pairs": state.pairs}


def with_pairs(state: Any, kept: dict[str, Any]) -> Any:
    """The state with what was kept, if it is of the same shape."""
    if "S" not in kept or kept["S"].shape != state.S.shape:
        return state
    pairs = {name: kept[name].numpy().astype(state.S.dtype) for name in ("S", "Y", "rho")}
    return state._replace(**pairs, pairs=int(kept["pairs"]))
