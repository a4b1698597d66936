import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.curvature.density import SpectralDensity
from thalweg.figures.spec import Guide
from thalweg.figures.spectrum import spectrum


def guides(figure):
    return {mark.name: mark.at for mark in figure.panels[0].marks if isinstance(mark, Guide)}


def test_eigenvalues_by_hand():
    figure = spectrum([-1.0, 0.5, 0.6, 3.0], columns=4)
    bars = figure.panels[0].marks[0]
    assert bars.edges.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert bars.heights.tolist() == [0.25, 0.5, 0.0, 0.25]
    assert guides(figure) == {"0": 0.0, "λ_min = -1": -1.0, "λ_max = 3": 3.0}
    assert "25 % of them are negative; their mean is 0.775" in figure.summary


def test_a_density_is_its_atoms():
    grid = np.linspace(0.0, 4.0, 9)
    density = SpectralDensity(np.array([1.0, 3.0]), np.array([0.9, 0.1]), grid, grid, 0.1)
    bars = spectrum(density, columns=2).panels[0].marks[0]
    assert bars.heights.tolist() == [0.9, 0.1]


def test_the_smallest_share_has_a_height():
    values = np.append(np.zeros(10**6 - 1), 1.0)
    low = spectrum(values).panels[0].y.low
    assert 0 < low < 1e-6


def test_one_eigenvalue_many_times():
    bars = spectrum(np.full(5, 2.0)).panels[0].marks[0]
    assert bars.heights.sum() == 1.0
    assert "0" not in guides(spectrum(np.full(5, 2.0)))


@pytest.mark.parametrize("bad", [[], [np.nan], np.zeros((2, 2)), "x"])
def test_bad_input_is_one_sentence(bad):
    with pytest.raises(InputError, match="values must"):
        spectrum(bad)
    with pytest.raises(InputError, match="columns must be a whole number, at least 2"):
        spectrum([1.0], columns=1)
