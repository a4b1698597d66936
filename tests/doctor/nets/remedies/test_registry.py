import pytest

from small_nets import digits
from thalweg.doctor.causes import CAUSES
from thalweg.doctor.nets.remedies.registry import ALL, REMEDIES, remedies_for
from thalweg.nets.recipes.recipe import Recipe

X, Y = digits()
DATA = X[:60], Y[:60]
RECIPES = {
    "usual": Recipe(layers="mlp:8", epochs=2),
    "plain descent": Recipe(layers="mlp:2", optimizer="sgd", activation="tanh", batch_size=2),
    "linear": Recipe(layers="linear", optimizer="nesterov", loss="squared", batch_size=None),
    "all at once": Recipe(
        layers="mlp:4x4", activation="identity", norm="batch", keep=0.1, optimizer="adagrad",
        optimizer_options={"lr_decay": 1.0}, weight_decay=1.0, clip_norm=0.1, patience=2,
    ),
}  # fmt: skip


def test_causes_are_the_doctors_and_names_are_unique():
    assert set(REMEDIES) <= set(CAUSES)
    assert len({remedy.name for remedy in ALL}) == len(ALL)
    assert all(remedies_for(cause) for cause in REMEDIES)


@pytest.mark.parametrize("cause", CAUSES)
def test_the_smallest_change_comes_first(cause):
    sizes = [remedy.size for remedy in remedies_for(cause)]
    assert sizes == sorted(sizes)
    assert set(remedies_for(cause)) == set(REMEDIES.get(cause, ()))


@pytest.mark.parametrize("remedy", ALL, ids=str)
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_a_remedy_changes_a_recipe_that_still_trains_or_nothing(recipe, remedy):
    before = recipe.to_toml()
    after = remedy.change(recipe, DATA)
    assert recipe.to_toml() == before
    if after is None or after == recipe:
        return
    assert after.seed == recipe.seed
    assert remedy.change(recipe, DATA) == after  # the same each time
    after.changed(epochs=1, batch_size=30).train(DATA, DATA, progress=False)
