import pytest
import torch

import thalweg as tw
from small_nets import Jitter, Stopping, digits, weights
from thalweg import nets
from thalweg.core.errors import InputError
from thalweg.nets.recipes.scaling import Scaling

X, Y = digits()
Recipe = tw.nets.Recipe
FULL = Recipe(
    layers="mlp:16", activation="tanh", initializer="xavier", bias=0.01, norm="batch", keep=0.9,
    scaling="z-score", optimizer="heavy-ball", optimizer_options={"momentum": 0.5},
    learning_rate=0.1, weight_decay=1e-4, clip_norm=1.0, max_norm=3.0, l1=1e-5, epochs=2,
    batch_size=50, augmentation=("rotation[degrees=10]",), patience=3, monitor="validation loss",
    seed=7,
)  # fmt: skip


def test_it_builds_and_trains():
    recipe = Recipe(layers="mlp:16", learning_rate=0.01, epochs=5, scaling="min-max")
    model, run = recipe.train((X, Y), validation=(X, Y))
    assert run.trace.last["validation_accuracy"] > 0.8
    assert isinstance(model[0], Scaling)
    assert model[0].shift.shape == (64,)
    assert run.method == "adam"
    again = recipe.train((X, Y), validation=(X, Y))
    assert torch.equal(weights(again.model), weights(model))
    assert not torch.equal(weights(recipe.changed(seed=1).train((X, Y)).model), weights(model))


def test_building_draws_from_the_seed_alone():
    before = torch.random.get_rng_state()
    first, second = (Recipe(seed=3).build((4,), 2) for _ in range(2))
    assert torch.equal(weights(first), weights(second))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("batch_size", "batch", "steps"),
    [(4, 4, 9), (5, 5, 6), (10, 10, 3), (64, 10, 3), (None, 10, 3)],
)
def test_steps_of_ten_rows_in_three_epochs(batch_size, batch, steps):
    recipe = Recipe(batch_size=batch_size, epochs=3)
    assert (recipe.batch(10), recipe.steps(10)) == (batch, steps)
    x = torch.zeros(10, 1)
    _, run = recipe.changed(loss="squared", optimizer="sgd").train((x, x), progress=False)
    assert run.iterations == steps


def test_every_option_reaches_the_optimizer():
    optimizer = FULL.optimizer_for(FULL.build((64,), 10))
    assert type(optimizer) is tw.nets.HeavyBall
    group = optimizer.param_groups[0]
    asked = {"lr": 0.1, "momentum": 0.5, "weight_decay": 1e-4, "clip_norm": 1.0, "max_norm": 3.0,
             "l1": 1e-5}  # fmt: skip
    assert {name: group[name] for name in asked} == asked


def test_early_stopping_and_augmentation_are_made(monkeypatch):
    made = []

    def stopping(patience, monitor):
        made.append((patience, monitor))
        return Stopping(patience, monitor)

    monkeypatch.setattr(nets, "EarlyStopping", stopping, raising=False)
    monkeypatch.setattr(nets, "Rotation", lambda degrees: ("turn", degrees), raising=False)
    monkeypatch.setattr(
        nets, "Augmentation", lambda *a, seed: made.append((a, seed)) or Jitter(), raising=False
    )
    _, run = FULL.train((X, Y), validation=(X, Y))
    assert run.outcome is tw.Outcome.FINISHED
    assert sorted(map(str, made)) == sorted(
        [str((3, "validation loss")), str(((("turn", 10),), 7))]
    )


def test_regression_takes_a_vector_of_labels():
    y = X.sum(1)
    recipe = Recipe(layers="linear", loss="squared", learning_rate=0.1, epochs=30)
    model, run = recipe.train((X, y), validation=(X, y))
    assert model[-1].out_features == 1
    assert run.trace["training_loss"][-1] < 0.1 * run.trace["training_loss"][0]


@pytest.mark.parametrize("recipe", [Recipe(), FULL, Recipe(batch_size=None)])
def test_toml_and_back(recipe, tmp_path):
    text = recipe.to_toml()
    assert Recipe.from_toml(text) == recipe
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    assert Recipe.from_toml(tmp_path / "recipe.toml") == recipe


def test_one_field_changed_is_one_line_of_difference():
    other = FULL.changed(learning_rate=0.2, clip_norm=None)
    assert FULL.difference(other) == "learning_rate: 0.1 → 0.2\nclip_norm: 1.0 → none"
    assert FULL.difference(FULL) == "no difference"
    assert FULL.learning_rate == 0.1


def test_it_prints_every_field_and_marks_those_that_are_not_as_usual():
    lines = repr(Recipe(epochs=3)).splitlines()
    assert "* epochs            3" in lines
    assert "  learning_rate     0.001" in lines
    assert len(lines) == 22


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"learning_rat": 1.0}, "no field 'learning_rat': did you mean 'learning_rate'"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"keep": 1.5}, r"keep must be in \(0, 1\], got 1.5: it is the share of units that stay"),
        ({"activation": "relo"}, "did you mean 'relu'"),
        ({"optimizer": "adamw"}, "did you mean 'adam'"),
        ({"layers": "3"}, "layers must read like"),
        ({"patience": 0}, "patience must be a whole number"),
        ({"clip_norm": -1.0}, "clip_norm must be above 0"),
    ],
)
def test_sentences(changed, says):
    with pytest.raises(InputError, match=says):
        Recipe().changed(**changed)


def test_text_and_data_that_cannot_be_used():
    with pytest.raises(InputError, match="must be TOML"):
        Recipe.from_toml("layers = ")
    with pytest.raises(InputError, match="no field 'layer'"):
        Recipe.from_toml("layer = 3")
    with pytest.raises(InputError, match=r"data of a recipe must be a pair \(x, y\)"):
        Recipe().train([(X, Y)])
    with pytest.raises(InputError, match="augmentation must be a known name, got 'turn'"):
        Recipe(augmentation=("turn",)).train((X, Y))


@pytest.mark.parametrize(
    ("scheme", "variance"), [("lecun", 1 / 400), ("xavier", 2 / 700), ("he", 2 / 400), ("zeros", 0)]
)
def test_first_weights_are_those_of_the_initializer(scheme, variance):
    recipe = Recipe(layers="mlp:300", initializer=scheme, bias=0.1, scaling="none")
    weight, bias = list(recipe.build((400,), 10).parameters())[:2]
    assert weight.var().item() == pytest.approx(variance, rel=0.03)
    assert (bias == 0.1).all()


def test_default_leaves_the_weights_of_torch():
    recipe = Recipe(layers="mlp:300", initializer="default", scaling="none")
    weight = next(recipe.build((400,), 10).parameters())
    assert weight.abs().max().item() <= 1 / 20  # uniform on ±1/√400


def test_a_network_can_be_looked_at_between_preparing_and_fitting():
    recipe = Recipe(layers="mlp:8", loss="squared", scaling="z-score", epochs=2)
    y = X.sum(1)
    ready = recipe.prepare((X, y), (X, y))
    assert ready.data[1].shape == ready.validation[1].shape == (len(X), 1)
    torch.testing.assert_close(ready.model[0].shift, X.mean(0))
    first = weights(ready.model).clone()
    run = recipe.fit(ready, progress=False)
    assert not torch.equal(weights(ready.model), first)
    trained = recipe.train((X, y), (X, y), progress=False)
    assert torch.equal(weights(trained.model), weights(ready.model))
    assert run.trace["validation_loss"][-1] == trained.run.trace["validation_loss"][-1]
