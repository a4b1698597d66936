import math

import pytest

import thalweg as tw
from drawings import parsed, plan_of, run_of
from thalweg.core.certificate import Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.ranking import Contender
from thalweg.reports.heading import (
    TONES,
    distance,
    header,
    sentence_of,
    standings,
    title_of,
    why,
    winner,
)
from thalweg.reports.subject import Subject

OPEN = Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=1.0)
NONE = Certificate("none", False, 1.0, math.nan, "none", "losses")


def test_a_word_has_its_tone():
    assert {word: TONES[word] for word in ("CONVERGED", "STOPPED", "SADDLE")} == {
        "CONVERGED": "good", "STOPPED": "warn", "SADDLE": "bad",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("run", "word", "tone"),
    [
        (run_of(), "CERTIFIED", "good"),
        (run_of(certificate=OPEN, outcome=Outcome.TIME_LIMIT), "NOT CERTIFIED", "warn"),
        (run_of(certificate=NONE, outcome=Outcome.FINISHED), "FINISHED", "info"),
        (run_of(certificate=NONE, outcome=Outcome.DIVERGED), "DIVERGED", "bad"),
    ],
)
def test_one_word(run, word, tone):
    page = header(Subject((run,)))
    assert word in page
    assert f"verdict {tone}" in page
    parsed(f"<header>{page}</header>")


def test_the_sentence_says_what_is_proved_or_why_not():
    assert sentence_of(Contender(run_of())) == "The tolerance was reached. that."
    stopped = run_of(certificate=OPEN, outcome=Outcome.TIME_LIMIT, reason="Too late.")
    assert sentence_of(Contender(stopped)) == "Too late."


def test_a_real_saddle():
    surface = tw.surfaces.Saddle()
    run = tw.minimize(surface, "gd", [0.0, 0.0])
    assert "SADDLE" in header(Subject((run,), point=tw.classify(surface, run.w)))


def test_the_first_of_several_runs_won():
    slow, fast = run_of("gd", [3, 2, 1, 1]), run_of("newton", [3, 1])
    near = run_of("sgd", [3, 1.5], certificate=OPEN, outcome=Outcome.ITERATION_LIMIT)
    far = run_of("adam", [3, 2.5], certificate=OPEN, outcome=Outcome.ITERATION_LIMIT)
    order = Subject((far, slow, near, fast)).ranked
    table = standings(order)
    assert table.index("newton") < table.index("gd") < table.index("adam")
    assert winner(order) == "newton won: certified after 100 ms, 3× faster than gd, the second."
    assert winner(Subject((fast, near)).ranked).endswith("alone among 2 runs.")
    said = winner(Subject((near, far)).ranked)
    assert said.startswith("None of 2 runs reached its tolerance; sgd reached")
    assert "different objectives" in winner(Subject((fast, run_of(objective="g"))).ranked)


def test_trainings_are_told_by_what_they_were_judged_by():
    runs = tuple(
        run_of(name, [3, loss], certificate=NONE, outcome=Outcome.FINISHED)
        for name, loss in (("sgd", 1.0), ("adam", 2.0))
    )
    scores = tuple({"held out": {"mean recall": recall}} for recall in (0.5, 0.75))
    assert winner(Subject(runs, scores_of_runs=scores).ranked) == (
        "adam won: mean recall 0.75 on held-out rows, before sgd, mean recall 0.5 on held-out rows."
    )
    assert winner(Subject(runs).ranked) == "sgd won: loss 1, before adam, loss 2."


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
