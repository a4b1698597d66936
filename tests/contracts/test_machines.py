"""The suite on other machines names what there is, and excuses only what torch is wanted for."""

import sys
from types import SimpleNamespace

import pytest

import machines
import torchless


def test_every_file_and_folder_that_is_named_is_there():
    quick = {name.partition("::")[0] for name in machines.QUICK}
    named = quick.union(machines.NOT_NUMERIC)
    assert [name for name in named if not (machines.TESTS / name).exists()] == []
    assert not quick.intersection(machines.NOT_NUMERIC)
    packages = {name.partition("/")[0] for name in machines.QUICK}
    assert packages >= {
        "kernels", "objectives", "methods", "certificates", "estimators", "contracts"
    }  # fmt: skip


def test_every_setting_changes_something_else():
    found = machines.settings()
    assert list(found) == ["haswell", "prescott", "generic", "one-thread"]
    assert len({tuple(sorted(each.items())) for each in found.values()}) == 4


def test_a_python_that_is_not_here_is_none():
    assert machines._python("2.0") is None
    assert machines._version_of(sys.executable) == "{}.{}".format(*sys.version_info)


@pytest.fixture
def ended(monkeypatch):
    """How a test that failed in a file has ended, torch asked for or not."""
    monkeypatch.setattr(torchless, "EXCUSED", [])

    def outcome(file, raised, *, asked):
        monkeypatch.setattr(torchless.ASKED, "since", asked)
        report = SimpleNamespace(failed=True, outcome="failed", longrepr=None)
        return torchless._excused(report, machines.TESTS / file, raised).outcome

    return outcome


def test_what_asked_for_torch_is_skipped(ended):
    raised = ValueError()
    assert ended("jobs/test_network.py", raised, asked=True) == "skipped"
    # A fixture raises the same again for the next test, without asking.
    assert ended("jobs/test_network.py", raised, asked=False) == "skipped"
    assert ended("jobs/test_network.py", ValueError(), asked=False) == "failed"


def test_what_promises_to_do_without_torch_is_not_excused(ended):
    assert ended("methods/test_adam.py", ValueError(), asked=True) == "failed"
    assert ended("doctor/linear/symptoms/test_scaling.py", ValueError(), asked=True) == "failed"
    assert all(folder.is_dir() for folder in torchless.FREE)


def test_only_torch_counts_as_asked():
    finder = torchless.Asked()
    finder.find_spec("torchvision", None)
    assert not finder.since
    finder.find_spec("torch.nn", None)
    assert finder.since
