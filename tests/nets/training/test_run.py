import math

import pytest

import thalweg as tw
from small_nets import Stopping, digits, mlp
from thalweg.nets.training.run import no_certificate

X, Y = digits()


def fitted(**asked):
    return tw.nets.fit(mlp(), (X, Y), "sgd[lr=0.1]", epochs=2, **asked)


def test_the_record_of_a_training():
    run = fitted(validation=(X, Y))
    assert (run.objective, run.method, run.seed) == ("cross-entropy of Sequential", "sgd", 0)
    assert run.options["lr"] == 0.1
    assert run.counts == {"epochs": 2, "steps": 20, "passes": 2.0}
    assert run.iterations == 20
    assert run.w.shape == run.w0.shape == (64 * 16 + 16 + 160 + 10,)
    assert run.value == run.trace["value"][-1]
    assert not run.certificate.holds
    assert "torch" in run.environment
    assert run.reason.startswith("All epochs of the training were done. 2 epochs of 2, 20 steps.")
    assert "validation loss" in run.reason
    assert repr(run).startswith("FINISHED  sgd on cross-entropy of Sequential, 1210 variables")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"time_limit": 0.0},
            "time limit came after 0 epochs of 2, 0 steps. The loss of",
        ),
        ({"probes": [lambda moment: True]}, "Stopped after 0 epochs of 2, 1 step: a probe asked"),
        ({"early_stopping": Stopping(9), "validation": (X, Y)}, "best weights, of epoch 2."),
    ],
)
def test_reasons(asked, says):
    assert says in fitted(**asked).reason


def test_a_checkpoint_is_how_to_go_on(tmp_path):
    run = fitted(time_limit=0.0, checkpoint=tmp_path / "kept")
    assert f"checkpoint='{tmp_path / 'kept'}' to go on" in run.reason
    assert "checkpoint=... to make a training resumable" in fitted(time_limit=0.0).reason


def test_nothing_is_certified():
    certificate = no_certificate(0.5)
    assert not certificate.holds
    assert certificate.measured == 0.5
    assert math.isnan(certificate.limit)
    assert "tw.classify" in certificate.does_not_show
