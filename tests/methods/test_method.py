import dataclasses

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.method import Method

# What each numeric option must be. A new option fails the test of completeness below.
INCREMENTAL = ("iag", "sag", "saga", "svrg", "catalyst")  # a step is a number or a word there
NUMBERS = {
    ("gd", "step"): "above 0",
    ("heavy-ball", "step"): "above 0",
    ("heavy-ball", "momentum"): "in [0, 1)",
    ("nesterov", "step"): "above 0",
    ("nesterov", "momentum"): "in [0, 1)",
    ("fista", "step"): "above 0",
    ("adagrad", "lr"): "above 0",
    ("adagrad", "eps"): "above 0",
    ("rmsprop", "lr"): "above 0",
    ("rmsprop", "beta"): "in [0, 1)",
    ("rmsprop", "eps"): "above 0",
    ("adam", "lr"): "above 0",
    ("adam", "beta1"): "in [0, 1)",
    ("adam", "beta2"): "in [0, 1)",
    ("adam", "eps"): "above 0",
    ("nadam", "lr"): "above 0",
    ("nadam", "beta1"): "in [0, 1)",
    ("nadam", "beta2"): "in [0, 1)",
    ("nadam", "eps"): "above 0",
    ("nadam", "momentum_decay"): "at least 0",
    ("newton-cg", "radius"): "above 0",
    ("sgd", "step"): "above 0",
    ("sgd", "radius"): "above 0",
    ("svrg", "inner"): "above 0",
    ("catalyst", "kappa"): "at least 0",
}
COUNTS = [
    ("lbfgs", "memory"),
    ("newton-cg", "max_cg"),
    ("sgd", "batch"),
    ("sgd", "horizon"),
    *[(name, "batch") for name in INCREMENTAL],
    ("sdca", "passes"),
    ("sdca", "block"),
    ("cd", "working_set"),
]
COUNTS_FROM_ZERO = [("newton-cg", "memory")]
FLAGS = [
    ("adagrad", "eps_inside"),
    ("adam", "bias_correction"),
    ("cd", "anderson"),
    ("cd", "screening"),
    ("fista", "momentum"),
    ("fista", "restart"),
    ("lbfgs", "precondition"),
    ("nesterov", "restart"),
    ("newton-cg", "lengthen"),
    ("rmsprop", "eps_inside"),
    ("rmsprop", "lagged"),
]


def test_every_option_of_every_method_is_in_a_table_here():
    every = {(name, field.name) for name, cls in tw.METHODS.items() for field in fields(cls)}
    named = ("schedule", "sampling", "average", "start", "iterate", "search")
    words = {(name, word) for name in tw.METHODS for word in named} & every
    words |= {("catalyst", "inner"), *[(name, "step") for name in INCREMENTAL]}
    counts = {*COUNTS, *COUNTS_FROM_ZERO}
    assert every == words | set(NUMBERS) | counts | set(FLAGS)


def fields(cls):
    return dataclasses.fields(cls)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize(("name", "option"), NUMBERS)
def test_numbers_are_held_to_their_limits(name, option, bad):
    with pytest.raises(tw.InputError) as caught:
        tw.METHODS[name](**{option: bad})
    said = str(caught.value)
    assert said.startswith(f"{option} must be {NUMBERS[name, option]}, got {bad!r}")


@pytest.mark.parametrize("bad", ["much", [0.1], True])
@pytest.mark.parametrize(("name", "option"), NUMBERS)
def test_numbers_must_be_numbers(name, option, bad):
    condition = f"a number {NUMBERS[name, option]}"
    if (name, option, bad) == ("nesterov", "momentum", "much"):
        condition = "a known name"  # momentum='convex' is one
    with pytest.raises(tw.InputError) as caught:
        tw.METHODS[name](**{option: bad})
    assert str(caught.value).startswith(f"{option} must be {condition}, got {bad!r}")


