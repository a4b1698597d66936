import copy
import math
import time

import numpy as np
import pytest
import torch
from torch import distributed, nn
from torch.nn import functional

import thalweg as tw
from small_nets import digits
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.record import LAYER_COLUMNS, Record
from thalweg.doctor.nets import symptoms


def seeded(make):
    torch.manual_seed(0)
    return make()


def mlp():
    return nn.Sequential(
        nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 10)
    )


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.act, self.head = nn.ReLU(), nn.Linear(4 * 36, 10)

    def forward(self, x):
        return self.head(self.act(self.norm(self.conv(x.view(-1, 1, 8, 8)))).flatten(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.layer(x.view(-1, 8, 8)).mean(1))


class Recurrent(nn.Module):
    """One module, called eight times."""

    def __init__(self):
        super().__init__()
        self.cell, self.act, self.head = nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 10)

    def forward(self, x):
        state = x.new_zeros(len(x), 8)
        for part in x.view(-1, 8, 8).unbind(1):
            state = self.act(self.cell(torch.cat([part, state], 1)))
        return self.head(state)


MODELS = {"mlp": mlp, "cnn": Cnn, "transformer": Transformer, "recurrent": Recurrent}


def batches(steps, size=32, dtype=torch.float32):
    x, y = digits()
    for k in range(steps):
        rows = slice(k * size % 512, k * size % 512 + size)
        yield x[rows].to(dtype), y[rows]


def train(model, optimizer, w=None, steps=8, dtype=torch.float32, validate=False):
    """A plain loop, with or without a watch."""
    for x, y in batches(steps, dtype=dtype):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if validate:
            model.eval()
            with torch.no_grad():
                held_out = functional.cross_entropy(model(x), y)
            model.train()
        if w is not None:
            w.step(loss, validation=held_out if validate else None)
    return model


def sgd(model, lr=0.1):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


def watched(make=mlp, every=1, **options):
    model = seeded(make)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=every, **options) as w:
        train(model, optimizer, w)
    return model, w.record


def no_hooks(model, *optimizers):
    return not any(
        m._forward_hooks or m._forward_pre_hooks for m in model.modules()
    ) and not any(p._backward_hooks for p in model.parameters()) and not any(
        optimizer._optimizer_step_pre_hooks for optimizer in optimizers
    )  # fmt: skip


