"""`no_decay_groups`: weights that decay, and biases and norms that do not.

Decay holds back weights that multiply inputs. A bias is one number a unit, needed at any size; the
scale of a normalization has nothing to be held back from. Vectors, and whatever belongs to a
normalization, are therefore kept out.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from thalweg.nets.optimizers.units import parameter_groups

NORMS = (
    nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm,
)  # fmt: skip


def no_decay_groups(model: nn.Module, weight_decay: float | None = None) -> list[dict[str, Any]]:
    """The parameters of `model` in groups: with a decay, and with weight_decay=0.

    The former have the optimizer's own decay, or `weight_decay` where it is given.
    """
    of_norms = {
        id(parameter)
        for module in model.modules()
        if isinstance(module, NORMS)
        for parameter in module.parameters(recurse=False)
    }
    groups = []
    for group in parameter_groups(model):
        kept_out = [p for p in group["params"] if p.ndim < 2 or id(p) in of_norms]
        decayed = [p for p in group["params"] if not (p.ndim < 2 or id(p) in of_norms)]
        own = {} if weight_decay is None else {"weight_decay": weight_decay}
        groups.append({**group, "params": decayed, **own})
        groups.append({**group, "params": kept_out, "weight_decay": 0.0})
    return [group for group in groups if group["params"]]
