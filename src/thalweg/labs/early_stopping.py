"""Early stopping keeps the weights of the best validation accuracy.

While a network trains, its accuracy on data that it does not train on rises, and falls again once
it learns its samples by heart. After each epoch the accuracy a is compared with the best so far:

    a > a*     a* ← a, keep a copy of the weights, k ← 0
    else       k ← k + 1;  stop once k is the patience

At the end the copy is put back. That an accuracy is the highest is known only afterwards: stopping
at the first epoch that is not better, a patience of 1, ends at the first dip. With a patience of p
training goes on for p epochs after the best one, and a later rise within them is not missed.

The best of many accuracies on the same data flatters: part of it is chance. What the kept weights
are worth is measured on data of which neither training nor stopping has seen anything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

ROWS, HELD_OUT = 250, 500  # training and validation data; the rest of the digits is for the test
NOISE = 0.3  # share of the training labels that are drawn anew: something to learn by heart
PATIENCE = 10
BATCH = 50
RATE = 0.003

Maker = Callable[[int], Any]


class Part(NamedTuple):
    """Images and labels."""

    X: np.ndarray
    y: np.ndarray


class Training(NamedTuple):
    """A run, the model it left, and what the model was after every epoch."""

    run: Any
    model: Any
    states: list[dict[str, Any]]  # after epoch 1, 2, …
    tests: list[float]  # test accuracy after each

    @property
    def validation(self) -> np.ndarray:
        """Accuracies after epoch 1, 2, …"""
        return np.array(self.run.trace["validation_accuracy"][1:])


class Pair(NamedTuple):
    """The same training with early stopping and without."""

    stopping: Any
    stopped: Training
    whole: Training
    restored: float  # validation accuracy of what early stopping left
    tested: float  # test accuracy of it


def patient(patience: int) -> Any:
    """Thalweg's early stopping on the validation accuracy."""
    return tw.nets.EarlyStopping(patience)


def forgetful(patience: int) -> Any:
    """Wrong: it stops in time, and leaves the last weights."""

    class Forgetful(tw.nets.EarlyStopping):
        def restore(self, model: Any) -> bool:
            return True

    return Forgetful(patience)


def upside_down(patience: int) -> Any:
    """Wrong: it takes the lowest accuracy for the best."""
    return tw.nets.EarlyStopping(patience, higher_is_better=False)


def experiment(setting: Setting, *, make: Maker = patient) -> Findings:
    """The same trainings with `make`'s early stopping and without."""
    repeats = setting.pick(glance=2, quick=5, full=30)
    epochs = setting.pick(glance=50, quick=80, full=300)
    pairs = [_pair(setting, repeat, epochs, make) for repeat in range(repeats)]
    hasty = [
        _train(setting, repeat, epochs, make(1)).run.iterations // (ROWS // BATCH)
        for repeat in range(repeats)
    ]
    checks = [*_kept(pairs), *_ended(pairs), *_worth(pairs), _impatient(pairs, hasty)]
    rows = tuple(
        (
            k, int(pair.stopping.best_epoch or 0), len(pair.stopped.states), pair.restored,
            float(pair.whole.validation[-1]), pair.tested, pair.whole.tests[-1],
        )
        for k, pair in enumerate(pairs, 1)
    )  # fmt: skip
    heads = (
        "run", "best epoch", "stopped after", "validation, restored", f"after {epochs} epochs",
        "test, restored", f"after {epochs}",
    )  # fmt: skip
    return Findings(
        checks,
        [Sheet("Accuracies with early stopping, and of all epochs", heads, rows)],
        [_picture(pairs[0])],
        [
            f"digits, {ROWS} for training with {NOISE:.0%} of their labels drawn anew, {HELD_OUT} "
            f"for validation, the rest for the test; network 64-128-10 with batch norm, Adam, "
            f"patience {PATIENCE}",
        ],
    )


@functools.lru_cache(maxsize=32)
def _parts(seed: int) -> tuple[Part, Part, Part]:
    """Training, validation and test data."""
    table = tw.read("@digits")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table.X))
    X, y = (np.asarray(table.X) / np.float32(16.0))[order], np.asarray(table.y)[order]
    cut = ROWS + HELD_OUT
    noisy = y[:ROWS].copy()
    wrong = rng.random(ROWS) < NOISE
    noisy[wrong] = rng.integers(0, 10, int(wrong.sum()))
    return Part(X[:ROWS], noisy), Part(X[ROWS:cut], y[ROWS:cut]), Part(X[cut:], y[cut:])


