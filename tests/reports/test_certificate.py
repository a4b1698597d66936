import math

import numpy as np

import thalweg as tw
from drawings import parsed, run_of
from thalweg.core.certificate import Certificate
from thalweg.core.trace import Trace
from thalweg.curvature.density import spectral_density
from thalweg.reports.certificate import certificate_section
from thalweg.reports.drawing import Detail
from thalweg.reports.subject import Subject

NONE = Certificate("none", False, 1.0, math.nan, "none", "losses")
WORDS = Certificate("duality gap", True, 1e-7, 1e-5, "7 ≤ 8", "this", "that", 1e-7, "on average")


def measured(gaps):
    run = run_of(values=np.ones(len(gaps)))
    rows = run.trace.rows.copy()
    rows[:, 6] = gaps
    return run_of(trace=Trace(rows))


def test_all_words_of_a_certificate():
    page = certificate_section(Subject((run_of(certificate=WORDS),)), Detail())
    for text in ("holds", "7 ≤ 8", "this", "that", "on average", "does not show"):
        assert text in page, text
    assert "<figure" not in page  # the gap was taken once


def test_a_gap_that_was_followed_is_drawn():
    assert 'data-name="gap"' in certificate_section(Subject((measured([1, 0.1]),)), Detail())
    assert "<figure" not in certificate_section(Subject((measured([np.nan, 0.1]),)), Detail())


def test_several_are_a_table():
    runs = (run_of(certificate=WORDS), run_of("adam", [2.0, 1.0]))
    root = parsed(certificate_section(Subject(runs), Detail()))
    assert len(list(root.iter("tr"))) == 3


def test_a_training_without_a_look_at_its_end_has_no_section():
    assert certificate_section(Subject((run_of(certificate=NONE),)), Detail()) == ""


def test_a_point_and_a_spectrum():
    surface = tw.surfaces.Saddle()
    point = tw.classify(surface, [0.0, 0.0])
    H = np.diag([-1.0, 2.0, 3.0])
    spectrum = spectral_density(lambda v: H @ v, 3, steps=3, probes=2, rng=np.random.default_rng(0))
    subject = Subject((run_of(certificate=NONE),), point=point, spectrum=spectrum)
    page = certificate_section(subject, Detail())
    parsed(page)
    for text in ("The point where it ended", "losses", "saddle", "λ_min", "λ_max", "way out",
                 "f falls by", 'data-name="spectrum"', "Eigenvalues from -1 to 3"):  # fmt: skip
        assert text in page, text
