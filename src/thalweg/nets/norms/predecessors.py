"""Which layer feeds each batch norm of a network, and it alone.

The network's `forward` is traced symbolically (torch.fx): it is run on placeholders, which record
every operation. Going back from a norm, through dropouts and identities, which do nothing in use,
there must be a Linear or a convolution whose output goes nowhere else. A norm that runs several
times must have the same layer before it each time, and that layer must run for it alone.

Where `forward` cannot be traced (it looks at values or shapes to decide what to do), its children
are traced one by one. What it does to them is then not seen: a norm that it calls itself has no
predecessor, and a layer inside a child that it also uses directly would go unnoticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd


class Predecessor(NamedTuple):
    """The layer before a norm, or why there is none."""

    norm: Any
    layer: Any = None
    why: str = ""


def predecessors(module: nn.Module) -> Iterator[Predecessor]:
    """One for every batch norm in `module`, which is in the mode that it will be used in."""
    norms = [m for m in module.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    if isinstance(module, _BatchNorm):
        yield Predecessor(module, why="nothing comes before it")
        return
    try:
        graph = _Tracer().trace(module)
    except Exception as problem:  # whatever a forward raises that is fed placeholders
        yield from _of_children(module, str(problem).strip().partition("\n")[0])
        return
    called = {
        node: module.get_submodule(str(node.target))
        for node in graph.nodes
        if node.op == "call_module"
    }
    calls = Counter(called.values())
    for norm in norms:
        nodes = [node for node, target in called.items() if target is norm]
        yield _joined(norm, [_before(node, norm, called) for node in nodes], calls)


class _Tracer(fx.Tracer):
    """Traces into modules of the user, not into batch norms of any kind."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, _BatchNorm) or super().is_leaf_module(m, module_qualified_name)


def _of_children(module: nn.Module, reason: str) -> Iterator[Predecessor]:
    seen: set[Any] = set()
    for child in module.children():
        for found in predecessors(child):
            if found.norm in seen:
                continue
            seen.add(found.norm)
            if found.norm is child:
                found = Predecessor(child, why=f"its caller cannot be traced ({reason})")
            yield found


def _joined(norm: Any, found: list[Predecessor], calls: Counter[nn.Module]) -> Predecessor:
    """What holds for all calls of a norm."""
    if not found:
        return Predecessor(norm, why="forward never calls it")
    refused = next((one for one in found if one.layer is None), None)
    if refused is not None:
        return refused
    layer = found[0].layer
    if any(one.layer is not layer for one in found):
        return Predecessor(norm, why="it is shared: several layers come before it")
    if calls[layer] != calls[norm]:
        return Predecessor(norm, why="the layer before it is shared: it also runs elsewhere")
    return found[0]


def _before(node: fx.Node, norm: Any, called: dict[fx.Node, nn.Module]) -> Predecessor:
    """The layer before one call of a norm."""
    while True:
        source = node.args[0] if node.args else None
        if not isinstance(source, fx.Node):
            return Predecessor(norm, why="its input is not the output of a layer")
        layer = called.get(source)
        if not isinstance(layer, nn.Linear | _ConvNd | nn.Identity | _DropoutNd):
            what = source.name if layer is None else type(layer).__name__
            if source.op == "placeholder":
                what = "the network's input"
            return Predecessor(norm, why=f"before it comes {what}, no Linear or convolution")
        if len(source.users) > 1:
            return Predecessor(norm, why="the output of the layer before it is also used elsewhere")
        if isinstance(layer, nn.Linear | _ConvNd):
            return Predecessor(norm, layer)
        node = source
