"""The losses that a job may name: those of linear models that have no parameter of their own.

Apart from `job`, so that the command line can list them without what a job needs to check.
"""

LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial", "poisson", "gamma")