@pytest.mark.parametrize("every", [None, 1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_training_computes_the_same_bits(name, every):
    plain = seeded(MODELS[name])
    torch.manual_seed(1)
    train(plain, sgd(plain), validate=True)
    drawn = torch.rand(3)
    model = seeded(MODELS[name])
    optimizer = sgd(model)
    (x, y), *_ = batches(1)
    torch.manual_seed(1)
    options = {"closure": lambda: functional.cross_entropy(model(x), y)}
    with tw.watch(model, optimizer, every=every, **options) as w:
        train(model, optimizer, w, validate=True)
    assert torch.equal(torch.rand(3), drawn)
    for (key, a), b in zip(model.state_dict().items(), plain.state_dict().values(), strict=True):
        assert torch.equal(a, b), key
    for p, q in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(p.grad, q.grad)
    assert no_hooks(model, optimizer)
    assert not np.isnan(w.record["hessian_largest"][0])
    assert w.record.notes == ()


@pytest.mark.parametrize("name", MODELS)
def test_every_layer_is_measured(name):
    _, record = watched(MODELS[name])
    assert record["look"].tolist() == list(range(1, 9))
    for layer, weights in enumerate(each.parameters for each in record.layers):
        one = record.layers[layer]
        columns = ("gradient_norm", "weight_norm", "update_ratio") if weights else ("mean", "p85")
        for column in columns:
            assert np.isfinite(record[column][:, layer]).all(), (one.name, column)
        if not one.name.endswith("out_proj"):  # used inside attention, never called
            assert np.isfinite(record["std"][:, layer]).all(), one.name
            assert (record["not_finite"][:, layer] == 0).all()
    assert (record["gradient_norm_total"] > 0).all()
    assert np.isfinite(record["gradient_cosine"][:-1]).all()
    assert record.scalars["bad_step"] == 0


def test_the_record_of_a_plain_loop():
    model = seeded(mlp)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=4) as w:
        train(model, optimizer, w, validate=True)
    record = w.record
    assert record["step"].tolist() == list(range(1, 9))
    assert record["look"].tolist() == [1, 5]
    assert (record["loss"] > 0).all()
    assert (record["validation_loss"] > 0).all()
    assert (record["rate"] == 0.1).all()
    assert (record["seconds"] > 0).all()
    assert (record["training"] == 1).all()
    assert (record["gradient_kept"] == 0).all()
    assert [layer.kind for layer in record.layers] == ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert record.layers[0].fan_in == 64
    assert record["dead"].shape == (2, 4)
    assert record.scalars["input_columns"] == 64
    assert record.scalars["input_constant"] >= 1  # digits have pixels that are always 0
    assert record.scalars["parameters"] == sum(p.numel() for p in model.parameters())
    assert record.optimizers[0]["name"] == "SGD"
    assert record.optimizers[0]["momentum"] == 0.9
    assert np.isnan(record["hessian_largest"]).all()


def test_a_seed_replays_but_for_seconds():
    columns = [
        {name: c for name, c in watched(every=2)[1].columns.items() if name != "seconds"}
        for _ in range(2)
    ]
    for name, column in columns[0].items():
        assert np.array_equal(column, columns[1][name], equal_nan=True), name


def test_curvature_comes_at_steps_of_its_own():
    model = seeded(mlp)
    optimizer = sgd(model)
    ((x, y),) = batches(1)
    asked = {"closure": lambda: functional.cross_entropy(model(x), y), "curvature_every": 2}
    with tw.watch(model, optimizer, every=3, **asked) as w:
        for _ in range(5):
            w.step(functional.cross_entropy(model(x), y))
    record = w.record
    assert record["look"].tolist() == [1, 4]
    assert record["step"][~np.isnan(record["hessian_largest"])].tolist() == [1, 3, 5]
    with pytest.raises(tw.InputError, match="every must be"):
        tw.watch(model, optimizer, every=3, curvature_every=0)


def test_a_record_is_saved_and_loaded(tmp_path):
    _, record = watched()
    record.save(tmp_path / "r.npz")
    again = Record.load(tmp_path / "r.npz")
    for name, column in record.columns.items():
        assert np.array_equal(again[name], column, equal_nan=True)
    assert [layer.name for layer in again.layers] == [layer.name for layer in record.layers]


def test_a_forgotten_zero_grad_is_seen_from_the_second_step_on():
    model = seeded(mlp)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=3) as w:
        for x, y in batches(5):
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            w.step(1.0)
    assert w.record["gradient_kept"].tolist() == [0, 1, 1, 1, 1]


def test_a_look_at_curvature_is_not_taken_for_a_step():
    model = seeded(mlp)
    optimizer = sgd(model)
    (x, y), *_ = batches(1)
    with tw.watch(
        model, optimizer, every=1, closure=lambda: functional.cross_entropy(model(1e3 * x), y)
    ) as w:
        for x, y in batches(3):
            functional.cross_entropy(model(x), y).backward()  # no zero_grad
            optimizer.step()
            w.step(1.0)
    assert not np.isnan(w.record["hessian_largest"][0])
    assert w.record["gradient_kept"].tolist() == [0, 1, 1]
    assert (np.abs(w.record["mean"][:, 0]) < 10).all()


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradient_accumulation(set_to_none):
    model = seeded(lambda: nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10)))
    whole = copy.deepcopy(model)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        for x, y in batches(4):
            optimizer.zero_grad(set_to_none=set_to_none)
            for a, b in zip(x.split(8), y.split(8), strict=True):
                loss = functional.cross_entropy(model(a), b) / 4
                loss.backward()
            optimizer.step()
            w.step(loss)
    other = sgd(whole)
    with tw.watch(whole, other, every=1) as v:
        train(whole, other, v, steps=4)
    one, two = w.record, v.record
    assert (one["gradient_kept"] == 0).all()
    for column in ("gradient_norm", "update_ratio", "mean", "std", "dead"):
        assert np.allclose(one[column], two[column], rtol=1e-3, equal_nan=True), column


def test_evaluation_is_no_training():
    model = seeded(mlp)
    optimizer = sgd(model)
    x, y = digits()
    with tw.watch(model, optimizer, every=1) as w:
        for k in range(3):
            with torch.no_grad():
                model(1000 * x)
            model.eval()
            if k == 1:
                model(1000 * x)  # gradients are on, by mistake
            model.train()
            optimizer.zero_grad()
            functional.cross_entropy(model(x[:32]), y[:32]).backward()
            optimizer.step()
            w.step(0.0)
    assert (np.abs(w.record["mean"][:, 0]) < 10).all()
    assert w.record.scalars["input_max"] <= 1
    assert w.record.scalars["evaluations"] == w.record.scalars["evaluations_in_training_mode"] == 3


