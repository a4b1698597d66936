import dataclasses
import json

import pytest

import thalweg as tw
from thalweg.methods.search import search_of

LINES = (tw.StrongWolfe, tw.Armijo)
BY_LINES, BY_STEPS = ("lbfgs", "bfgs", "newton"), ("gd", "nesterov", "heavy-ball", "fista")


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (tw.StrongWolfe(), "strong-wolfe"),
        (tw.StrongWolfe(curvature=0.1), "strong-wolfe[curvature=0.1]"),
        (tw.StrongWolfe(1e-3, 0.5, 7), "strong-wolfe[decrease=0.001, curvature=0.5, trials=7]"),
        (tw.Armijo(shrink=0.3), "armijo[shrink=0.3]"),
        (tw.Backtracking(growth=1.0), "backtracking[growth=1.0]"),
    ],
)
def test_a_search_is_read_back_from_its_text(search, text):
    assert str(search) == text
    assert search_of(text, (*LINES, tw.Backtracking)) == search


def test_none_is_left_to_the_method():
    assert search_of(None, LINES) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (0.5, r"search must be tw.StrongWolfe\(\) or tw.Armijo\(\), got 0.5"),
        (tw.Backtracking(), r"search must be tw.StrongWolfe\(\) or tw.Armijo\(\), got Backtrack"),
        ("strong-wolf", "got 'strong-wolf': did you mean 'strong-wolfe'"),
        ("backtracking", "got 'backtracking': "),
        ("armijo[srink=0.5]", "armijo has no option 'srink': did you mean 'shrink'"),
        ("armijo[shrink=2]", r"shrink must be in \(0, 1\), got 2.0"),
        ("armijo[shrink", "a name must read name or name"),
    ],
)
def test_what_is_no_search_is_refused_with_a_sentence(given, says):
    with pytest.raises(tw.InputError, match=says):
        tw.LBFGS(search=given)


@pytest.mark.parametrize("name", sorted(tw.METHODS))
def test_the_methods_that_search_take_one(name):
    method = tw.METHODS[name]
    expected = LINES if name in BY_LINES else (tw.Backtracking,) if name in BY_STEPS else ()
    assert method.searches == expected
    assert ("search" in {field.name for field in dataclasses.fields(method)}) == bool(expected)


@pytest.mark.parametrize("name", BY_LINES + BY_STEPS)
def test_options_are_plain_text_that_makes_the_same_method(name):
    method = tw.METHODS[name](search=tw.METHODS[name].searches[-1](shrink=0.25))
    options = json.loads(json.dumps(method.options))
    assert options["search"].endswith("[shrink=0.25]")
    assert tw.METHODS[name](**options) == method


@pytest.mark.parametrize("name", BY_LINES + BY_STEPS)
def test_the_usual_search_given_is_the_usual_run_where_no_step_is_known(name):
    usual = tw.Backtracking(growth=1.1) if name == "heavy-ball" else tw.METHODS[name].searches[0]()
    plain, given = (
        tw.minimize(
            tw.surfaces.Rosenbrock(), tw.METHODS[name](search=search), [-1.2, 1.0], max_iter=30,
            progress=False,
        )
        for search in (None, usual)
    )  # fmt: skip
    assert given.w.tolist() == plain.w.tolist()
    assert given.counts == plain.counts


@pytest.mark.parametrize("name", BY_LINES + BY_STEPS)
def test_a_run_with_a_search_of_ones_own_arrives_and_resumes(name, tmp_path):
    method = tw.METHODS[name](search=tw.METHODS[name].searches[-1](shrink=0.3))
    surface = tw.surfaces.Quadratic((1.0, 20.0), rotation=0.4)

    def run(**options):
        return tw.minimize(
            surface, method, [3.0, -2.0], **{"max_iter": 5_000, **options}, progress=False
        )

    whole = run()
    assert whole.outcome is tw.Outcome.CONVERGED, whole.reason
    file = tmp_path / "run.ckpt"
    run(max_iter=1, checkpoint=file)
    assert run(checkpoint=file).w.tolist() == whole.w.tolist()
    whole.save(tmp_path / "run")
    assert tw.Run.load(tmp_path / "run").options == method.options
    if whole.iterations > 1:
        with pytest.raises(tw.InputError, match="belongs to another run"):
            tw.minimize(surface, name, [3.0, -2.0], checkpoint=file, progress=False)


@pytest.mark.parametrize("name", BY_STEPS)
def test_a_search_is_made_even_where_the_step_is_known(name):
    surface = tw.surfaces.Quadratic((1.0, 20.0))  # knows L = 20, and is far flatter along this way
    fixed, searched = (
        tw.minimize(surface, tw.METHODS[name](search=search), [1.0, 0.0], max_iter=1).w[0]
        for search in (None, "backtracking")
    )
    assert searched < 0.1 < fixed


@pytest.mark.parametrize("name", BY_STEPS)
def test_a_step_beside_a_search_and_a_search_in_noise_are_refused(name):
    with pytest.raises(tw.InputError, match=r"step must be left out beside a search, .* got 0\.1"):
        tw.METHODS[name](step=0.1, search="backtracking")
    noisy = tw.surfaces.Quadratic((1.0, 20.0)).noisy(0.1)
    with pytest.raises(tw.InputError, match="needs a step where gradients are noisy"):
        tw.minimize(noisy, tw.METHODS[name](search="backtracking"), [1.0, 1.0])


def test_text_on_the_command_line():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "lbfgs[search=strong-wolfe[curvature=0.1]]")
    assert run.options["search"] == "strong-wolfe[curvature=0.1]"
