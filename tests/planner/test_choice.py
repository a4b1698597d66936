import thalweg as tw
from thalweg.planner.choice import choose


def test_what_the_objective_offers_decides():
    surface = tw.surfaces.Quadratic()
    assert choose(tw.Regularized(surface, l1=0.1)) == tw.FISTA()
    assert choose(surface.noisy(1.0)) == tw.Adam(schedule="1/sqrt(t)")
    assert choose(surface) == tw.LBFGS()


def test_auto_solves_all_three():
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    assert tw.minimize(surface, "auto", [1.0, 1.0]).converged
    assert tw.minimize(tw.Regularized(surface, l1=0.1), w0=[1.0, 1.0]).converged
    noisy = tw.minimize(surface.noisy(0.1), w0=[1.0, 1.0], max_iter=2000)
    assert noisy.value < 1e-2
