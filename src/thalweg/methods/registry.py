"""All methods by name, and how a name with options becomes a method.

"adam"            the method with its defaults
"adam[lr=0.1]"    with options, as on the command line
Adam(lr=0.1)      the method itself
"""

from __future__ import annotations

from typing import Any

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.options import name_and_options, name_in
from thalweg.methods.adagrad import AdaGrad
from thalweg.methods.adam import Adam
from thalweg.methods.bfgs import BFGS
from thalweg.methods.catalyst import Catalyst
from thalweg.methods.cd import CD
from thalweg.methods.cholesky import Cholesky
from thalweg.methods.fista import FISTA
from thalweg.methods.gd import GD
from thalweg.methods.heavy_ball import HeavyBall
from thalweg.methods.iag import IAG
from thalweg.methods.lbfgs import LBFGS
from thalweg.methods.method import Method
from thalweg.methods.nadam import Nadam
from thalweg.methods.nesterov import Nesterov
from thalweg.methods.newton import Newton
from thalweg.methods.newton_cg import NewtonCG
from thalweg.methods.rmsprop import RMSProp
from thalweg.methods.sag import SAG
from thalweg.methods.saga import SAGA
from thalweg.methods.sdca import SDCA
from thalweg.methods.sgd import SGD
from thalweg.methods.svrg import SVRG

# The more exact ones first, those that draw samples after those that do not, plain steps last: of
# methods that are as fast as each other a plan takes the first.
METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Cholesky, Newton, NewtonCG, BFGS, LBFGS, CD, FISTA, SDCA, SAGA, SAG, SVRG, Catalyst, IAG,
        SGD, Nesterov, HeavyBall, GD, AdaGrad, RMSProp, Adam, Nadam,
    )
}  # fmt: skip


def resolve(method: Any) -> Method:
    """The method that a name, a name with options, or a method stands for."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        return method()
    if not isinstance(method, str):
        raise InputError(
            f"method must be a name or a method such as tw.Adam(lr=0.1), got {describe(method)}: "
            + suggest("", (*METHODS, "auto"))
        )
    name = name_in(method)
    if name not in METHODS:
        known = suggest(name or method, (*METHODS, "auto"))
        raise InputError(f"method must be a known name, got {method!r}: {known}")
    name, options = name_and_options(method)
    return METHODS[name](**options)
