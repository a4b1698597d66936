"""The zoos of benchmarks/doctor: what is in them, what is held out, how their loops behave."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
import torch
from doctor.changes import CHANGES
from doctor.data import Data, Split
from doctor.faulty import FAULTY
from doctor.healthy import HEALTHY, make
from doctor.judge import judge, loop_alone, watch_of
from doctor.loop import run
from doctor.losses import score
from doctor.program import changed
from doctor.recipe import pair_of, recipe_of
from doctor.sources import FLOORS, SOURCES

from doctor import measure, zoo
from thalweg.doctor.causes import CAUSES

BY_NAME = {program.name: program for program in zoo.PROGRAMS}


def test_there_are_enough_programs_with_names_of_their_own():
    assert len(HEALTHY) >= 120
    assert len(FAULTY) >= 120
    assert len(BY_NAME) == len(zoo.PROGRAMS)
    assert set(SOURCES) == set(FLOORS) == {program.data.source for program in HEALTHY}


def test_programs_are_different():
    records = [
        repr(dataclasses.replace(program, name="", seed=0, floor=None, fault=None, twin=None))
        for program in zoo.PROGRAMS
    ]
    assert [record for record, count in Counter(records).items() if count > 1] == []


def test_every_cause_is_there_and_every_fault_is_explained():
    assert {program.fault.cause for program in FAULTY} == set(CAUSES)
    for program in FAULTY:
        fault = program.fault
        assert set(fault.alternatives) <= set(CAUSES) - {fault.cause}, program.name
        assert fault.alternatives, program.name
        assert fault.why, program.name
        assert fault.source, program.name


def test_a_family_has_one_cause_and_several_programs():
    for family in zoo.families():
        programs = [program for program in FAULTY if program.family == family]
        assert len({program.fault for program in programs}) == 1
        assert len(programs) >= 2


def test_a_twin_is_the_same_healthy_program_without_the_fault():
    for program in FAULTY:
        assert program.twin in HEALTHY
        assert program.seed == program.twin.seed
        assert program.data.source == program.twin.data.source
        healed = dataclasses.replace(
            program.twin, name=program.name, fault=program.fault, twin=program.twin, floor=None
        )
        assert healed != program


def test_what_is_held_out_follows_the_rule():
    """A change of this list is a change of what the thresholds may be set on."""
    assert zoo.written() == zoo.by_rule()


def test_a_third_is_held_out_and_families_are_not_divided():
    held = [program for program in FAULTY if zoo.is_held_out(program)]
    rest = [program for program in FAULTY if not zoo.is_held_out(program)]
    assert {p.family for p in held}.isdisjoint(p.family for p in rest)
    assert len({p.family for p in held}) == round(len(zoo.families()) / 3)
    assert sum(map(zoo.is_held_out, HEALTHY)) == round(len(HEALTHY) / 3)


def test_third_takes_those_whose_hashes_come_first():
    # echo -n a | sha256sum: ca97…; b: 3e23…; c: 2e7d…
    assert zoo.third(["a", "b", "c"]) == ["c"]


def test_stored_numbers_are_those_of_the_healthy_and_of_the_faulty():
    numbers = measure.stored()
    assert set(numbers) == set(BY_NAME)
    for program in HEALTHY:
        assert measure.ailments(program, numbers[program.name]) == [], program.name
    for program in FAULTY:
        amount = measure.harm(program, numbers[program.name], numbers[program.twin.name])
        assert amount >= program.fault.margin, program.name


def tiny(**new):
    return changed(
        make("tiny", "plane", "linear", loss="squared", optimizer="sgd", learning_rate=0.1),
        **{"rows": 12, "batch_size": 4, "epochs": 1, "shuffle": False, **new},
    )


def by_hand(program, *, zero_grad=True, sign=1.0, accumulate=1, divides=True):
    """The same three steps, with the gradient of ½(xᵀw + b − y)² written out."""
    data = program.split()
    torch.manual_seed(program.seed)
    model = program.model(data)
    layer = model[1]
    w, b = layer.weight.detach()[0].clone(), layer.bias.detach().clone()
    sums = [torch.zeros_like(w), torch.zeros_like(b)]
    for k, start in enumerate(range(0, 12, 4)):
        x, y = data.x[start : start + 4], data.y[start : start + 4]
        error = sign * (x @ w + b - y) / (accumulate if divides else 1)
        if zero_grad and k % accumulate == 0:
            sums = [torch.zeros_like(w), torch.zeros_like(b)]
        sums = [sums[0] + (error @ x) / 4, sums[1] + error.mean()]
        if (k + 1) % accumulate == 0 or start == 8:
            w, b = w - 0.1 * sums[0], b - 0.1 * sums[1]
    return torch.cat([w, b])


@pytest.mark.parametrize(
    "loop",
    [
        {},
        {"zero_grad": False},
        {"sign": -1.0},
        {"accumulate": 2},
        {"accumulate": 2, "divides": False},
    ],
    ids=str,
)
def test_the_loop_takes_the_steps_that_it_says(loop):
    program = tiny(**loop)
    layer = run(program).model[1]
    ended = torch.cat([layer.weight.detach()[0], layer.bias.detach()])
    torch.testing.assert_close(ended, by_hand(program, **loop))


def test_a_run_replays_and_leaves_the_generator_alone():
    program = changed(BY_NAME["digits-strong-dropout"], epochs=1)
    before = torch.random.get_rng_state()
    first, second = run(program), run(program)
    assert first.training_loss == second.training_loss
    assert first.score == second.score
    assert torch.equal(torch.random.get_rng_state(), before)


class Watch:
    def __init__(self):
        self.values, self.epochs, self.is_open = [], [], False

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, *_):
        self.is_open = False

    def step(self, loss, targets=None):
        assert self.is_open
        assert len(targets) > 0
        self.values.append(loss.item())

    def validate(self, loss):
        self.epochs.append(loss)


def test_a_watch_is_told_of_every_step():
    watch = Watch()
    result = run(tiny(), watch)
    assert len(watch.values) == result.steps == 3
    assert np.mean(watch.values) == pytest.approx(result.training_loss[0])
    assert watch.epochs == list(result.validation_loss)
    assert not watch.is_open
    assert len(watch.values) == 3
    watched = []
    accumulated = run(tiny(accumulate=2), lambda model, optimizer: watched.append(model) or Watch())
    assert accumulated.steps == 2
    assert watched == [accumulated.model]


def test_labels_drawn_apart_and_clipped_steps():
    assert run(tiny(aligned=False)).training_loss != run(tiny()).training_loss
    start = torch.cat([p.flatten() for p in _first_weights(tiny())])
    ended = run(tiny(clip_norm=0.01)).model[1]
    moved = torch.cat([ended.weight.detach()[0], ended.bias.detach()]) - start
    assert float(moved.norm()) <= 3 * 0.1 * 0.01 * (1 + 1e-5)


def _first_weights(program):
    torch.manual_seed(program.seed)
    return [p.detach() for p in program.model(program.split()).parameters()]


def test_modes_are_those_that_the_loop_says():
    norm = BY_NAME["circles-batch-norm"]
    trained = run(changed(norm, epochs=1)).model
    asleep = run(changed(norm, epochs=1, trains_in="eval")).model
    assert int(trained[2].num_batches_tracked) > 0 == int(asleep[2].num_batches_tracked)
    waking = run(changed(norm, epochs=1, trains_in="eval", evaluates_in="train")).model
    assert int(waking[2].num_batches_tracked) == 1  # the evaluation, which should leave no trace


def test_a_rate_that_falls_and_one_that_rises():
    # One full batch an epoch; a linear loss moves by the rate.
    still = tiny(batch_size=12, epochs=3, decay=1e-9)
    once = tiny(batch_size=12, epochs=1)
    torch.testing.assert_close(run(still).model[1].weight, run(once).model[1].weight)
    warmed, start = tiny(batch_size=12, epochs=1, warmup=4), _first_weights(once)[0]
    ratio = (run(warmed).model[1].weight - start) / (run(once).model[1].weight - start)
    torch.testing.assert_close(ratio, torch.full_like(ratio, 0.25), rtol=1e-3, atol=0)


def test_detached_and_frozen_layers_do_not_move():
    program = changed(BY_NAME["sine-gelu"], epochs=1)
    for new, still, moving in (({"detached": 2}, (1, 3), 6), ({"frozen": 1}, (1,), 3)):
        ill = changed(program, **new)
        torch.manual_seed(ill.seed)
        start, ended = ill.model(ill.split()), run(ill).model
        for place in still:
            assert torch.equal(start[place].weight, ended[place].weight)
        assert not torch.equal(start[moving].weight, ended[moving].weight)


def arrays():
    x = np.arange(12.0).reshape(6, 2)
    return Split(x, np.array([1, 0, 1, 0, 1, 1]), -x, np.arange(6) % 2, -x, np.arange(6) % 2, 2)


def after(name, amount):
    return CHANGES[name](arrays(), amount, np.random.default_rng(0))


def test_changes_by_hand():
    np.testing.assert_array_equal(after("sort", 0.0).y, [0, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(after("sort", 0.0).x[0], [2.0, 3.0])
    np.testing.assert_array_equal(after("roll labels", 1.0).y, [1, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(after("imbalance", 0.25).y, [1, 0, 0])
    np.testing.assert_array_equal(after("scale", 3.0).x_fresh, -3.0 * arrays().x)
    np.testing.assert_allclose(after("spread columns", 0.01).x, arrays().x * [1.0, 0.01])
    assert np.ptp(after("one row", 0.0).x_val, axis=0).max() == 0.0
    leaked = after("leak label", 2.0)
    np.testing.assert_array_equal(leaked.x[:, 2], 2.0 * leaked.y)
    np.testing.assert_array_equal(leaked.x_val[:, 2], 2.0 * leaked.y_val)
    assert not np.array_equal(leaked.x_fresh[:, 2], 2.0 * leaked.y_fresh)
    seen = after("leak rows", 0.0)
    assert {tuple(row) for row in seen.x_val} <= {tuple(row) for row in seen.x}
    np.testing.assert_array_equal(seen.x_fresh, arrays().x_fresh)


def test_scaling_looks_at_training_rows_alone():
    data = Data("wine", rows=40)
    x = changed(BY_NAME["wine-relu-adam"], data=data).split().x
    torch.testing.assert_close(x.mean(0), torch.zeros(13), rtol=0, atol=1e-5)
    torch.testing.assert_close(x.std(0, correction=0), torch.ones(13), rtol=0, atol=1e-5)


def test_scores_by_hand():
    classes, regression = BY_NAME["iris-linear"], BY_NAME["plane-linear-sgd"]
    output = torch.eye(3)[[0, 0, 0, 1, 0, 0]]
    # Recalls of 3/3, 1/2 and 0/1.
    assert score(classes, output, torch.tensor([0, 0, 0, 1, 1, 2]), 3) == pytest.approx(0.5)
    y = torch.tensor([0.0, 2.0])
    assert score(regression, torch.tensor([[1.0], [1.0]]), y, 0) == pytest.approx(0.0)
    assert score(regression, torch.tensor([[0.0], [1.0]]), y, 0) == pytest.approx(0.5)
    assert score(regression, torch.tensor([[math.nan], [1.0]]), y, 0) == -1.0


def test_a_recipe_builds_the_same_network():
    said = 0
    for program in zoo.PROGRAMS:
        recipe = recipe_of(program)
        if recipe is None:
            continue
        said += 1
        data = program.split()
        shapes = [tuple(p.shape) for p in program.model(data).parameters()]
        outputs = 1 if program.has_one_output else data.classes
        built = recipe.build(data.x.shape[1:], outputs)
        assert [tuple(p.shape) for p in built.parameters()] == shapes, program.name
    assert said > len(zoo.PROGRAMS) // 2


def test_a_recipe_reaches_what_its_program_reaches():
    program = BY_NAME["wine-relu-adam"]
    model, _ = recipe_of(program).train(pair_of(program), progress=False)
    data = program.split()
    reached = score(program, model.eval()(data.x_val), data.y_val, data.classes)
    assert reached == pytest.approx(run(program).score, abs=0.05)


def test_faults_of_the_loop_have_no_recipe():
    assert recipe_of(BY_NAME["forgotten zero_grad/digits-tanh-sgd"]) is None
    assert recipe_of(BY_NAME["softmax before cross-entropy/digits-relu-adam"]) is None
    ill = recipe_of(BY_NAME["adaptive rate of ones/digits-relu-adam"])
    well = recipe_of(BY_NAME["digits-relu-adam"])
    assert well.difference(ill) == "learning_rate: 0.001 → 1.0"


def test_an_unknown_field_is_refused():
    with pytest.raises(TypeError, match="no field \\['learning'\\]"):
        changed(BY_NAME["digits-relu-adam"], learning=1.0)


def test_the_doctor_on_a_healthy_program_and_on_a_faulty_one():
    whole = {"rows": 200, "epochs": 20, "shuffle": True, "batch_size": 20}
    verdict = judge(tiny(**whole))
    assert verdict.causes == verdict.by_loop_alone == ()
    verdict = judge(tiny(**whole, zero_grad=False))
    assert verdict.causes[0] == verdict.by_loop_alone[0] == "forgotten zero_grad"
    assert "zero_grad" in verdict.said


def test_the_loop_alone_knows_nothing_of_data_and_curvature():
    watches = []

    def watch(model, optimizer):
        watches.append(watch_of(tiny(), model, optimizer))
        return watches[0]

    run(tiny(), watch)
    record = watches[0].record
    bare = loop_alone(record)
    assert "data_size" in record.scalars
    assert not [name for name in bare.scalars if name.startswith(("data_", "trained_", "small_"))]
    assert np.isnan(bare["hessian_largest"]).all()
    assert bare["loss"].tolist() == record["loss"].tolist()