@pytest.mark.parametrize("bad", [-1, 0, 2.5, float("nan"), "much"])
@pytest.mark.parametrize(("name", "option"), COUNTS)
def test_counts_must_be_whole(name, option, bad):
    with pytest.raises(tw.InputError) as caught:
        tw.METHODS[name](**{option: bad})
    assert str(caught.value) == f"{option} must be a whole number, at least 1, got {bad!r}"


@pytest.mark.parametrize("bad", [-1, 2.5, float("nan"), "much"])
@pytest.mark.parametrize(("name", "option"), COUNTS_FROM_ZERO)
def test_counts_that_may_be_zero(name, option, bad):
    with pytest.raises(tw.InputError) as caught:
        tw.METHODS[name](**{option: bad})
    assert str(caught.value) == f"{option} must be a whole number, at least 0, got {bad!r}"
    tw.METHODS[name](**{option: 0})


@pytest.mark.parametrize("bad", ["no", "false", 0, 0.9, None])
@pytest.mark.parametrize(("name", "option"), FLAGS)
def test_flags_must_be_flags(name, option, bad):
    with pytest.raises(tw.InputError) as caught:
        tw.METHODS[name](**{option: bad})
    assert str(caught.value) == f"{option} must be True or False, got {bad!r}"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tw.GD(lr=0.1), "gd has no option 'lr': it is called 'step' here. "),
        (lambda: tw.GD(learning_rate=0.1), "gd has no option 'learning_rate': it is called 'step'"),
        (lambda: tw.GD(stp=0.1), "gd has no option 'stp': did you mean 'step'? "),
        (lambda: tw.Adam(step=0.1), "adam has no option 'step': it is called 'lr' here. Known: "),
        (lambda: tw.Adam(learning_rate=0.1), "adam has no option 'learning_rate': it is called 'l"),
        (lambda: tw.HeavyBall(beta=0.9), "heavy-ball has no option 'beta': it is called 'momentu"),
        (lambda: tw.LBFGS(m=5), "lbfgs has no option 'm': it is called 'memory' here. "),
        (
            lambda: tw.LBFGS(zzz=5),
            "lbfgs has no option 'zzz': Known: memory, precondition, search.",
        ),
        (lambda: tw.BFGS(memory=5), "bfgs has no option 'memory': Known: search."),
    ],
)
def test_unknown_options_name_the_known_ones(make, says):
    with pytest.raises(tw.InputError) as caught:
        make()
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("name", tw.METHODS)
def test_options_are_all_fields_and_rebuild_the_method(name):
    method = tw.METHODS[name]()
    assert list(method.options) == [field.name for field in fields(method)]
    assert tw.METHODS[name](**method.options) == method


def test_options_say_what_was_set():
    assert tw.GD(step=0.25, schedule="1/t").options == {
        "step": 0.25, "schedule": "1/t", "search": None,
    }  # fmt: skip


def test_numpy_scalars_become_python_numbers():
    method = tw.Nesterov(step=np.float64(0.1), momentum=np.float32(0.5), restart=np.bool_(False))
    assert [type(value) for value in method.options.values()][:3] == [float, float, bool]
    assert type(tw.LBFGS(memory=np.int64(3)).memory) is int


@pytest.mark.parametrize("make", [tw.GD, tw.HeavyBall, tw.Nesterov, tw.FISTA])
def test_a_numpy_step_leaves_float32_alone(make):
    run = tw.minimize(
        tw.surfaces.Quadratic(), make(step=np.float64(0.1)), np.ones(2, dtype=np.float32),
        max_iter=2,
    )  # fmt: skip
    assert run.w.dtype == np.float32


def test_a_method_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        tw.GD().step = 1.0


def test_names_are_unique_and_states_carry_what_the_loop_reads():
    assert all(issubclass(cls, Method) and cls.name == name for name, cls in tw.METHODS.items())
    for cls in tw.METHODS.values():
        assert {"w", "value", "gradient"} <= set(cls.State._fields), cls.name
