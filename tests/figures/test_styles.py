import pytest

from thalweg.figures.styles import CODES, HUES, METHODS, THEORY, style_of, theory_of
from thalweg.methods.registry import METHODS as ALL


def luminance(code):
    """WCAG 2.1's relative luminance."""
    channels = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_hand():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


def test_every_method_has_a_colour_and_dash_of_its_own():
    assert set(METHODS) <= set(ALL)
    assert len({style_of(name) for name in ALL}) == len(ALL) >= len(METHODS) == 21


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("hue", [*HUES, "muted"])
def test_every_hue_stands_out_on_light_and_dark(hue, side):
    assert contrast(CODES[hue][side], CODES["paper"][side]) >= 3.0
    if hue in ("ink", "muted"):  # of text
        assert contrast(CODES[hue][side], CODES["paper"][side]) >= 4.5


@pytest.mark.parametrize("name", ["adam", "adam[lr=0.1]", "Adam", "adam (lr=0.1)", " adam"])
def test_one_method_by_any_spelling(name):
    assert style_of(name) == METHODS["adam"]


def test_classes_of_optimizers_are_their_methods():
    assert style_of("HeavyBall") == METHODS["heavy-ball"]
    assert style_of("RMSProp") == style_of("RMSprop") == METHODS["rmsprop"]
    assert style_of("LBFGS") == METHODS["lbfgs"]
    assert style_of("newton_cg") == METHODS["newton-cg"]


def test_another_name_has_a_style_that_stays_and_is_no_methods():
    assert style_of("lion") == style_of("Lion")
    assert (
        style_of("lion").hue == "vermilion"
    )  # as written down: it must not change between versions
    assert style_of("lion").dash not in {style.dash for style in METHODS.values()}


def test_repeats_differ_by_markers_alone():
    first, second = style_of("sgd"), style_of("sgd", 1)
    assert (first.hue, first.dash) == (second.hue, second.dash)
    assert first.shape == ""
    assert len({style_of("sgd", k).shape for k in range(1, 5)}) == 4


def test_theory_has_the_hue_and_no_methods_dash():
    line = theory_of(style_of("gd", 2))
    assert line.hue == METHODS["gd"].hue
    assert line.dash == THEORY
    assert THEORY not in {style.dash for style in METHODS.values()}
    assert line.shape == ""
