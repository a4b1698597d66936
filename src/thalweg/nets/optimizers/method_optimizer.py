"""What the optimizers of Newton's family share: a method of `thalweg.methods`, driven by closures.

One `step(closure)` makes up to `max_iter` iterations of the method on the loss that the closure
computes, from where the parameters are. What the method has learnt stays for the next step, whose
closure may be another batch. Its vectors are NumPy's, on the CPU: parameters elsewhere are copied
there and back.

`weight_decay` is part of the loss here, and `lr` is a group's metric (`closure`). Of the options of
the other optimizers, `max_norm` projects after the last iteration; `clip_norm` and `l1` are
refused: a line search looks after long gradients, and l1 has no gradient at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.nets.optimizers.closure import Closure
from thalweg.nets.optimizers.optimizer import groups_of, refuse_complex
from thalweg.nets.optimizers.units import project_units


class MethodOptimizer(torch.optim.Optimizer):
    """An optimizer whose step is some iterations of a method."""

    with_graph: ClassVar[bool]  # whether second derivatives are needed: backward() is ours then
    curvature_added: float = 0.0  # λ of a damped Hessian ∇²f + λI

    def __init__(
        self,
        params: Any,
        lr: float,
        max_iter: int,
        tolerance_grad: float,
        weight_decay: float,
        max_norm: float | None,
        max_eval: float | None = None,
        **refused: Any,
    ) -> None:
        for name in ("clip_norm", "l1"):
            if refused.pop(name, None):
                raise InputError(
                    f"{name} is not for {type(self).__name__}, whose line search needs a smooth "
                    f"loss as it is: leave {name} out, or use Adam"
                )
        if refused:
            raise TypeError(f"{type(self).__name__} has no argument {next(iter(refused))!r}")
        self.max_iter = check_count("max_iter", max_iter)
        self.max_eval = max_eval
        self.tolerance_grad = check_number("tolerance_grad", tolerance_grad, at_least=0.0)
        self.evaluations = 0.0  # gradients, and two for each Hessian-vector product
        own = {
            "lr": lr,
            "weight_decay": weight_decay,
            "max_norm": max_norm,
            "unit_axis": 0,
            "unit_groups": 1,
        }
        super().__init__(groups_of(params), own)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, which may come late: what was learnt of the others is forgotten."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        try:
            refuse_complex(group["params"])
            check_number("lr", float(group["lr"]), above=0.0)
            check_number("weight_decay", float(group["weight_decay"]), at_least=0.0)
            if group["max_norm"] is not None:
                check_number("max_norm", float(group["max_norm"]), above=0.0)
        except InputError:
            self.param_groups.pop()
            raise

    def method(self) -> Method:
        """The method that is driven."""
        raise NotImplementedError

    def recall(self, state: Any, kept: dict[str, Any]) -> Any:
        """The method's state at a new beginning, with what was learnt before."""
        raise NotImplementedError

    def learnt(self, state: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """What the next step may use of this state: tensors and numbers; `kept` was before."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` iterations; returns the loss before them."""
        if closure is None:
            raise InputError(
                f"{type(self).__name__}.step needs a closure that computes the loss, got none: "
                "call optimizer.step(closure), or use Adam"
            )
        # `fit` gives closures that know both ways: with backward(), and with the graph.
        given = getattr(closure, "graph", closure) if self.with_graph else closure
        objective = Closure(
            self.param_groups, given, with_graph=self.with_graph, damping=self.curvature_added
        )
        if not objective.parameters:
            return None
        problem = Problem(objective, objective.dim, np.dtype(objective.dtype))
        method, kept = self.method(), self.state[self.param_groups[0]["params"][0]]
        before = [p.detach().clone() for p in objective.parameters]
        decay = objective.decay()
        start = state = method.init(problem, objective.gather(), np.random.default_rng(0))
        loss = torch.tensor(state.value - decay)
        if not math.isfinite(state.value) or not np.all(np.isfinite(state.gradient)):
            _put_back(objective, before)  # for the caller to look at
            return loss
        if kept.get("dim") == objective.dim:
            state = self.recall(state, kept)
        for iteration in range(self.max_iter):
            if float(np.max(np.abs(state.gradient))) <= self.tolerance_grad:
                break
            if iteration and self.max_eval is not None and _price(problem) >= self.max_eval:
                break
            after = method.advance(problem, state)
            if after is state:
                break
            state = after
        if state.w is start.w:
            _put_back(objective, before)
        else:
            objective.scatter(state.w)
        self.evaluations += _price(problem)
        learnt = self.learnt(state, dict(kept))
        kept.clear()
        kept.update(dim=objective.dim, **learnt)
        self._project()
        return loss

    @torch.no_grad()
    def _project(self) -> None:
        for group in self.param_groups:
            if group["max_norm"] is not None:
                for parameter in group["params"]:
                    project_units(
                        parameter, group["unit_axis"], group["unit_groups"], group["max_norm"]
                    )


@torch.no_grad()
def _put_back(objective: Closure, weights: list[torch.Tensor]) -> None:
    """Set the weights to what they were, to the last bit."""
    for parameter, weight in zip(objective.parameters, weights, strict=True):
        parameter.copy_(weight)


def _price(problem: Problem) -> float:
    """Gradients so far, a Hessian-vector product counted twice and a value as half of one."""
    return (
        problem.gradients
        + 2.0 * problem.hessian_vectors
        + 0.5 * max(0, problem.values - problem.gradients)
    )