def _train(setting: Setting, repeat: int, epochs: int, stopping: Any = None) -> Training:
    """From the same start, in the same batches; `stopping` may end it."""
    import torch

    seed = setting.seed_for("repeat", repeat)
    train, held_out, test = _parts(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(64, 128), tw.nets.BatchNorm(128), torch.nn.ReLU(),
            torch.nn.Linear(128, 10),
        )  # fmt: skip
    states: list[dict[str, Any]] = []
    tests: list[float] = []

    def keep(moment: Any) -> None:
        if moment.step % (ROWS // BATCH) == 0:  # the last of an epoch
            states.append({name: each.clone() for name, each in model.state_dict().items()})
            tests.append(tw.nets.evaluate(model, test, batch_size=2_000).accuracy)

    run = tw.nets.fit(
        model, train, f"adam[lr={RATE}]", epochs=epochs, batch_size=BATCH, validation=held_out,
        early_stopping=stopping, probes=[keep], seed=seed, progress=False,
    )  # fmt: skip
    return Training(run, model, states, tests)


def _pair(setting: Setting, repeat: int, epochs: int, make: Maker) -> Pair:
    seed = setting.seed_for("repeat", repeat)
    _, held_out, test = _parts(seed)
    stopping = make(PATIENCE)
    stopped = _train(setting, repeat, epochs, stopping)
    whole = _train(setting, repeat, epochs)
    return Pair(
        stopping,
        stopped,
        whole,
        tw.nets.evaluate(stopped.model, held_out).accuracy,
        tw.nets.evaluate(stopped.model, test).accuracy,
    )


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    import torch

    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def _kept(pairs: list[Pair]) -> list[Check]:
    """The weights that are left are those of the best epoch."""
    best = [int(np.argmax(pair.stopped.validation)) for pair in pairs]
    same = [
        _equal(pair.stopped.model.state_dict(), pair.stopped.states[k])
        for pair, k in zip(pairs, best, strict=True)
    ]
    values = [pair.stopped.validation.max() for pair in pairs]
    scores = [pair.restored for pair in pairs]
    return [
        Check(
            "the weights and averages that are left are those of the best epoch, to the bit",
            all(same), f"in {sum(same)} of {len(same)} runs, best epochs "
            + ", ".join(str(k + 1) for k in best),
        ),
        Check(
            "their validation accuracy is the highest of the run", scores == values,
            ", ".join(f"{score:.1%}" for score in scores),
        ),
    ]  # fmt: skip


def _ended(pairs: list[Pair]) -> list[Check]:
    """Training stops when the accuracy no longer rises."""
    lengths = [len(pair.stopped.states) for pair in pairs]
    waited = [
        length - 1 - int(np.argmax(pair.stopped.validation))
        for pair, length in zip(pairs, lengths, strict=True)
    ]
    ended = [pair.stopped.run.outcome.name == "EARLY_STOPPED" for pair in pairs]
    same = [
        np.array_equal(pair.stopped.validation, pair.whole.validation[:length])
        for pair, length in zip(pairs, lengths, strict=True)
    ]
    fallen = [float(pair.whole.validation[-1]) for pair in pairs]
    total = len(pairs[0].whole.states)
    return [
        Check(
            f"training stops once {PATIENCE} epochs in a row brought no rise, and not before",
            all(ended) and all(each == PATIENCE for each in waited),
            f"stopped after {min(lengths)} to {max(lengths)} of {total} epochs, each "
            f"{', '.join(map(str, sorted(set(waited))))} after the best",
        ),
        Check(
            "until then it is the training without early stopping, to the bit", all(same),
            f"the same validation accuracies in {sum(same)} of {len(same)} runs",
        ),
        Check(
            "going on does not pay: after all epochs the validation accuracy is lower",
            all(last < pair.restored for last, pair in zip(fallen, pairs, strict=True)),
            ", ".join(
                f"{pair.restored:.1%} → {last:.1%}"
                for last, pair in zip(fallen, pairs, strict=True)
            ),
        ),
    ]  # fmt: skip


def _worth(pairs: list[Pair]) -> list[Check]:
    """On data that took no part."""
    gains = np.array([pair.tested - pair.whole.tests[-1] for pair in pairs])
    losses = [pair.whole.run.trace["training_loss"] for pair in pairs]
    return [
        Check(
            "on test data the restored weights are better than those after all epochs",
            bool(gains.mean() > 0.0 and np.mean(gains > 0) > 0.5),
            f"by {100 * gains.mean():.1f} points, {100 * gains.min():.1f} to "
            f"{100 * gains.max():.1f}",
        ),
        Check(
            "meanwhile the training loss falls on: the network learns its samples by heart",
            all(each[-1] < 0.5 * each[len(pair.stopped.states)]
                for each, pair in zip(losses, pairs, strict=True)),
            f"{losses[0][len(pairs[0].stopped.states)]:.2g} where it was stopped, "
            f"{losses[0][-1]:.2g} after all epochs, first run",
        ),
    ]  # fmt: skip


def _impatient(pairs: list[Pair], hasty: list[int]) -> Check:
    """A patience of 1."""
    first = [
        1 + int(np.argmax(np.diff(np.maximum.accumulate(pair.whole.validation)) <= 0.0)) + 1
        for pair in pairs
    ]
    missed = [
        float(pair.restored - pair.whole.validation[:length].max())
        for pair, length in zip(pairs, hasty, strict=True)
    ]
    return Check(
        "a patience of 1 stops at the first epoch that is not better, and may miss the best",
        hasty == first,
        f"after {min(hasty)} to {max(hasty)} epochs, {100 * min(missed):.1f} to "
        f"{100 * max(missed):.1f} points below the best",
    )


def _picture(pair: Pair) -> Figure:
    epochs = np.arange(1, len(pair.whole.states) + 1)
    best, end = int(pair.stopping.best_epoch or 1), len(pair.stopped.states)
    marks = [Guide("best epoch, and stop", best, "y"), Guide("", end, "y")]
    trace = pair.whole.run.trace
    accuracy = panel(
        "epoch", "accuracy",
        [
            curve("validation", epochs, pair.whole.validation, 1),
            curve("test", epochs, pair.whole.tests, 2),
            *marks,
        ],
        title="accuracy",
    )  # fmt: skip
    loss = panel(
        "epoch", "cross-entropy",
        [
            curve("training", epochs, trace["training_loss"][1:], 3),
            curve("validation", epochs, trace["validation_loss"][1:], 1),
            *marks,
        ],
        log="y", title="loss",
    )  # fmt: skip
    return figure(
        "A training with and without early stopping",
        [accuracy, loss],
        f"Validation accuracy is highest after epoch {best}, {pair.restored:.1%}, and ends at "
        f"{pair.whole.validation[-1]:.1%}; early stopping ends after epoch {end} and goes back. "
        "The training loss falls all the while.",
        columns=2,
    )


LAB = Lab(
    name="early-stopping",
    claim="Keep track of the validation accuracy, stop training when it no longer rises, and keep "
    "the weights with which it was highest.",
    formula="ŵ = w after epoch t*,  t* = argmax over t of accuracy(t)",
    places=("A, Early Stopping",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("forgetful", "early stopping that leaves the last weights", {"make": forgetful}),
        Break("direction", "the lowest accuracy taken for the best", {"make": upside_down}),
    ),
    fails_if="one weight or average that differs from the best epoch's, a run that ends other than "
    f"{PATIENCE} epochs after its best, or test accuracy that is lower on average than after all "
    "epochs",
    code="""\
import thalweg as tw, torch

table = tw.read("@digits")
X, y = table.X / 16.0, table.y
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
stopping = tw.nets.EarlyStopping(patience=3)
held_out = (X[100:400], y[100:400])
run = tw.nets.fit(model, (X[:100], y[:100]), "adam[lr=0.01]", epochs=60, validation=held_out,
                  early_stopping=stopping, progress=False)
accuracies = run.trace["validation_accuracy"][1:]
print(run.outcome, f"best epoch {stopping.best_epoch} of {len(accuracies)}")
assert tw.nets.evaluate(model, held_out).accuracy == max(accuracies)
""",
    seconds=5.8,
    needs_torch=True,
    remark="“Stop when validation accuracy is maximized” cannot be done in time: that it was the "
    "highest is known only later. Waiting some epochs and going back to the best does the same.",
)
