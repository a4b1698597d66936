import pytest
import torch

import thalweg as tw
from small_nets import digits
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.doctor import causes
from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.score import score
from thalweg.doctor.nets.treatment.arms import Arms
from thalweg.doctor.nets.treatment.proof import helps
from thalweg.doctor.nets.treatment.treat import examine, treat

X, Y = digits()
DATA, HELD = (X[:250], Y[:250]), (X[300:500], Y[300:500])
FAIR = tw.nets.Recipe(
    layers="mlp:16", scaling="z-score", learning_rate=0.03, epochs=3, batch_size=50
)
WILD = FAIR.changed(learning_rate=30.0)
BLANK = FAIR.changed(initializer="zeros")


def says(*names, severity=Severity.ACT):
    """A doctor that finds this, as long as there is anything to find."""

    def diagnose(recipe, data, validation):
        return [Finding(name, severity, f"{name} it is", 1.0, 0.0) for name in names]

    return diagnose


def once(*names):
    """A doctor that is content with whatever comes of the first remedy."""
    visits = []

    def diagnose(recipe, data, validation):
        visits.append(recipe)
        return says(*names)(recipe, data, validation) if len(visits) == 1 else []

    return diagnose


def test_a_remedy_that_is_kept_helps_on_rows_and_seeds_that_it_never_saw():
    treatment = treat(BLANK, DATA, 20, validation=HELD, diagnose=once(causes.SYMMETRIC))
    assert treatment.is_treated
    assert treatment.difference == "initializer: zeros → he"
    assert treatment.fault.name == causes.SYMMETRIC
    (kept,) = treatment.accepted
    assert helps(kept.proof)
    assert helps(kept.confirmation)
    assert treatment.left == ()
    fresh = (X[500:], Y[500:])
    before, after = (
        score(recipe, recipe.changed(seed=99).train(DATA, progress=False).model, fresh)
        for recipe in (treatment.recipe, treatment.treated)
    )
    assert after - before > 0.3
    # The gain is the paired difference of trainings that anybody can do again.
    seeds = range(1 + 6, 1 + 6 + 3)  # those of the confirmation
    arms = Arms(BLANK, DATA, HELD, 99)
    assert kept.confirmation.differences == tuple(
        arms.train(treatment.treated, seed).score - arms.train(BLANK, seed).score for seed in seeds
    )
    assert treatment.gain.differences == kept.confirmation.differences


def test_a_useless_remedy_is_rejected_and_reverted():
    idle = Remedy("another order", 1, lambda recipe, data: recipe.changed(clip_norm=1e9))
    worse = Remedy("a network of one unit", 1, lambda r, data: r.changed(layers="mlp:1"))
    treatment = treat(
        FAIR, DATA, 30, validation=HELD, diagnose=says("idle"), remedies=lambda cause: (idle, worse)
    )
    assert treatment.treated == FAIR
    assert not treatment.is_treated
    assert treatment.gain is None
    assert [trial.remedy for trial in treatment.rejected] == [idle.name, worse.name]
    assert "+0.000 in one pair" in treatment.rejected[0].outcome
    assert "NO REMEDY PROVED" in str(treatment)


def test_luck_in_one_pair_is_not_proved():
    """A remedy that only has another seed's luck."""
    lucky = Remedy("another seed", 1, lambda r, data: r.changed(optimizer_options={"eps": 1e-7}))
    seeds = [
        seed
        for seed in range(6)
        if treat(
            FAIR, DATA, 30, validation=HELD, seed=10 * seed, diagnose=once("luck"),
            remedies=lambda cause: (lucky,),
        ).is_treated
    ]  # fmt: skip
    assert seeds == []


def test_several_faults_are_treated_one_after_the_other():
    offers = {
        "slow": (Remedy("faster", 1, lambda r, data: r.changed(learning_rate=0.03)),),
        "short": (Remedy("longer", 1, lambda r, data: r.changed(epochs=3)),),
    }
    hasty = FAIR.changed(learning_rate=1e-3, epochs=1)
    treatment = treat(
        hasty, DATA, 80, validation=HELD, diagnose=says("slow", "short"), remedies=offers.get
    )
    assert [trial.remedy for trial in treatment.accepted] == ["faster", "longer"]
    assert treatment.treated == FAIR
    assert helps(treatment.gain)
    assert treatment.gain.mean > treatment.accepted[0].confirmation.mean
    assert "together" in str(treatment)


def test_faults_of_which_neither_helps_without_the_other_are_left():
    both = BLANK.changed(learning_rate=1e-7)
    doctor = says(causes.RATE_SMALL, causes.SYMMETRIC)
    assert not treat(both, DATA, 20, validation=HELD, diagnose=doctor).is_treated


