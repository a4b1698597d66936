"""Hessian spectra from matrix-vector products (callables) alone: no matrix is ever formed.

lanczos    both ends of the spectrum, with their vectors and bounds on their errors
extent     the ends alone, in the memory of three vectors
trace      tr H by random signs, with its standard error
density    how many eigenvalues lie where
product    the products, checked and counted
"""