def test_a_validation_loss_between_steps():
    model = seeded(mlp)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        train(model, optimizer, w, steps=2)
        w.validate(torch.tensor(0.25))
        train(model, optimizer, w, steps=1)
    assert np.array_equal(w.record["validation_loss"], [np.nan, 0.25, np.nan], equal_nan=True)


def test_training_in_eval_mode_is_seen():
    model = seeded(mlp).eval()
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        train(model, optimizer, w, steps=2)
    assert w.record["training"].tolist() == [0, 0]
    assert np.isfinite(w.record["mean"]).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_precisions(dtype):
    model = seeded(lambda: nn.Sequential(nn.Linear(64, 8), nn.Sigmoid(), nn.Linear(8, 10))).to(
        dtype
    )
    optimizer = sgd(model)
    (x, y), *_ = batches(1, dtype=dtype)
    with tw.watch(
        model, optimizer, every=1, closure=lambda: functional.cross_entropy(model(x), y)
    ) as w:
        train(model, optimizer, w, steps=3, dtype=dtype)
    record = w.record
    assert np.isfinite(record["mean"]).all()
    assert np.isfinite(record["update_ratio"][:, [0, 2]]).all()
    assert np.isfinite(record["saturation"][:, 1]).all()
    assert record["hessian_largest"][0] > 0


def test_autocast():
    model = seeded(lambda: nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10)))
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        for x, y in batches(2):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            w.step(loss)
    assert np.isfinite(w.record["std"]).all()


def test_frozen_and_unused_parameters():
    class Partly(nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen = nn.Linear(64, 8).requires_grad_(False)
            self.used, self.unused = nn.Linear(8, 10), nn.Linear(3, 3)

        def forward(self, x):
            return self.used(self.frozen(x))

    model = seeded(Partly)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        train(model, optimizer, w, steps=3)
    record = w.record
    assert np.isnan(record.of("frozen", "gradient_norm")).all()
    assert (record.of("frozen", "weight_norm") > 0).all()
    assert (record.of("used", "update_ratio") > 0).all()
    assert np.isnan(record.of("unused", "gradient_norm")).all()
    assert (record.of("unused", "update_ratio") == 0).all()
    assert np.isnan(record.of("unused", "mean")).all()
    assert record.scalars["frozen"] == 64 * 8 + 8


def test_two_optimizers_of_two_networks():
    torch.manual_seed(0)
    model = nn.ModuleDict({"maker": nn.Linear(4, 3), "judge": nn.Linear(3, 1)})
    maker = torch.optim.Adam(model["maker"].parameters(), lr=0.01)
    judge = torch.optim.SGD(model["judge"].parameters(), lr=0.1)
    z = torch.randn(16, 4)
    with tw.watch(model, [judge, maker], every=1) as w:
        for _ in range(4):
            judge.zero_grad()
            model["judge"](model["maker"](z).detach()).square().mean().backward()
            judge.step()
            maker.zero_grad()
            loss = model["judge"](model["maker"](z)).mean()
            loss.backward()  # leaves gradients in the judge too, cleared before they are used
            maker.step()
            w.step(loss)
    record = w.record
    assert (record["gradient_kept"] == 0).all()
    assert (record.of("maker", "update_ratio") > 0).all()
    assert (record.of("judge", "update_ratio") > 0).all()
    assert [each["name"] for each in record.optimizers] == ["SGD", "Adam"]


@pytest.mark.parametrize("way", ["function", "method", "inner"])
def test_compiled_models(way):
    inner = seeded(lambda: nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10)))
    model = inner
    if way == "method":
        model.compile(backend="eager")
    else:
        model = torch.compile(inner, backend="eager")
    optimizer = sgd(model)
    with tw.watch(inner if way == "inner" else model, optimizer, every=1) as w:
        train(model, optimizer, w, steps=3)
    record = w.record
    assert [layer.name for layer in record.layers] == ["0", "1", "2"]
    assert (record["update_ratio"][:, [0, 2]] > 0).all()
    assert np.isnan(record["mean"]).all()
    assert len(record.notes) == 1
    torch._dynamo.reset()


