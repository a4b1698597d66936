import json

import pytest
import torch
from torch import nn

import thalweg as tw


def net(outputs=3):
    return nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, outputs))


def trained(outputs=3):
    model = net(outputs)
    tw.nets.initialize(model, "normal[sigma=1.0]", bias=0.3, seed=9)
    model[1].running_mean.fill_(2.0)
    return model


def state(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def as_safetensors(path, tensors):
    entries, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        offsets = [len(data), len(data) + len(raw)]
        entries[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        data += raw
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


def test_every_kind_of_source_gives_the_same(tmp_path):
    source = trained()
    torch.save(source.state_dict(), tmp_path / "w.pt")
    torch.save({"epoch": 3, "state_dict": source.state_dict()}, tmp_path / "c.pt")
    kinds = [
        source,
        source.state_dict(),
        tmp_path / "w.pt",
        str(tmp_path / "c.pt"),
        as_safetensors(tmp_path / "w.safetensors", source.state_dict()),
    ]
    for kind in kinds:
        model = net()
        done = tw.nets.pre_initialize(model, kind)
        assert same(model.state_dict(), source.state_dict())
        assert len(done.matched) == 9
        assert done.skipped == {}
        assert done.unused == ()
        assert str(done) == "9 of 9 tensors matched"


def test_another_head_is_skipped_and_the_record_says_why():
    model = net(outputs=7)
    head = model[3].weight.clone()
    source = state(trained())
    source["extra"] = torch.ones(1)
    source["1.running_var"] = source["1.running_var"].to(torch.int64)
    del source["1.bias"]
    done = tw.nets.pre_initialize(model, source)
    assert torch.equal(model[0].weight, source["0.weight"])
    assert torch.equal(model[3].weight, head)
    assert done.skipped == {
        "1.bias": "missing in the source",
        "1.running_var": "torch.int64 in the source, torch.float32 in the model",
        "3.weight": "shape [3, 5] in the source, [7, 5] in the model",
        "3.bias": "shape [3] in the source, [7] in the model",
    }
    assert done.unused == ("extra",)
    assert "skipped 3.bias: shape [3] in the source, [7] in the model" in str(done)
    assert str(done).splitlines()[-1] == "unused extra"


def test_freezing_keeps_matched_parameters_from_training():
    model = net(outputs=7)
    done = tw.nets.pre_initialize(model, trained(), freeze=True)
    trainable = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trainable == ["3.weight", "3.bias"]
    assert str(done).startswith("7 of 9 tensors matched, and frozen")
    model(torch.randn(6, 4)).sum().backward()
    assert model[0].weight.grad is None


def test_names_are_renamed_by_their_longest_beginning():
    source = {f"module.body.{name}": t for name, t in state(trained()).items()}
    model = net()
    tw.nets.pre_initialize(model, source, rename={"module.body.": "", "module.": "wrong."})
    assert same(model.state_dict(), trained().state_dict())


def test_precision_is_converted_and_places_are_kept():
    source = {
        name: tensor.double() if tensor.is_floating_point() else tensor
        for name, tensor in state(trained()).items()
    }
    model = net()
    place = model[0].weight.data_ptr()
    tw.nets.pre_initialize(model, source)
    assert model[0].weight.data_ptr() == place
    assert same(model.state_dict(), trained().state_dict())


def test_a_shared_weight_is_matched_by_either_name():
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    done = tw.nets.pre_initialize(model, {"1.weight": torch.eye(3)})
    assert done.skipped == {}
    assert torch.equal(model[0].weight, torch.eye(3))


def unfit():
    return [
        ({"a.weight": torch.ones(2, 2)}, {}, "it has 'a.weight', the model '0.bias'"),
        (
            {"0.weight": torch.ones(2, 2)},
            {},
            r"shape \[2, 2\] in the source, \[5, 4\] in the model",
        ),
        ({"module.0.weight": torch.ones(5, 4)}, {}, r"try rename=\{'module.': ''\}"),
        ({}, {}, "source must hold tensors by name"),
        ({"epoch": 3}, {}, "source must hold tensors by name"),
        (3, {}, "source must hold tensors by name, got 3"),
        ("/nowhere/at/all.pt", {}, "source must be a file, got '/nowhere/at/all.pt'"),
        (
            {"a.0.bias": torch.ones(5), "b.0.bias": torch.ones(5)},
            {"rename": {"a.": "", "b.": ""}},
            "rename must keep names apart, got '0.bias'",
        ),
    ]


@pytest.mark.parametrize(("source", "arguments", "said"), unfit())
def test_what_does_not_fit_changes_nothing(source, arguments, said):
    model = net()
    before = state(model)
    with pytest.raises(tw.InputError, match=said):
        tw.nets.pre_initialize(model, source, freeze=True, **arguments)
    assert same(model.state_dict(), before)
    assert all(p.requires_grad for p in model.parameters())


def test_a_prefix_of_the_model_is_suggested_too():
    model = nn.ModuleDict({"body": net()})
    with pytest.raises(tw.InputError, match=r"try rename=\{'': 'body.'\}"):
        tw.nets.pre_initialize(model, trained())
    tw.nets.pre_initialize(model, trained(), rename={"": "body."})
    assert same(model["body"].state_dict(), trained().state_dict())


def test_files_that_are_no_tensors_alone_are_refused(tmp_path):
    model = net()
    before = state(model)
    torch.save(model, tmp_path / "whole.pt")
    (tmp_path / "text.pt").write_text("weights")
    (tmp_path / "cut.safetensors").write_bytes(b"\x90\x00\x00")
    for name in ("whole.pt", "text.pt", "cut.safetensors"):
        with pytest.raises(tw.InputError, match="source must be a"):
            tw.nets.pre_initialize(model, tmp_path / name)
    assert same(model.state_dict(), before)
