"""Every symptom on one healthy record and on records with one thing changed."""

import dataclasses
import math

import numpy as np
import pytest

from records import LAST, LAYERS, LINEAR, MIDDLE, SGD, SIGMOID, STUCK, record_of
from thalweg.core.finding import Severity
from thalweg.doctor import causes
from thalweg.doctor.nets.symptoms import SYMPTOMS, diagnose


def first(**changes):
    findings = diagnose(record_of(**changes))
    return findings[0].name if findings else None


def test_a_healthy_record_has_nothing():
    assert diagnose(record_of()) == []


def test_nothing_is_said_of_what_was_not_measured():
    """A loop without data and loss: only what the steps show."""
    record = record_of()
    bare = dataclasses.replace(
        record,
        scalars={"bad_step": 0, "steps": 100.0, "input_not_finite": 0.0, "input_columns": 10.0},
    )
    assert diagnose(bare) == []


def test_names_are_causes_and_every_finding_is_complete():
    seen = []
    for changes in (STUCK, {"bad_step": 2, "bad_where": "loss"}, {"data_copy": 3.0}):
        seen += diagnose(record_of(**changes))
    assert {finding.name for finding in seen} <= set(causes.CAUSES)
    for finding in seen:
        assert finding.claim
        assert finding.cause
        assert finding.advice
        assert finding.rests_on


def test_the_loop_comes_before_what_it_does():
    """A sum of all gradients makes steps too long, and kills units."""
    changes = {**STUCK, "gradient_kept": 1.0, "update_ratio": 0.5, "dead": 0.9}
    names = [finding.name for finding in diagnose(record_of(**changes))]
    assert names[0] == causes.ZERO_GRAD
    assert names.index(causes.RATE_LARGE) < names.index(causes.DEAD) < len(names) - 1
    assert names[-1] == causes.UNDERFITTING


def test_worse_comes_first():
    severities = [f.severity for f in diagnose(record_of(**STUCK, data_constant=0.6))]
    assert severities == sorted(severities, reverse=True)


def test_all_symptoms_are_registered_once():
    assert len(set(SYMPTOMS)) == len(SYMPTOMS)


@pytest.mark.parametrize(
    ("cause", "changes"),
    [
        (causes.ZERO_GRAD, {"gradient_kept": 1.0}),
        (causes.MODES, {"training": 0.0, "mode_norm": 2.0}),
        (causes.MODES, {"evaluations_in_training_mode": 10.0, "mode_dropout": 1.0}),
        (causes.CONSTANT, {"data_constant": 1.0}),
        (causes.LEAKING, {"data_copy": 4.0}),
        (causes.LEAKING, {"data_shared": 0.9}),
        (causes.SHUFFLED, {"batch_moved": 0.7}),
        (causes.SHUFFLED, {"data_signal": 0.01}),
        (causes.SHUFFLED, {**STUCK, "batch_skill": 0.1, "data_neighbours": 0.9}),
        (causes.DENORMALS, {"data_denormal": 0.1}),
        (causes.NO_SHUFFLING, {"target_mixing": 20.0}),
        (causes.TINY_BATCHES, {"input_rows": 2.0, "mode_norm": 1.0}),
        (causes.WRONG_LOSS, {"constant_loss": -300.0, "reachable_loss": -1000.0}),
        (causes.WRONG_LOSS, {"output_columns": 1.0}),
        (causes.WRONG_LOSS, {"reachable_loss": 0.55}),
        (causes.WRONG_LOSS, {"data_classes": 0.0, "target_std": 1e4}),
        (causes.WRONG_LOSS, {**STUCK, "first_loss": 50.0}),
        (causes.SYMMETRIC, {"weight_std": 0.0, "weight_mean": 0.5}),
        (causes.UNSCALED, {**STUCK, "data_size": 100.0}),
        (causes.UNSCALED, {**STUCK, "data_size": 0.004}),
        (causes.UNSCALED, {**STUCK, "data_offset": 30.0}),
        (causes.CONDITIONING, {**STUCK, "data_spread": 1000.0}),
        (causes.INIT_VARIANCE, {**STUCK, "weight_std": 5.0}),
        (causes.INIT_VARIANCE, {**STUCK, "weight_std": 1e-3}),
        (causes.REGULARIZATION, {**STUCK, "dropped": 0.97}),
        (causes.REGULARIZATION, {**STUCK, "trained_loss": 0.1}),
        (causes.RATE_LARGE, {**STUCK, "hessian_largest": 5000.0}),
        (causes.RATE_LARGE, {**STUCK, "update_ratio": 0.6}),
        (causes.RATE_LARGE, {"loss": np.geomspace(1.1, 100.0, 100)}),
        (causes.RATE_SMALL, {**STUCK, "update_ratio": 1e-6}),
        (causes.RATE_SMALL, {**STUCK, "rate": np.geomspace(1.0, 1e-9, 100)}),
        (causes.RATE_SMALL, {**STUCK, "small_fit": 0.95}),
        (causes.ADAGRAD, {**STUCK, "optimizers": ({"name": "Adagrad", "lr": 0.01},)}),
        (causes.DEAD, {**STUCK, "dead": 0.9}),
        (causes.SATURATED, {**STUCK, "saturated": 0.9, "layers": (LINEAR, SIGMOID, MIDDLE, LAST)}),
        (causes.VANISHING, {**STUCK, "gradient_norm": np.array([1e-6, 0, 1e-3, 1.0])}),
        (causes.VANISHING, {**STUCK, "gradient_norm": np.array([math.nan, math.nan, 1.0, 1.0])}),
        (causes.EXPLODING, {**STUCK, "gradient_norm_total": np.geomspace(1.0, 1e6, 5)}),
        (
            causes.IMBALANCE,
            {"data_largest_share": 0.97, "data_smallest_share": 0.03, "validated_recall": 0.1},
        ),
        (causes.OVERFITTING, {"trained_score": 1.0, "validated_score": 0.7}),
        (causes.UNDERFITTING, STUCK),
        (causes.UNDERFITTING, {"validated_skill": 0.4}),
    ],
)
def test_one_thing_wrong(cause, changes):
    (finding, *_) = diagnose(record_of(**changes))
    assert finding.name == cause
    assert finding.severity is Severity.ACT


