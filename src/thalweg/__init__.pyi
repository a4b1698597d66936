"""Every public name and where it lives: the one place that says so.

Type checkers and editors read this file, and `thalweg/__init__.py` looks names up in it, a line a
name. Modules are lower-case names of a package.
"""

from thalweg import doctor as doctor
from thalweg import nets as nets
from thalweg import scaling as scaling
from thalweg import theory as theory
from thalweg.certificates.certify import certify as certify
from thalweg.certificates.critical_point import CriticalPoint as CriticalPoint
from thalweg.certificates.critical_point import classify as classify
from thalweg.core.certificate import Certificate as Certificate
from thalweg.core.errors import InputError as InputError
from thalweg.core.errors import StorageError as StorageError
from thalweg.core.errors import ThalwegError as ThalwegError
from thalweg.core.finding import Finding as Finding
from thalweg.core.finding import Severity as Severity
from thalweg.core.outcome import Outcome as Outcome
from thalweg.core.plan import Plan as Plan
from thalweg.core.run import Run as Run
from thalweg.core.trace import Trace as Trace
from thalweg.doctor.diagnosis import diagnose as diagnose
from thalweg.doctor.nets.watch import watch as watch
from thalweg.estimators.elastic_net import ElasticNet as ElasticNet
from thalweg.estimators.elastic_net_cv import ElasticNetCV as ElasticNetCV
from thalweg.estimators.gamma_regressor import GammaRegressor as GammaRegressor
from thalweg.estimators.huber_regressor import HuberRegressor as HuberRegressor
from thalweg.estimators.lasso import Lasso as Lasso
from thalweg.estimators.lasso_cv import LassoCV as LassoCV
from thalweg.estimators.linear_regression import LinearRegression as LinearRegression
from thalweg.estimators.linear_svc import LinearSVC as LinearSVC
from thalweg.estimators.linear_svr import LinearSVR as LinearSVR
from thalweg.estimators.logistic_regression import LogisticRegression as LogisticRegression
from thalweg.estimators.logistic_regression_cv import LogisticRegressionCV as LogisticRegressionCV
from thalweg.estimators.paths import enet_path as enet_path
from thalweg.estimators.paths import lasso_path as lasso_path
from thalweg.estimators.paths import logistic_path as logistic_path
from thalweg.estimators.poisson_regressor import PoissonRegressor as PoissonRegressor
from thalweg.estimators.quantile_regressor import QuantileRegressor as QuantileRegressor
from thalweg.estimators.ridge import Ridge as Ridge
from thalweg.estimators.ridge_classifier import RidgeClassifier as RidgeClassifier
from thalweg.estimators.ridge_cv import RidgeCV as RidgeCV
from thalweg.estimators.tweedie_regressor import TweedieRegressor as TweedieRegressor
from thalweg.exports.ways import export as export
from thalweg.figures.plot import Plot as Plot
from thalweg.figures.plot import plot as plot
from thalweg.inference.summary import Summary as Summary
from thalweg.jobs.train import train as train
from thalweg.labbook.catalogue import lab as lab
from thalweg.labbook.lab import Lab as Lab
from thalweg.methods.adagrad import AdaGrad as AdaGrad
from thalweg.methods.adam import Adam as Adam
from thalweg.methods.armijo import Armijo as Armijo
from thalweg.methods.backtracking import Backtracking as Backtracking
from thalweg.methods.bfgs import BFGS as BFGS
from thalweg.methods.catalyst import Catalyst as Catalyst
from thalweg.methods.cd import CD as CD
from thalweg.methods.cholesky import Cholesky as Cholesky
from thalweg.methods.fista import FISTA as FISTA
from thalweg.methods.gd import GD as GD
from thalweg.methods.heavy_ball import HeavyBall as HeavyBall
from thalweg.methods.iag import IAG as IAG
from thalweg.methods.journey import Step as Step
from thalweg.methods.lbfgs import LBFGS as LBFGS
from thalweg.methods.nadam import Nadam as Nadam
from thalweg.methods.nesterov import Nesterov as Nesterov
from thalweg.methods.newton import Newton as Newton
from thalweg.methods.newton_cg import NewtonCG as NewtonCG
from thalweg.methods.registry import METHODS as METHODS
from thalweg.methods.rmsprop import RMSProp as RMSProp
from thalweg.methods.sag import SAG as SAG
from thalweg.methods.saga import SAGA as SAGA
from thalweg.methods.sdca import SDCA as SDCA
from thalweg.methods.sgd import SGD as SGD
from thalweg.methods.svrg import SVRG as SVRG
from thalweg.methods.wolfe import StrongWolfe as StrongWolfe
from thalweg.objectives import surfaces as surfaces
from thalweg.objectives.column_penalty import ByColumn as ByColumn
from thalweg.objectives.convexity import check_convex as check_convex
from thalweg.objectives.convexity import check_smooth as check_smooth
from thalweg.objectives.function import Objective as Objective
from thalweg.objectives.linear import LinearProblem as LinearProblem
from thalweg.objectives.own_loss import Loss as Loss
from thalweg.objectives.own_penalty import Penalty as Penalty
from thalweg.objectives.regularized import Regularized as Regularized
from thalweg.objectives.surfaces.noisy import Noisy as Noisy
from thalweg.objectives.tweedie import Tweedie as Tweedie
from thalweg.planner.minimize import minimize as minimize
from thalweg.planner.path import path as path
from thalweg.planner.plan import plan as plan
from thalweg.planner.race import Race as Race
from thalweg.planner.race import race as race
from thalweg.reports.report import Report as Report
from thalweg.reports.report import report as report
from thalweg.running.checkpoint import Checkpoint as Checkpoint
from thalweg.runs.job import Job as Job
from thalweg.runs.saved import load as load
from thalweg.tables.encoding import Encoding as Encoding
from thalweg.tables.read import read as read
from thalweg.tables.table import Table as Table

__version__: str

def __dir__() -> list[str]: ...
