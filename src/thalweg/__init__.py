"""Thalweg: a workbench for optimization in machine learning.

It plans, trains, certifies, diagnoses and reports. Names are resolved when they are first used (PEP
562), so that `import thalweg` costs little and pulls in neither numba nor torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg import data, doctor, nets, theory
    from thalweg.certificates.certify import certify
    from thalweg.certificates.critical_point import CriticalPoint, classify
    from thalweg.core.certificate import Certificate
    from thalweg.core.errors import InputError, StorageError, ThalwegError
    from thalweg.core.finding import Finding, Severity
    from thalweg.core.outcome import Outcome
    from thalweg.core.plan import Plan
    from thalweg.core.run import Run
    from thalweg.core.trace import Trace
    from thalweg.doctor.diagnosis import diagnose
    from thalweg.doctor.watch import watch
    from thalweg.estimators.elastic_net import ElasticNet
    from thalweg.estimators.lasso import Lasso
    from thalweg.estimators.linear_svc import LinearSVC
    from thalweg.estimators.logistic_regression import LogisticRegression
    from thalweg.estimators.ridge import Ridge
    from thalweg.figures.plot import Plot, plot
    from thalweg.jobs.job import Job
    from thalweg.jobs.saved import load
    from thalweg.jobs.train import train
    from thalweg.labbook.catalogue import lab
    from thalweg.labbook.lab import Lab
    from thalweg.methods.adagrad import AdaGrad
    from thalweg.methods.adam import Adam
    from thalweg.methods.armijo import Armijo
    from thalweg.methods.backtracking import Backtracking
    from thalweg.methods.bfgs import BFGS
    from thalweg.methods.catalyst import Catalyst
    from thalweg.methods.cd import CD
    from thalweg.methods.checkpoint import Checkpoint
    from thalweg.methods.cholesky import Cholesky
    from thalweg.methods.fista import FISTA
    from thalweg.methods.gd import GD
    from thalweg.methods.heavy_ball import HeavyBall
    from thalweg.methods.iag import IAG
    from thalweg.methods.lbfgs import LBFGS
    from thalweg.methods.loop import Step
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
    from thalweg.methods.table import METHODS
    from thalweg.methods.wolfe import StrongWolfe
    from thalweg.objectives import surfaces
    from thalweg.objectives.convexity import check_convex, check_smooth
    from thalweg.objectives.function import Objective
    from thalweg.objectives.linear import LinearProblem
    from thalweg.objectives.own_loss import Loss
    from thalweg.objectives.own_penalty import Penalty
    from thalweg.objectives.regularized import Regularized
    from thalweg.objectives.surfaces.noisy import Noisy
    from thalweg.planner.minimize import minimize
    from thalweg.planner.path import path
    from thalweg.planner.plan import plan
    from thalweg.planner.race import Race, race
    from thalweg.reports.report import Report, report
    from thalweg.tables.encoding import Encoding
    from thalweg.tables.read import read
    from thalweg.tables.table import Table

# Where each public name lives.
_HOMES = {
    "AdaGrad": "methods.adagrad",
    "Adam": "methods.adam",
    "Armijo": "methods.armijo",
    "BFGS": "methods.bfgs",
    "Backtracking": "methods.backtracking",
    "CD": "methods.cd",
    "Certificate": "core.certificate",
    "Checkpoint": "methods.checkpoint",
    "Cholesky": "methods.cholesky",
    "SVRG": "methods.svrg",
    "SAGA": "methods.saga",
    "SAG": "methods.sag",
    "IAG": "methods.iag",
    "Catalyst": "methods.catalyst",
    "CriticalPoint": "certificates.critical_point",
    "ElasticNet": "estimators.elastic_net",
    "Encoding": "tables.encoding",
    "FISTA": "methods.fista",
    "Finding": "core.finding",
    "GD": "methods.gd",
    "HeavyBall": "methods.heavy_ball",
    "InputError": "core.errors",
    "Job": "jobs.job",
    "LBFGS": "methods.lbfgs",
    "Lab": "labbook.lab",
    "Lasso": "estimators.lasso",
    "LinearProblem": "objectives.linear",
    "LinearSVC": "estimators.linear_svc",
    "LogisticRegression": "estimators.logistic_regression",
    "Loss": "objectives.own_loss",
    "METHODS": "methods.table",
    "Nadam": "methods.nadam",
    "Nesterov": "methods.nesterov",
    "Newton": "methods.newton",
    "NewtonCG": "methods.newton_cg",
    "Noisy": "objectives.surfaces.noisy",
    "Objective": "objectives.function",
    "Outcome": "core.outcome",
    "RMSProp": "methods.rmsprop",
    "Regularized": "objectives.regularized",
    "Ridge": "estimators.ridge",
    "Run": "core.run",
    "SDCA": "methods.sdca",
    "SGD": "methods.sgd",
    "Severity": "core.finding",
    "Step": "methods.loop",
    "StorageError": "core.errors",
    "StrongWolfe": "methods.wolfe",
    "Table": "tables.table",
    "ThalwegError": "core.errors",
    "Trace": "core.trace",
    "certify": "certificates.certify",
    "check_convex": "objectives.convexity",
    "check_smooth": "objectives.convexity",
    "classify": "certificates.critical_point",
    "diagnose": "doctor.diagnosis",
    "lab": "labbook.catalogue",
    "load": "jobs.saved",
    "minimize": "planner.minimize",
    "plan": "planner.plan",
    "Penalty": "objectives.own_penalty",
    "Plan": "core.plan",
    "path": "planner.path",
    "Plot": "figures.plot",
    "plot": "figures.plot",
    "Race": "planner.race",
    "race": "planner.race",
    "read": "tables.read",
    "train": "jobs.train",
    "Report": "reports.report",
    "report": "reports.report",
    "watch": "doctor.watch",
}
_MODULES = {
    "data": "data",
    "doctor": "doctor",
    "nets": "nets",
    "surfaces": "objectives.surfaces",
    "theory": "theory",
}

__all__ = [
    "BFGS",
    "CD",
    "FISTA",
    "GD",
    "IAG",
    "LBFGS",
    "METHODS",
    "SAG",
    "SAGA",
    "SDCA",
    "SGD",
    "SVRG",
    "AdaGrad",
    "Adam",
    "Armijo",
    "Backtracking",
    "Catalyst",
    "Certificate",
    "Checkpoint",
    "Cholesky",
    "CriticalPoint",
    "ElasticNet",
    "Encoding",
    "Finding",
    "HeavyBall",
    "InputError",
    "Job",
    "Lab",
    "Lasso",
    "LinearProblem",
    "LinearSVC",
    "LogisticRegression",
    "Loss",
    "Nadam",
    "Nesterov",
    "Newton",
    "NewtonCG",
    "Noisy",
    "Objective",
    "Outcome",
    "Penalty",
    "Plan",
    "Plot",
    "RMSProp",
    "Race",
    "Regularized",
    "Report",
    "Ridge",
    "Run",
    "Severity",
    "Step",
    "StorageError",
    "StrongWolfe",
    "Table",
    "ThalwegError",
    "Trace",
    "certify",
    "check_convex",
    "check_smooth",
    "classify",
    "data",
    "diagnose",
    "doctor",
    "lab",
    "load",
    "minimize",
    "nets",
    "path",
    "plan",
    "plot",
    "race",
    "read",
    "report",
    "surfaces",
    "theory",
    "train",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("thalweg")
    if name in _MODULES:
        value = import_module(f"thalweg.{_MODULES[name]}")
    elif name in _HOMES:
        value = getattr(import_module(f"thalweg.{_HOMES[name]}"), name)
    else:
        from thalweg.core.errors import suggest

        raise AttributeError(f"thalweg has no {name!r}: {suggest(name, __all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