@pytest.mark.parametrize(
    "changes",
    [
        {"data_size": 300.0},
        {"data_spread": 1e4},
        {"dead": 0.9},
        {"weight_std": 5.0},
        {"update_ratio": 0.6},
        {"hessian_largest": 1e5},
        {"gradient_norm": np.array([1e-6, 0, 1e-3, 1.0])},
        {"dropped": 0.9},
        {"training": 0.0},
        {"evaluations_in_training_mode": 10.0},
        {"input_rows": 2.0},
        {"first_loss": 50.0},
        {"target_wildest": 1e4},
        {"batch_skill": 0.1, "data_neighbours": 0.9},
        {"data_largest_share": 0.97, "data_smallest_share": 0.03},
    ],
)
def test_what_harms_nothing_is_no_reason_to_act(changes):
    assert all(f.severity < Severity.ACT for f in diagnose(record_of(**changes)))


def test_wild_targets_ask_for_clipping():
    loss = np.full(100, 0.5)
    loss[::10] = 5e4
    changes = {"loss": loss, "data_classes": 0.0, "target_wildest": 5000.0}
    assert first(**changes, validated_skill=0.0) == causes.CLIPPING
    assert first(**changes, validated_skill=0.8) is None


def test_weights_that_a_decay_shrank():
    changes = {**STUCK, "weight_norm": np.geomspace(5, 1, 5)[:, None]}
    decayed = {**SGD, "weight_decay": 0.3}
    assert first(**changes, optimizers=(decayed,)) == causes.REGULARIZATION
    assert first(**changes) == causes.UNDERFITTING


def test_layers_that_are_cut_off_are_named():
    changes = {**STUCK, "gradient_norm": np.array([math.nan, math.nan, 0.0, 1.0])}
    (finding, *_) = diagnose(record_of(**changes))
    assert finding.evidence["layers"] == ["first", "middle"]


def test_the_last_activation_may_saturate():
    """A sigmoid at the end is sure of itself when it has learnt."""
    layers = (*LAYERS, SIGMOID)
    saturated = np.array([0, 0, 0, 0, 1.0])
    assert first(**STUCK, layers=layers, saturated=saturated) == causes.UNDERFITTING
