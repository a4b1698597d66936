from thalweg.doctor.nets.remedies.remedy import Remedy, without_options
from thalweg.nets.recipes.recipe import Recipe


def test_a_remedy_is_a_name_and_a_change():
    remedy = Remedy("twice the epochs", 7, lambda r, data: r.changed(epochs=2 * r.epochs))
    assert str(remedy) == "twice the epochs"
    assert remedy.change(Recipe(epochs=3), None).epochs == 6


def test_options_without_some():
    recipe = Recipe(optimizer="sgd", optimizer_options={"momentum": 0.5, "nesterov": True})
    assert without_options(recipe, "momentum") == {"nesterov": True}
    assert recipe.optimizer_options["momentum"] == 0.5
