import math
from types import SimpleNamespace

import pytest

import thalweg as tw
from drawings import parsed, plan_of, run_of
from thalweg.core.certificate import Certificate
from thalweg.core.outcome import Outcome
from thalweg.reports.subject import Subject
from thalweg.reports.verdict import (
    distance,
    header,
    ranked,
    standings,
    title_of,
    verdict_of,
    why,
    winner,
)

OPEN = Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=1.0)
STATIONARY = Certificate("stationarity", True, 0.0, 1e-5, "flat", "stationary", "more")
NONE = Certificate("none", False, 1.0, math.nan, "none", "losses")


@pytest.mark.parametrize(
    ("run", "word", "tone"),
    [
        (run_of(), "CERTIFIED", "good"),
        (run_of(certificate=STATIONARY), "CONVERGED", "good"),
        (run_of(certificate=OPEN, outcome=Outcome.TIME_LIMIT), "NOT CERTIFIED", "warn"),
        (run_of(certificate=NONE, outcome=Outcome.FINISHED), "FINISHED", "info"),
        (run_of(certificate=NONE, outcome=Outcome.EARLY_STOPPED), "FINISHED", "info"),
        (run_of(certificate=NONE, outcome=Outcome.DIVERGED), "DIVERGED", "bad"),
    ],
)
def test_one_word(run, word, tone):
    found = verdict_of(run)
    assert (found.word, found.tone) == (word, tone)
    page = header(Subject((run,)))
    assert word in page
    assert f"verdict {tone}" in page
    parsed(f"<header>{page}</header>")


def test_a_saddle_outdoes_a_small_gradient_but_not_divergence():
    saddle = SimpleNamespace(kind="saddle", explanation="curvatures of both signs")
    assert verdict_of(run_of(), saddle) == ("SADDLE", "Curvatures of both signs.")
    assert verdict_of(run_of(outcome=Outcome.DIVERGED), saddle).word == "DIVERGED"
    assert verdict_of(run_of(), SimpleNamespace(kind="minimum", explanation="")).word == "CERTIFIED"


def test_a_real_saddle():
    surface = tw.surfaces.Saddle()
    run = tw.minimize(surface, "gd", [0.0, 0.0])
    assert verdict_of(run, tw.classify(surface, run.w)).word == "SADDLE"


def test_the_fastest_of_those_that_got_there_is_first():
    slow, fast = run_of("gd", [3, 2, 1, 1]), run_of("newton", [3, 1])
    near = run_of("sgd", [3, 1.5], certificate=OPEN, outcome=Outcome.ITERATION_LIMIT)
    far = run_of("adam", [3, 2.5], certificate=OPEN, outcome=Outcome.ITERATION_LIMIT)
    left = run_of("svrg", [3, math.nan], certificate=OPEN, outcome=Outcome.DIVERGED)
    order = ranked([left, far, slow, near, fast])
    assert [run.method for run in order] == ["newton", "gd", "sgd", "adam", "svrg"]
    table = standings(order)
    assert table.index("newton") < table.index("gd") < table.index("svrg")
    assert winner(order) == "newton won: certified after 100 ms, 3× faster than gd, the second."
    assert winner([fast, near]).endswith("alone among 2 runs.")
    assert winner([near, far]).startswith("None of 2 runs reached its tolerance; sgd reached")
    assert "different objectives" in winner([fast, run_of(objective="g")])


def test_why_this_method():
    plan = plan_of(("newton", "lbfgs", "gd"))
    assert why(run_of("newton", plan=plan)) == (
        "newton was chosen because it was predicted to be done first: in 1 ms, before lbfgs in "
        "10 ms."
    )
    assert why(run_of("gd", plan=plan)) == (
        "gd was asked for; the plan has newton first, with 1 ms predicted instead of 100 ms."
    )
    assert why(run_of("adam", plan=plan)) == "adam was asked for; the plan has newton first."
    assert "there was no plan" in why(run_of("gd"))
    assert "only method" in why(run_of("newton", plan=plan_of(("newton",))))


def test_titles():
    assert title_of(Subject((run_of(),), title="Mine")) == "Mine"
    assert title_of(Subject((run_of(),))) == "gd on f"
    assert title_of(Subject((run_of(), run_of("adam")))) == "2 methods on f"
    assert title_of(Subject((run_of(), run_of(objective="g")))) == "gd compared"


def test_the_distance_is_the_gap_or_the_gradient():
    assert distance(run_of()) == ("gap", 1e-6)
    label, norm = distance(run_of(values=[4.0, 1.0], gap=None))
    assert (label, norm) == ("‖∇f‖∞", 1.0)


def test_scores_and_numbers_are_told():
    page = header(Subject((run_of(),), scores={"validation": {"accuracy": 0.9731}}))
    for text in (">accuracy<", ">validation<", "0.9731", "1e-06", "allowed: 1e-05", "4.9 s", "49"):
        assert text in page, text


def test_what_compiling_took_is_in_no_time():
    one, two = run_of("gd", compiled=1.5), run_of("lbfgs", compiled=2.5)
    assert "compiled 1.5 s, once" in header(Subject((one,)))
    page = header(Subject((one, two)))
    assert "Compiling took 4 s, once; it is in none of these times." in page
    assert "ompil" not in header(Subject((run_of(compiled=0.1),)))
    assert "ompil" not in header(Subject((run_of(compiled=0.1), run_of("lbfgs"))))
