"""Truncated Newton for networks: `thalweg.methods.newton_cg` on the loss of a closure.

    minimise over ‖p‖ ≤ Δ   ∇f(w)ᵀp + ½pᵀ∇²f(w)p       by conjugate gradients
    w ← w + αp                                       shortened until f falls

Products with the Hessian are by double backward, so the closure returns the loss and does not call
backward(). Where a curvature is negative the step follows it downhill to the edge of the region: a
saddle is left, not approached. `history_size` products and steps are remembered and precondition
the next ones, and a step that went as well as promised is lengthened (`newton_cg`).

`line_search="stochastic"` is for mini-batches, where f is another one at every step: a step may
then be no longer than the region that held on earlier batches, Δ grows by a tenth at most, nothing
is remembered of another batch's curvature, and `damping` is added to it, so that directions that
this batch says nothing about are left alone. The value that a step must lower is that of the same
batch, and of the same dropout.
Martens, ICML 2010, for the damping.
"""

from __future__ import annotations

from typing import Any, ClassVar

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError
from thalweg.methods import newton_cg
from thalweg.nets.optimizers.lbfgs import pairs_of, with_pairs
from thalweg.nets.optimizers.method_optimizer import MethodOptimizer

SEARCHES = ("full", "stochastic")
GROWTH = 1.1  # of the region from one batch to the next


class TruncatedNewton(MethodOptimizer):
    """Newton's method by conjugate gradients, with negative curvature."""

    with_graph: ClassVar[bool] = True

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 1,
        max_cg: int = 50,
        tolerance_grad: float = 1e-7,
        line_search: str = "full",
        damping: float = 1e-3,
        history_size: int = 20,
        *,
        weight_decay: float = 0.0,
        max_norm: float | None = None,
        **refused: Any,
    ) -> None:
        if line_search not in SEARCHES:
            raise InputError(
                f"line_search must be one of {', '.join(SEARCHES)}, got {line_search!r}"
            )
        self.line_search = line_search
        self.max_cg = check_count("max_cg", max_cg)
        self.history_size = check_count("history_size", history_size, at_least=0)
        damping = check_number("damping", damping, at_least=0.0)
        self.curvature_added = damping if line_search == "stochastic" else 0.0
        super().__init__(params, lr, max_iter, tolerance_grad, weight_decay, max_norm, **refused)

    def method(self) -> newton_cg.NewtonCG:
        """With as many products as allowed."""
        if self.line_search == "stochastic":
            return newton_cg.NewtonCG(max_cg=self.max_cg)
        return newton_cg.NewtonCG(
            max_cg=self.max_cg, memory=self.history_size, lengthen=self.history_size > 0
        )

    def recall(self, state: Any, kept: dict[str, Any]) -> Any:
        """With the region of earlier steps, and their pairs."""
        state = state._replace(radius=float(kept["radius"]), first_norm=float(kept["first_norm"]))
        return with_pairs(state, kept)

    def learnt(self, state: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """The region, the first gradient's norm, by which products are spent, and the pairs."""
        radius = state.radius
        if self.line_search == "stochastic" and "radius" in kept:
            radius = min(radius, GROWTH * float(kept["radius"]))
        return {"radius": radius, "first_norm": state.first_norm, **pairs_of(state)}