@pytest.fixture
def alone():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_distributed_data_parallel(alone):
    model = nn.parallel.DistributedDataParallel(seeded(mlp))
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=1) as w:
        train(model, optimizer, w, steps=3)
    record = w.record
    assert [layer.name for layer in record.layers] == ["0", "1", "2", "4"]
    assert np.isfinite(record["mean"]).all()
    assert (record.scalars["rank"], record.scalars["processes"]) == (0, 1)


def test_only_rank_0_reports(monkeypatch):
    finding = Finding("x", Severity.NOTE, "c", 1.0, 1.0)
    monkeypatch.setattr(symptoms, "SYMPTOMS", (lambda record: [finding],))
    model = seeded(mlp)
    with tw.watch(model, sgd(model)) as w:
        pass
    assert w.diagnose() == [finding]
    monkeypatch.setattr("thalweg.nets.training.world.rank", lambda: 1)
    assert w.diagnose() == []


def test_findings_come_worst_first(monkeypatch):
    def of(severity):
        return Finding(severity.name, severity, "c", 1.0, 1.0)

    monkeypatch.setattr(
        symptoms,
        "SYMPTOMS",
        (lambda r: [of(Severity.NOTE), of(Severity.ACT)], lambda r: [of(Severity.WARN)]),
    )
    found = symptoms.diagnose(watched()[1])
    assert [finding.name for finding in found] == ["ACT", "WARN", "NOTE"]


def test_fit_takes_it_as_a_probe():
    x, y = digits()
    model, twin = seeded(mlp), seeded(mlp)
    with tw.watch(model, every=1) as w:
        run = tw.nets.fit(model, (x, y), "sgd[lr=0.1]", epochs=2, probes=[w], progress=False)
    plain = tw.nets.fit(twin, (x, y), "sgd[lr=0.1]", epochs=2, progress=False)
    assert np.array_equal(run.w, plain.w)
    record = w.record
    assert len(record["loss"]) == run.iterations
    assert (record["rate"] == 0.1).all()
    assert (record.scalars["target_kind"], record.scalars["target_classes"]) == ("classes", 10)
    assert (record["gradient_kept"] == 0).all()
    assert np.isfinite(record["gradient_norm"][:, [0, 1, 3]]).all()
    assert np.isfinite(record["update_ratio"][:, [0, 1, 3]]).all()
    first = seeded(mlp)[0]
    norms = [p.detach().norm().item() for p in first.parameters()]
    assert record.of("0", "weight_norm")[0] == pytest.approx(np.hypot(*norms))  # before the step
    assert no_hooks(model)


def test_fit_that_diverges_names_the_layer():
    class Exp(nn.Module):
        def forward(self, x):
            return torch.exp(x)

    torch.manual_seed(0)
    x = torch.rand(100, 4)
    model = nn.Sequential(nn.Linear(4, 8), Exp(), nn.Linear(8, 1))
    with tw.watch(model) as w:
        run = tw.nets.fit(
            model, (x, x[:, :1]), "sgd[lr=50]", "squared", epochs=5, probes=[w], progress=False
        )
    assert run.outcome.name == "DIVERGED"
    scalars = w.record.scalars
    # The loss of finite outputs overflows: the first gradient to do so is the last layer's.
    assert scalars["bad_step"] == run.iterations + 1
    assert (scalars["bad_where"], scalars["bad_layer"]) == ("gradient", "2")


def test_a_closure_optimizer_in_fit():
    x, y = digits(100)
    model = seeded(lambda: nn.Sequential(nn.Linear(64, 4), nn.Tanh(), nn.Linear(4, 10)))
    with tw.watch(model, every=1) as w:
        tw.nets.fit(model, (x, y), "lbfgs", epochs=3, batch_size=None, probes=[w], progress=False)
    assert (w.record["update_ratio"][:, 0] > 0).all()
    assert (w.record["gradient_norm"][:, 0] > 0).all()


def test_hooks_come_off_after_an_exception():
    model = seeded(mlp)
    optimizer = sgd(model)
    w = tw.watch(model, optimizer)

    def interrupted():
        with w:
            train(model, optimizer, w, steps=2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert no_hooks(model, optimizer)
    assert len(w.record["loss"]) == 2


def test_it_may_be_entered_again():
    model = seeded(mlp)
    optimizer = sgd(model)
    w = tw.watch(model, optimizer, every=1)
    for _ in range(2):
        with w:
            train(model, optimizer, w, steps=2)
    assert w.record["step"].tolist() == [1, 2, 3, 4]
    assert no_hooks(model, optimizer)


def test_the_step_that_was_not_finite_and_its_layer():
    model = seeded(mlp)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, every=5) as w:
        train(model, optimizer, w, steps=6)
        with torch.no_grad():
            model[4].weight[0, 0] = math.inf
        train(model, optimizer, w, steps=3)  # averages of batch norm become NaN as well
    scalars = w.record.scalars
    assert (scalars["bad_step"], scalars["bad_where"], scalars["bad_layer"]) == (7, "forward", "4")


