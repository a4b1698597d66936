"""Numbers with twice the digits of float64: a pair, high and low.

    a + b = s + e exactly     s rounded, e what it lost (Knuth)
    a · b = p + e exactly     p rounded, e what it lost (Dekker, after Veltkamp's split)

Sums, products, quotients and roots of pairs are right to some 2⁻¹⁰⁴ of themselves, of sums of one
sign, or to that of their terms. The exponential is as right as its argument:

    eˣ = 2ᵏ (eʳ)¹⁶            k = x/log 2 rounded, 16r = x − k log 2, |r| ≤ log 2 / 32
    eʳ − 1 = r + r²/2! + …    to r¹⁴; from r⁹ on one float64 is enough
    e²ʳ − 1 = 2s + s²         of s = eʳ − 1, four times: 1 is added at the end, and costs no digits

k times each part of log 2 is exact. No fast mathematics here: it would take what is lost for zero.
Hida, Li & Bailey, Algorithms for quad-double precision floating point arithmetic (2001).
"""

import math
from fractions import Fraction

import numpy as np

from thalweg.kernels.compile import kernel

SPLITTER = 2.0**27 + 1.0
LARGEST, SMALLEST = 709.8, -745.2  # beyond them eˣ is infinite, or 0
PER_LOG_2 = 1.0 / math.log(2.0)
LOG_2 = Fraction("0.693147180559945309417232121458176568075500134360255254")
LOG_2_HIGH = math.floor(LOG_2 * 2**42) / 2.0**42  # 42 digits: k has 11
LOG_2_MIDDLE = math.floor((LOG_2 - Fraction(LOG_2_HIGH)) * 2**84) / 2.0**84
LOG_2_LOW = float(LOG_2 - Fraction(LOG_2_HIGH) - Fraction(LOG_2_MIDDLE))
DOUBLINGS = 4
PAIRED, DEGREE = 8, 14  # terms of the series that are pairs, and all of them
_FACTORIALS = [Fraction(1, math.factorial(k)) for k in range(DEGREE + 1)]
TERMS = np.array([float(f) for f in _FACTORIALS])
TERMS_LOW = np.array([float(f - Fraction(float(f))) for f in _FACTORIALS])


@kernel(inline=True)
def two_sum(a, b):
    """a + b as a pair."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel(inline=True)
def two_product(a, b):
    """a·b as a pair; beyond 10³⁰⁰ the low part is no number, and left out."""
    p = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    c = SPLITTER * b
    b_high = c - (c - b)
    a_low, b_low = a - a_high, b - b_high
    e = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, e if e == e else 0.0


@kernel(inline=True)
def pair_sum(a, a_low, b, b_low):
    """(a + a_low) + (b + b_low) as a pair, the high part rounded."""
    s, e = two_sum(a, b)
    return two_sum(s, e + (a_low + b_low))


@kernel(inline=True)
def pair_product(a, a_low, b, b_low):
    """(a + a_low)(b + b_low) as a pair."""
    p, e = two_product(a, b)
    return p, e + (a * b_low + a_low * b)


@kernel
def exact_dot(a, b, start, more):
    """start + more + aᵀb, summed in pairs and rounded once; what overflows is summed as it is."""
    s, low = two_sum(start, more)
    for i in range(a.size):
        p, lost = two_product(a[i], b[i])
        s, e = two_sum(s, p)
        low += lost + e
    if math.isfinite(s + low):
        return s + low
    s = start + more
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@kernel(inline=True)
def pair_quotient(a, a_low, b, b_low):
    """(a + a_low)/(b + b_low) as a pair."""
    q = a / b
    p, e = pair_product(q, 0.0, b, b_low)
    return two_sum(q, (((a - p) - e) + a_low) / b)


@kernel(inline=True)
def pair_root(a, a_low):
    """√(a + a_low) as a pair, for a > 0."""
    r = math.sqrt(a)
    p, e = two_product(r, r)
    return two_sum(r, (((a - p) - e) + a_low) / (2.0 * r))


@kernel(inline=True)
def pair_exp(x, x_low):
    """eˣ as a pair: infinite or 0 where it leaves the float64; a NaN stays one."""
    if not x <= LARGEST:
        return x * math.inf, 0.0
    if x < SMALLEST:
        return 0.0, 0.0
    k = math.floor(x * PER_LOG_2 + 0.5)
    high, low = two_sum(x, -k * LOG_2_HIGH)
    high, lost = two_sum(high, -k * LOG_2_MIDDLE)
    high, last = two_sum(high, x_low)
    r, r_low = two_sum(high, (low + lost) + (last - k * LOG_2_LOW))
    r, r_low = r / 2.0**DOUBLINGS, r_low / 2.0**DOUBLINGS
    tail = TERMS[DEGREE]
    for i in range(DEGREE - 1, PAIRED, -1):
        tail = tail * r + TERMS[i]
    s, s_low = pair_sum(TERMS[PAIRED], TERMS_LOW[PAIRED], tail * r, 0.0)
    for i in range(PAIRED - 1, 0, -1):
        s, s_low = pair_product(s, s_low, r, r_low)
        s, s_low = pair_sum(TERMS[i], TERMS_LOW[i], s, s_low)
    s, s_low = pair_product(s, s_low, r, r_low)
    for _ in range(DOUBLINGS):
        square, square_low = pair_product(s, s_low, s, s_low)
        s, s_low = pair_sum(2.0 * s, 2.0 * s_low, square, square_low)
    s, s_low = pair_sum(1.0, 0.0, s, s_low)
    power = int(k)
    high = math.ldexp(s, power)
    return high, math.ldexp(s_low, power) if high < math.inf else 0.0
