"""What in the network behaves otherwise in train mode than in eval mode.

mode_dropout     layers that drop units in training
mode_norm        layers that normalize by the batch in training and by averages otherwise
dropped          the largest share of units that one of them drops
"""

from __future__ import annotations

from torch import nn

from thalweg.doctor.nets.facts.measured import Measured


def modes(model: nn.Module) -> Measured:
    """Of all modules of the network."""
    dropped = [share for module in model.modules() if (share := _dropped(module)) > 0]
    norms = [m for m in model.modules() if getattr(m, "running_mean", None) is not None]
    return Measured(
        mode_dropout=float(len(dropped)),
        mode_norm=float(len(norms)),
        dropped=max(dropped, default=0.0),
    )


def _dropped(module: nn.Module) -> float:
    if "Dropout" not in type(module).__name__:
        return 0.0
    keep = getattr(module, "keep", None)
    return float(1.0 - keep) if keep is not None else float(getattr(module, "p", 0.0))