def test_a_kept_change_that_is_not_needed_any_more_is_taken_back():
    part = Remedy("part of it", 1, lambda r, data: r.changed(learning_rate=0.003))
    whole = Remedy("all of it", 1, lambda r, data: r.changed(learning_rate=0.03))
    offers = iter([(part,), (whole,), ()])
    treatment = treat(
        FAIR.changed(learning_rate=1e-4), DATA, 60, validation=HELD, diagnose=says("x"),
        remedies=lambda cause: next(offers),
    )  # fmt: skip
    assert [trial.remedy for trial in treatment.accepted] == [whole.name]
    assert "not needed beside the others: +0.000" in treatment.rejected[-1].outcome
    assert treatment.gain.mean > treatment.accepted[0].confirmation.mean


@pytest.mark.parametrize("budget", [1, 5, 13, 16.5, 24])
def test_the_budget_is_never_exceeded(budget, monkeypatch):
    spent = []
    run = Arms._run

    def counted(self, recipe, ahead):
        arm, share = run(self, recipe, ahead)
        spent.append(share * self.length(recipe))
        return arm, share

    monkeypatch.setattr(Arms, "_run", counted)
    doctor = says(causes.RATE_LARGE)
    treatment = treat(WILD, DATA, budget, validation=HELD, diagnose=doctor)
    assert treatment.trainings <= budget
    visits = 1 if not treatment.is_treated else 2
    assert treatment.trainings <= sum(spent) + visits
    if budget < 14:
        assert not treatment.is_treated
        assert "no budget to prove it" in str(treatment) or budget == 1


def test_the_same_seed_gives_the_same_treatment():
    first, again, other = (
        treat(BLANK, DATA, 15, seed=seed, diagnose=once(causes.SYMMETRIC)) for seed in (3, 3, 4)
    )
    plain = [{**v.to_dict(), "seconds": 0} for v in (first, again)]
    assert plain[0] == plain[1]
    assert "50 of 250 rows, held out of the data" in first.measure
    assert other.accepted[0].proof != first.accepted[0].proof


def test_without_a_finding_nothing_is_tried():
    for doctor in (says(), says(causes.RATE_LARGE, severity=Severity.WARN)):
        treatment = treat(FAIR, DATA, 20, validation=HELD, diagnose=doctor)
        assert (treatment.treated, treatment.findings, treatment.rejected) == (FAIR, (), ())
        assert treatment.trainings == 1.0
        assert str(treatment).startswith("NOTHING FOUND")


def test_a_cause_without_remedies_is_named_and_left():
    treatment = treat(FAIR, DATA, 20, validation=HELD, diagnose=says(causes.LEAKING))
    assert treatment.fault.name == causes.LEAKING
    assert treatment.rejected == ()


def test_examine_trains_once_under_a_watch():
    findings, trained = examine(FAIR, DATA, HELD)
    assert [finding.name for finding in findings] == [causes.OVERFITTING]
    plain = FAIR.train(DATA, HELD, progress=False)
    assert torch.equal(trained.model[-1].weight, plain.model[-1].weight)
    nan = FAIR.changed(optimizer="sgd", learning_rate=1e30)
    assert examine(nan, DATA, HELD)[0][0].name == causes.NAN


def test_its_own_doctor_treats_what_became_nan():
    recipe = FAIR.changed(optimizer="sgd", learning_rate=1e30)
    treatment = treat(recipe, DATA, 20, validation=HELD)
    assert treatment.fault.name == causes.NAN
    assert helps(treatment.accepted[0].confirmation)
    assert treatment.treated.learning_rate < 10.0


def test_labels_that_the_loss_does_not_take_are_a_fault():
    treatment = treat(FAIR.changed(loss="binary-cross-entropy"), DATA, 20, validation=HELD)
    assert treatment.fault.name == causes.WRONG_LOSS
    assert "labels of data must be in [0, 1]" in treatment.fault.claim
    assert treatment.difference == "loss: binary-cross-entropy → cross-entropy"


def test_a_time_is_a_number_of_trainings():
    treatment = treat(FAIR, DATA, "1m", validation=HELD, diagnose=says())
    assert treatment.budget > 1.0


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"recipe": "mlp"}, "recipe must be a tw.nets.Recipe, got 'mlp'"),
        ({"budget": 0}, "budget must be at least 1, got 0.0: a diagnosis is one"),
        ({"budget": "soon"}, "budget must be a number of trainings, or a time like '90s'"),
        ({"pairs": 2}, "pairs must be a whole number, at least 3"),
        ({"data": X}, r"data must be a pair \(x, y\)"),
        ({"data": (X, Y[:3])}, "data must have at least one row and as many labels"),
        ({"validation": (X[:0], Y[:0])}, "validation must have at least one row"),
        ({"diagnose": 3}, "diagnose must be a function of recipe, data and validation"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"data": (X.reshape(600, 8, 8)[:, :1, :1], Y), "recipe": FAIR.changed(layers="conv:2")},
         "are halved to nothing"),
    ],
)  # fmt: skip
def test_sentences(asked, says):
    told = {"recipe": FAIR, "data": DATA, **asked}
    with pytest.raises(InputError, match=says):
        treat(told.pop("recipe"), told.pop("data"), told.pop("budget", 20), **told)


def test_it_is_the_doctors():
    assert tw.doctor.treat is treat
    assert tw.doctor.Treatment is type(treat(FAIR, DATA, 1, diagnose=lambda *_: []))
