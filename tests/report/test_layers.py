import dataclasses

import numpy as np

from drawings import deep_record, parsed, run_of
from thalweg.report.drawing import Detail
from thalweg.report.layers import layers_section
from thalweg.report.subject import Subject


def names(record):
    section = layers_section(Subject((run_of(),), record=record), Detail())
    return [figure.get("data-name") for figure in parsed(section).iter("figure")]


def test_every_figure_of_a_record():
    assert names(deep_record()) == ["training", "gradients", "percentiles", "curvature"]


def test_what_was_not_measured_is_left_out():
    record = deep_record(layers=2, looks=3)
    columns = dict(record.columns)
    columns["hessian_largest"] = np.full_like(columns["step"], np.nan)
    columns["p50"] = np.full_like(columns["p50"], np.nan)
    assert names(dataclasses.replace(record, columns=columns)) == ["training", "gradients"]


def test_what_could_not_be_seen_is_said():
    record = dataclasses.replace(deep_record(layers=2, looks=3), notes=("it was compiled",))
    section = layers_section(Subject((run_of(),), record=record), Detail())
    assert "it was compiled." in section


def test_no_record_no_section():
    assert layers_section(Subject((run_of(),)), Detail()) == ""
