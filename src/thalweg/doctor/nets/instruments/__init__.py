"""Instruments that look at a network while it trains; what they write down is a `core.record`.

spaced_rows   rows that come one by one, thinned when they are many
layers        which modules are layers, and in which order
activations   outputs: mean, spread, percentiles, dead and saturated units
norms         gradients, weights and what a step did to them
noise         how far successive gradients agree
sample        a fixed random choice of entries, unbiased
first_batch   what the network was given
targets       what it is to answer
sentinel      gradients that were not zeroed or are not finite, every step
origin        the layer in which numbers ended
curvature     both ends of the Hessian's spectrum and its trace
preconditioner
              what an adaptive optimizer divides by
budget        when to look, by what looks cost
hook          how a model calls an instrument, timed, and left out of copies
journal       rows become columns become a record
instruments   all of them on one model
"""
