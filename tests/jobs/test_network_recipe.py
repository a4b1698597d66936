import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.jobs.network_recipe import job_recipe, usual_rate
from thalweg.runs.job import Job


def recipe(said=None, source="@iris", **more):
    return job_recipe(Job(source, recipe=said or {}, **more), tw.read(source).encoding)


def test_what_is_not_said_is_as_usual():
    assert recipe() == tw.nets.Recipe()
    assert recipe(source="@diabetes") == tw.nets.Recipe(loss="squared", monitor="validation loss")


def test_the_job_decides_seed_scaling_and_optimizer():
    found = recipe({"seed": 3}, seed=7, standardize=True, method="adam[lr=0.1, beta1=0.8]")
    assert (found.seed, found.scaling, found.optimizer) == (7, "z-score", "adam")
    assert found.learning_rate == 0.1
    assert found.optimizer_options == {"betas": (0.8, 0.999)}
    model = found.build((4,), 3)
    assert found.optimizer_for(model).param_groups[0]["betas"] == (0.8, 0.999)


def test_options_that_are_fields_become_fields():
    found = recipe(method="nesterov[momentum=0.5, weight_decay=0.01, clip_norm=1, learning_rate=2]")
    assert (found.weight_decay, found.clip_norm, found.learning_rate) == (0.01, 1, 2)
    assert found.optimizer_options == {"momentum": 0.5}


def test_a_rate_belongs_to_the_optimizer_it_was_given_for():
    adam = {"optimizer": "adam", "learning_rate": 0.5, "optimizer_options": {"eps": 1e-6}}
    assert recipe(adam).learning_rate == 0.5
    assert recipe(adam, method="adam").learning_rate == 0.5
    assert recipe(adam, method="adam").optimizer_options == {"eps": 1e-6}
    other = recipe(adam, method="rmsprop")
    assert (other.learning_rate, other.optimizer_options) == (usual_rate("rmsprop"), {})
    assert recipe({"learning_rate": 0.5}, method="rmsprop").learning_rate == 0.5
    assert usual_rate("lbfgs") == 1.0


def test_zero_rows_a_batch_are_all():
    assert recipe({"batch_size": 0}).batch_size is None


@pytest.mark.parametrize(
    ("said", "more", "sentence"),
    [
        ({"layer": "mlp:8"}, {}, "a recipe has no field 'layer': did you mean 'layers'"),
        ({"layers": "mlp:8"}, {"builder": "a.py:b"}, "layers must be left out where code builds"),
        ({"loss": "squared"}, {}, "loss must tell 3 classes apart, got 'squared'"),
        ({"loss": "binary-cross-entropy"}, {}, "loss must fit a target of 3 classes"),
        ({"loss": "hinge"}, {}, "loss"),
        ({"loss": "cross-entropy"}, {"source": "@diabetes"}, "loss must fit a target of numbers"),
        ({"scaling": "min-max"}, {"standardize": True}, "standardize must be left out"),
        ({}, {"method": "saga"}, "method must be an optimizer, got 'saga'"),
        ({}, {"method": "adam[lr]"}, "options must read name=value"),
        ({}, {"method": "adam[lr=-1]"}, "learning_rate must be above 0"),
        ({"epochs": "many"}, {}, "epochs must be a whole number"),
        ({"augmentation": 3}, {}, "augmentation must be a list of names, got 3"),
        ({"optimizer_options": 3}, {"method": "sgd"}, "optimizer_options must be names and values"),
    ],
)
def test_bad_input(said, more, sentence):
    with pytest.raises(InputError, match=sentence):
        recipe(said, **more)