def test_the_rate_is_that_of_the_step_and_not_the_next():
    model = seeded(mlp)
    optimizer = sgd(model)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    with tw.watch(model, optimizer) as w:
        for x, y in batches(3):
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            w.step(1.0)
    assert w.record["rate"].tolist() == [0.1, 0.05, 0.025]
    assert w.record["gradient_norm_total"][0] > 0  # though the gradients are gone


def test_looks_keep_to_their_share_of_the_time():
    model = seeded(mlp)
    optimizer = sgd(model)
    with tw.watch(model, optimizer, share=0.05) as w:
        for x, y in batches(120):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            time.sleep(0.004)
            w.step(loss)
    record = w.record
    assert {1, 2, 4, 8, 16} <= set(record["look"])
    assert len(record["look"]) < 60
    assert 0 < record.scalars["overhead"] < 0.15  # on a busy machine, the first looks included


def test_a_network_without_second_derivatives_is_noted_and_trained():
    model = seeded(mlp)
    optimizer = sgd(model)
    (x, _), *_ = batches(1)

    def closure():
        return torch.cdist(model(x), torch.eye(10), p=1.5).square().mean()

    with tw.watch(model, optimizer, closure=closure) as w:
        train(model, optimizer, w, steps=3)
    assert "no second derivative" in w.record.notes[0]
    assert np.isnan(w.record["hessian_largest"]).all()


def test_all_columns_are_float64():
    _, record = watched()
    assert {column.dtype for column in record.columns.values()} == {np.dtype(np.float64)}
    assert record["mean"].shape == (8, 4)
    assert set(LAYER_COLUMNS) <= set(record.columns)


def test_bad_input_is_answered_with_a_sentence():
    model = seeded(mlp)
    optimizer = sgd(model)
    with pytest.raises(InputError, match=r"model must be a torch.nn.Module, got 3"):
        tw.watch(3, optimizer)
    with pytest.raises(InputError, match=r"optimizer must be a torch.optim.Optimizer"):
        tw.watch(model, "adam")
    with pytest.raises(InputError, match="got SGD of others: make it from"):
        tw.watch(seeded(mlp), optimizer)
    with pytest.raises(InputError, match="at least one parameter that requires a gradient"):
        tw.watch(nn.Linear(2, 2).requires_grad_(False), optimizer)
    with pytest.raises(InputError, match="closure must be a function without arguments"):
        tw.watch(model, optimizer, closure=1.0)
    with pytest.raises(InputError, match=r"share must be above 0, got -1.0"):
        tw.watch(model, optimizer, share=-1)
    with pytest.raises(InputError, match="every must be a whole number, at least 1, got 0"):
        tw.watch(model, optimizer, every=0)
    w = tw.watch(model, optimizer)
    with pytest.raises(InputError, match="step must be called within the `with` block"):
        w.step(1.0)
    with w:
        with pytest.raises(InputError, match=r"loss must be one number, .* got 'x'"):
            w.step("x")
        with pytest.raises(InputError, match="validation must be one number"):
            w.step(1.0, validation=[1.0])
        with pytest.raises(InputError, match="leave its `with` block first"):
            w.__enter__()
        with pytest.raises(InputError, match="validate must be called after a step"):
            w.validate(1.0)
    with pytest.raises(InputError, match=r"data of watch must be a pair"):
        tw.watch(model, optimizer, data=[1, 2, 3])
    with pytest.raises(InputError, match="loss must be a known name, got 'hinge'"):
        tw.watch(model, optimizer, loss="hinge")
    with tw.watch(model) as w, pytest.raises(InputError, match="watch needs the optimizer"):
        w.step(1.0)
    with (
        tw.watch(seeded(mlp)) as w,
        pytest.raises(InputError, match="of the model that fit trains"),
    ):
        tw.nets.fit(model, digits(), epochs=1, probes=[w], progress=False)
