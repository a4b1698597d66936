"""Projection on a ball: the nearest point to w among those of norm at most r.

    P(w) = w·min(1, r/‖w‖)

r ≥ 0 is the radius. After every step it keeps w in the ball; on a unit's incoming weights it is the
max-norm constraint of lecture A. It is the same map as clipping by norm, with which it shares its
safety against overflow; a w with NaN or infinite entries comes back unchanged.

Srebro & Shraibman, COLT 2005; Srivastava et al., JMLR 15 (2014), Section 5.1.
"""

from thalweg.rules.clip import clip_by_norm


def project_ball(w, radius):
    """The point nearest to `w` with norm at most `radius`: `w` itself if it is inside.

    `w` is a NumPy array or torch tensor, float32 or float64, and is not changed.
    """
    return clip_by_norm(w, radius)
