import dataclasses

import numpy as np
import pytest

from drawings import deep_record, parsed, run_of
from records import record_of
from thalweg.core.trace import Trace
from thalweg.reports.drawing import Detail
from thalweg.reports.layers import layers_section, with_validation
from thalweg.reports.subject import Subject


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


def test_validation_losses_of_the_run_are_put_where_they_belong():
    record = record_of(loss=np.ones(6))  # steps 1 to 6
    run = run_of(values=[3.0, 2.0, 1.0], gap=None)
    rows = np.column_stack([run.trace.rows, [np.nan, 0.8, 0.7]])
    rows[:, 0] = 0, 3, 6
    run = run_of(trace=Trace(rows, extra=("validation_loss",)))
    found = with_validation(record, run)["validation_loss"]
    assert found.tolist() == pytest.approx([np.nan, np.nan, 0.8, np.nan, np.nan, 0.7], nan_ok=True)
    assert with_validation(record, run_of()) is record
    own = record_of(loss=np.ones(6), validation_loss=0.5)
    assert with_validation(own, run) is own


def test_what_could_not_be_seen_is_said():
    record = dataclasses.replace(deep_record(layers=2, looks=3), notes=("it was compiled",))
    section = layers_section(Subject((run_of(),), record=record), Detail())
    assert "it was compiled." in section


def test_no_record_no_section():
    assert layers_section(Subject((run_of(),)), Detail()) == ""
